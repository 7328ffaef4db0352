//! Users, groups, roles, tokens and access rules, and what follows from them: who may do what where.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Identity;
use crate::clock::Time;
use crate::permission::{OLD_AGENT_PRIVILEGE, PRIVILEGES};
use crate::world::World;
use crate::world::factor::Factor;
use crate::world::roles::{as_of, built_in_roles};

/// Everything `/access` is about.
#[derive(Debug, Default)]
pub struct Access {
    /// Users by `name@realm`.
    pub users: BTreeMap<String, User>,
    /// Groups by name.
    pub groups: BTreeMap<String, Group>,
    /// Roles by name, the built-in ones included.
    pub roles: BTreeMap<String, Role>,
    /// Access rules in no particular order.
    pub acl: Vec<Rule>,
    /// Realms by name.
    pub realms: BTreeMap<String, Realm>,
}

/// One user.
#[derive(Clone, Debug, Default)]
pub struct User {
    /// In clear: nothing here is worth hiding.
    pub password: Option<String>,
    /// A disabled user cannot log in, nor can its tokens.
    pub disabled: bool,
    /// Seconds since the epoch; 0 for never.
    pub expire: u64,
    /// Free text.
    pub comment: Option<String>,
    /// Free text.
    pub email: Option<String>,
    /// Free text.
    pub firstname: Option<String>,
    /// Free text.
    pub lastname: Option<String>,
    /// Keys of two-factor logins, kept and never asked for.
    pub keys: Option<String>,
    /// What is asked for beside the password.
    pub factors: Vec<Factor>,
    /// API tokens by name.
    pub tokens: BTreeMap<String, Token>,
}

/// One API token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What the client sends.
    pub secret: String,
    /// Has rules of its own, and never more rights than its user.
    pub privsep: bool,
    /// Seconds since the epoch; 0 for never.
    pub expire: u64,
    /// Free text.
    pub comment: Option<String>,
}

/// One group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its users.
    pub members: BTreeSet<String>,
    /// Free text.
    pub comment: Option<String>,
}

/// One role.
#[derive(Clone, Debug)]
pub struct Role {
    /// What it allows.
    pub privs: BTreeSet<String>,
    /// Built in: cannot be changed.
    pub special: bool,
}

/// One realm.
#[derive(Clone, Debug)]
pub struct Realm {
    /// `pam`, `pve`, `ldap`, ...
    pub kind: String,
    /// Free text.
    pub comment: Option<String>,
    /// Where its directory is and how it is read, for those that have one.
    pub settings: BTreeMap<String, String>,
    /// The people in its directory, by their names without the realm.
    pub people: BTreeSet<String>,
}

/// Whom a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user.
    User(String),
    /// A group.
    Group(String),
    /// A token, with its user: `bob@pve!mcp`.
    Token(String),
}

/// One access rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Where.
    pub path: String,
    /// For whom.
    pub subject: Subject,
    /// What.
    pub role: String,
    /// Also below the path.
    pub propagate: bool,
}

/// Privileges by name, each with whether it propagates further down.
pub type Privileges = BTreeMap<String, bool>;

impl Access {
    /// An installation as it comes: `root@pam`, the realms `pam` and `pve`, the built-in roles.
    pub fn fresh() -> Self {
        let realm = |kind: &str, comment: &str| {
            let comment = Some(comment.to_owned());
            (
                kind.to_owned(),
                Realm {
                    kind: kind.to_owned(),
                    comment,
                    settings: BTreeMap::new(),
                    people: BTreeSet::new(),
                },
            )
        };
        Self {
            users: [("root@pam".to_owned(), User::default())].into(),
            roles: built_in_roles(),
            realms: [
                realm("pam", "Linux PAM standard authentication"),
                realm("pve", "Proxmox VE authentication server"),
            ]
            .into(),
            ..Self::default()
        }
    }

    /// The token an identity stands for, if it is one.
    pub fn token(&self, who: &Identity) -> Option<&Token> {
        self.users.get(&who.user)?.tokens.get(who.token.as_ref()?)
    }

    /// Whether user (and token) exist, are enabled and not expired.
    pub fn is_valid(&self, who: &Identity, now: Time) -> bool {
        let alive = |expire: u64| expire == 0 || expire > now.secs();
        let user = self.users.get(&who.user);
        let user_ok = user.is_some_and(|user| !user.disabled && alive(user.expire));
        let token_ok =
            who.token.is_none() || self.token(who).is_some_and(|token| alive(token.expire));
        user_ok && token_ok
    }

    /// The groups a user is in.
    pub fn groups_of(&self, user: &str) -> Vec<&str> {
        let member = |group: &&Group| group.members.contains(user);
        let groups = self.groups.iter().filter(|(_, group)| member(group));
        groups.map(|(name, _)| name.as_str()).collect()
    }

    /// Forgets the rules of whatever `gone` fits.
    pub fn remove_rules(&mut self, gone: impl Fn(&Subject) -> bool) {
        self.acl.retain(|rule| !gone(&rule.subject));
    }

