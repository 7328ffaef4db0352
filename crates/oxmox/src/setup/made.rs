//! What setup can make on a cluster, and how each of it is taken back.

use pve::{Request, encode_segment};
use serde::{Deserialize, Serialize};

use super::facts::{Accounts, Rule};

/// One thing that was made on the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// A role, or other privileges in one that was there.
    Role {
        /// Its name.
        name: String,
        /// What it held before; `None`: it was not there.
        before: Option<Vec<String>>,
    },
    /// A user.
    User {
        /// Its name.
        name: String,
    },
    /// A token.
    Token {
        /// Its user.
        user: String,
        /// Its name.
        name: String,
        /// What stands in its comment: its name is free again once it is gone. An earlier oxmox gave it none.
        #[serde(default)]
        mark: Option<String>,
    },
    /// A role given to users and tokens.
    Rule {
        /// Where.
        path: String,
        /// Which.
        role: String,
        /// To which users.
        users: Vec<String>,
        /// To which tokens.
        tokens: Vec<String>,
    },
}

impl Made {
    /// What takes it back.
    pub fn undo(&self) -> Request {
        match self {
            Self::Role { name, before: None } => Request::delete(format!("/access/roles/{name}")),
            Self::Role {
                name,
                before: Some(before),
            } => Request::put(format!("/access/roles/{name}")).with("privs", before.join(",")),
            Self::User { name } => {
                Request::delete(format!("/access/users/{}", encode_segment(name)))
            }
            Self::Token { user, name, .. } => Request::delete(format!(
                "/access/users/{}/token/{name}",
                encode_segment(user)
            )),
            Self::Rule {
                path,
                role,
                users,
                tokens,
            } => acl(path, role, users, tokens).with("delete", 1),
        }
    }

    /// A role that these have on this path.
    pub fn rule(path: &str, role: &str, users: Vec<String>, tokens: Vec<String>) -> Self {
        Self::Rule {
            path: path.to_owned(),
            role: role.to_owned(),
            users,
            tokens,
        }
    }

    /// Whether both are about the same: a token by its id, whichever of that id it was.
    pub fn is_about_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Token { user, name, .. },
                Self::Token {
                    user: whose,
                    name: id,
                    ..
                },
            ) => (user, name) == (whose, id),
            _ => self == other,
        }
    }

    /// The rules that it is.
    pub fn rules(&self) -> Vec<Rule> {
        let Self::Rule {
            path,
            role,
            users,
            tokens,
        } = self
        else {
            return Vec::new();
        };
        let rule = |ugid: &String| Rule {
            path: path.clone(),
            ugid: ugid.clone(),
            roleid: role.clone(),
            propagates: true,
        };
        users.iter().chain(tokens).map(rule).collect()
    }

    /// A rule without what it gives to users, if anything is left of it then.
    pub fn for_tokens_only(&self) -> Option<Self> {
        match self {
            Self::Rule {
                path, role, tokens, ..
            } if !tokens.is_empty() => Some(Self::rule(path, role, Vec::new(), tokens.clone())),
            _ => None,
        }
    }

    /// A rule with only what it gives to users; anything else as it is.
    #[must_use]
    pub fn for_users_only(&self) -> Self {
        let mut it = self.clone();
        if let Self::Rule { tokens, .. } = &mut it {
            tokens.clear();
        }
        it
    }

    /// A rule of several, for each of them by itself; anything else as it is.
    pub fn one_by_one(&self) -> Vec<Self> {
        let Self::Rule {
            path,
            role,
            users,
            tokens,
        } = self
        else {
            return vec![self.clone()];
        };
        let users = users.iter().map(|user| (vec![user.clone()], Vec::new()));
        let tokens = tokens.iter().map(|token| (Vec::new(), vec![token.clone()]));
        let each = users.chain(tokens);
        each.map(|(users, tokens)| Self::rule(path, role, users, tokens))
            .collect()
    }

    /// Whether the cluster has it, or some of it.
    pub fn is_in(&self, accounts: &Accounts) -> bool {
        match self {
            Self::Role { name, before } => match (accounts.roles.get(name), before) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(held), Some(before)) => *held != before.iter().cloned().collect(),
            },
            Self::User { name } => accounts.users.contains_key(name),
            Self::Token { user, name, .. } => {
                let tokens = accounts.users.get(user);
                tokens.is_some_and(|tokens| tokens.contains(name))
            }
            Self::Rule { .. } => (self.rules().iter())
                .any(|rule| accounts.has_rule(&rule.path, &rule.ugid, &rule.roleid)),
        }
    }

    /// What takes it back on a node, line by line, for whoever has to do it by hand. A rule for each by itself: PVE refuses all
    /// of it where one of those that have it is gone.
    pub fn by_hand(&self) -> Vec<String> {
        self.one_by_one().iter().map(Self::line).collect()
    }

    fn line(&self) -> String {
        match self {
            Self::Role { name, before: None } => format!("pveum role delete {name}"),
            Self::Role {
                name,
                before: Some(before),
            } => format!("pveum role modify {name} --privs '{}'", before.join(",")),
            Self::User { name } => format!("pveum user delete {name}"),
            Self::Token { user, name, .. } => format!("pveum user token remove {user} {name}"),
            Self::Rule {
                path,
                role,
                users,
                tokens,
            } => {
                let list = |flag: &str, names: &[String]| {
                    let names = (!names.is_empty()).then(|| names.join(","));
                    // A shell would take what follows the mark for a command of before.
                    names
                        .map(|names| format!(" --{flag} '{names}'"))
                        .unwrap_or_default()
                };
                let whom = list("users", users) + &list("tokens", tokens);
                format!("pveum acl delete {path} --roles {role}{whom}")
            }
        }
    }

    /// What it is, for people.
    pub fn says(&self) -> String {
        match self {
            Self::Role { name, before: None } => format!("the role {name}"),
            Self::Role { name, .. } => format!("what was changed in the role {name}"),
            Self::User { name } => format!("the user {name}"),
            Self::Token { user, name, .. } => format!("the token {user}!{name}"),
            Self::Rule {
                path,
                role,
                users,
                tokens,
            } => {
                let whom: Vec<_> = users.iter().chain(tokens).map(String::as_str).collect();
                format!("the role {role} on {path} for {}", whom.join(" and "))
            }
        }
    }
}

/// Changes who has this role on this path: `propagate` gives it, `delete` takes it.
pub(super) fn acl(path: &str, role: &str, users: &[String], tokens: &[String]) -> Request {
    let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
    Request::put("/access/acl")
        .with("path", path)
        .with("roles", role)
        .maybe("users", list(users))
        .maybe("tokens", list(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_a_rule_goes_from_each_by_itself() {
        let tokens = ["oxmox@pve!a", "oxmox@pve!b"].map(str::to_owned).to_vec();
        let rule = Made::rule("/", "oxmox-read", vec!["oxmox@pve".to_owned()], tokens);
        assert_eq!(
            rule.by_hand(),
            [
                "pveum acl delete / --roles oxmox-read --users 'oxmox@pve'",
                "pveum acl delete / --roles oxmox-read --tokens 'oxmox@pve!a'",
                "pveum acl delete / --roles oxmox-read --tokens 'oxmox@pve!b'",
            ]
        );
        let made = Made::Role {
            name: "oxmox-read".to_owned(),
            before: None,
        };
        assert_eq!(made.by_hand(), ["pveum role delete oxmox-read"]);
    }
}