    /// The roles that the rules give `subject` on `path`. Deeper rules replace those above them; on the same path a
    /// rule for the user wins over rules for groups.
    fn roles_on(&self, who: &Identity, path: &str) -> BTreeMap<&str, bool> {
        let mut roles = BTreeMap::new();
        for level in levels(path) {
            let here: Vec<&Rule> = self
                .acl
                .iter()
                .filter(|rule| rule.path == level && (rule.propagate || level == path))
                .collect();
            let of = |wanted: &dyn Fn(&Subject) -> bool| -> BTreeMap<&str, bool> {
                let fitting = here.iter().filter(|rule| wanted(&rule.subject));
                fitting
                    .map(|rule| (rule.role.as_str(), rule.propagate))
                    .collect()
            };
            let own = match &who.token {
                Some(_) => of(&|subject| *subject == Subject::Token(who.to_string())),
                None => of(&|subject| *subject == Subject::User(who.user.clone())),
            };
            let by_group = || {
                let groups = self.groups_of(&who.user);
                of(
                    &|subject| matches!(subject, Subject::Group(name) if groups.contains(&name.as_str())),
                )
            };
            let found = match (own.is_empty(), &who.token) {
                (false, _) | (true, Some(_)) => own,
                (true, None) => by_group(),
            };
            if !found.is_empty() {
                roles = found;
            }
        }
        if roles.contains_key("NoAccess") {
            roles.clear();
        }
        roles
    }

    fn privileges_of(&self, roles: &BTreeMap<&str, bool>, before_9: bool) -> Privileges {
        let mut privs = Privileges::new();
        for (name, propagate) in roles {
            let role = self.roles.get(*name).map(|role| &role.privs);
            let held = role.map(|privs| as_of(privs.clone(), before_9));
            for name in held.into_iter().flatten() {
                *privs.entry(name).or_default() |= propagate;
            }
        }
        privs
    }
}

impl World {
    /// What an identity may do on a path. Rights on a pool reach its members; a token with privilege separation has
    /// what both it and its user have.
    pub fn privileges(&self, who: &Identity, path: &str) -> Privileges {
        if !self.access.is_valid(who, self.now) {
            return Privileges::new();
        }
        let owner = Identity::user(&who.user);
        let of_user = if who.user == "root@pam" {
            let old = self.is_before_9().then_some(&OLD_AGENT_PRIVILEGE);
            PRIVILEGES
                .iter()
                .chain(old)
                .map(|name| ((*name).to_owned(), true))
                .collect()
        } else {
            self.privileges_by_rules(&owner, path)
        };
        match self.access.token(who) {
            Some(token) if token.privsep => {
                let mut own = self.privileges_by_rules(who, path);
                own.retain(|name, _| of_user.contains_key(name));
                own
            }
            _ => of_user,
        }
    }

    /// Whether an identity has a privilege on a path.
    pub fn may(&self, who: &Identity, path: &str, privilege: &str) -> bool {
        let separated = self.access.token(who).is_some_and(|token| token.privsep);
        if who.user == "root@pam" && !separated {
            // The common case, and lists of thousands of guests ask it for each of them.
            let is_old = privilege == OLD_AGENT_PRIVILEGE && self.is_before_9();
            let is_one = is_old || PRIVILEGES.contains(&privilege);
            return self.access.is_valid(who, self.now) && is_one;
        }
        self.privileges(who, path).contains_key(privilege)
    }

    fn privileges_by_rules(&self, who: &Identity, path: &str) -> Privileges {
        let old = self.is_before_9();
        let mut privs = (self.access).privileges_of(&self.access.roles_on(who, path), old);
        for pool in self.pools_with(path) {
            let roles = self.access.roles_on(who, &format!("/pool/{pool}"));
            for (name, propagate) in self.access.privileges_of(&roles, old) {
                *privs.entry(name).or_default() |= propagate;
            }
        }
        privs
    }

    /// The pools whose rights reach a path, because the guest or storage there is a member.
    fn pools_with(&self, path: &str) -> Vec<&str> {
        let member = |pool: &super::Pool| {
            if let Some(id) = path.strip_prefix("/vms/") {
                id.parse().is_ok_and(|vmid| pool.guests.contains(&vmid))
            } else {
                path.strip_prefix("/storage/")
                    .is_some_and(|id| pool.storages.contains(id))
            }
        };
        let pools = self.pools.iter().filter(|(_, pool)| member(pool));
        pools.map(|(name, _)| name.as_str()).collect()
    }

    /// Gives a user or token exactly these privileges on a path, through a role made for it. For tests that need a
    /// caller with precise rights; creates the user if it is unknown.
    pub fn grant(&mut self, who: &str, path: &str, privs: &[&str]) {
        let who = Identity::parse(who);
        self.access.users.entry(who.user.clone()).or_default();
        let role = format!("granted-{who}-{path}").replace(['@', '!', '/'], "-");
        let privs = privs.iter().map(|name| (*name).to_owned()).collect();
        self.access.roles.insert(
            role.clone(),
            Role {
                privs,
                special: false,
            },
        );
        let subject = match who.token {
            Some(_) => Subject::Token(who.to_string()),
            None => Subject::User(who.user),
        };
        let granted = Rule {
            path: path.to_owned(),
            subject,
            role,
            propagate: true,
        };
        self.access
            .acl
            .retain(|known| (&known.path, &known.subject) != (&granted.path, &granted.subject));
        self.access.acl.push(granted);
    }

    /// Creates an API token (and its user, if need be) with this secret, without privilege separation.
    pub fn add_token(&mut self, who: &str, secret: &str) {
        let who = Identity::parse(who);
        let user = self.access.users.entry(who.user).or_default();
        let token = Token {
            secret: secret.to_owned(),
            privsep: false,
            expire: 0,
            comment: None,
        };
        user.tokens.insert(who.token.unwrap_or_default(), token);
    }
}

/// The path and all paths above it, from `/` down.
fn levels(path: &str) -> Vec<&str> {
    let mut found = vec!["/"];
    if path != "/" {
        let slashes = path.match_indices('/').map(|(at, _)| at).skip(1);
        found.extend(slashes.map(|at| &path[..at]));
        found.push(path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_a_path() {
        assert_eq!(levels("/"), ["/"]);
        assert_eq!(levels("/vms/100"), ["/", "/vms", "/vms/100"]);
    }
}
