//! The line that gives a token what it lacks: no more than that, and where it has rights already.

use std::collections::{BTreeMap, BTreeSet};

use pve::Permissions;
use tools::need::Right;

/// Who lacks it.
pub(super) enum Holder {
    /// A user.
    User(String),
    /// A token, and whether it has rights of its own, as far as that is told.
    Token(String, Option<bool>),
}

impl Holder {
    pub(super) fn is_token(&self) -> bool {
        matches!(self, Self::Token(..))
    }

    /// The flag that names who gets it. What a user holds otherwise is not to be seen, and a role on a path replaces what
    /// comes from above: a user whose token lacks something must not lose anything over it.
    fn flag(&self) -> String {
        match self {
            Self::User(user) => format!("--users {user}"),
            Self::Token(token, Some(false)) => format!("--users {}", user_of(token)),
            Self::Token(token, _) => format!("--tokens '{token}'"),
        }
    }

    /// What to know about the line.
    pub(super) fn caution(&self) -> Option<String> {
        match self {
            Self::Token(token, separated @ (Some(true) | None)) if user_of(token) != "root@pam" => {
                let whole = if separated.is_none() {
                    "; where it has no rights of its own (privsep 0), give them to the user instead"
                } else {
                    ""
                };
                let user = user_of(token);
                Some(format!(
                    "a token has no more than its user: what {user} lacks, it needs too, by --users {user}{whole}"
                ))
            }
            _ => None,
        }
    }
}

fn user_of(token: &str) -> &str {
    token.split_once('!').map_or(token, |(user, _)| user)
}

/// What a person types on a node. `None`: nothing is lacking.
pub(super) fn line(
    holder: &Holder,
    held: &Permissions,
    lacking: &BTreeSet<Right>,
    roles: &BTreeSet<String>,
) -> Option<String> {
    let mut by_path: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for right in lacking {
        for path in places(held, right.path) {
            by_path.entry(path).or_default().insert(right.privilege);
        }
    }
    // What is given on `/` reaches below; giving it there again says nothing.
    let above = by_path.get("/").cloned().unwrap_or_default();
    let flag = holder.flag();
    let mut commands = Vec::new();
    for (path, privileges) in &mut by_path {
        if path != "/" {
            privileges.retain(|privilege| !above.contains(privilege));
        }
        if privileges.is_empty() {
            continue;
        }
        // A role on a path replaces those from above, so that what comes from there has to be in it.
        if path != "/" && (!above.is_empty() || !held.on("/").is_empty()) {
            privileges.extend(held.on(path));
            privileges.extend(&above);
        }
        let privileges: Vec<_> = privileges.iter().copied().collect();
        let (role, privileges) = (role_for(path), privileges.join(","));
        commands.push(if roles.contains(&role) {
            format!("pveum role modify {role} --append 1 --privs {privileges}")
        } else {
            format!("pveum role add {role} --privs {privileges}")
        });
        commands.push(format!("pveum acl modify {path} --roles {role} {flag}"));
    }
    (!commands.is_empty()).then(|| commands.join(" && "))
}

/// Where to give a right on paths of this form: on all of them, unless the token is held to some.
fn places(held: &Permissions, form: &str) -> Vec<String> {
    let fixed = form.split_once("/{").map_or(form, |(before, _)| before);
    let whole = if fixed.is_empty() { "/" } else { fixed };
    if !held.on(whole).is_empty() {
        return vec![whole.to_owned()];
    }
    let below = format!("{}/", whole.trim_end_matches('/'));
    let in_pools = ["/vms", "/storage"].contains(&whole);
    let own = held
        .paths()
        .filter(|path| path.starts_with(&below) || in_pools && path.starts_with("/pool/"))
        .filter(|path| !held.on(path).is_empty());
    let own: Vec<_> = own.map(str::to_owned).collect();
    // Some other kind of thing is what it was held to.
    if own.is_empty() {
        vec![whole.to_owned()]
    } else {
        own
    }
}

/// `oxmox-vms-100` for `/vms/100`: what is given on one path is not given on another by the same role.
fn role_for(path: &str) -> String {
    let words: String = path
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let name = words.trim_matches('-');
    format!("oxmox-more{}{name}", if name.is_empty() { "" } else { "-" })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const SNAPSHOT: Right = Right {
        path: "/vms/{vmid}",
        privilege: "VM.Snapshot",
    };
    const MODIFY: Right = Right {
        path: "/",
        privilege: "Sys.Modify",
    };

    fn allow(holder: &Holder, held: Value, lacking: &[Right]) -> Option<String> {
        let held = serde_json::from_value(held).unwrap();
        let roles = BTreeSet::from(["oxmox-more".to_owned()]);
        line(holder, &held, &lacking.iter().copied().collect(), &roles)
    }

    fn token(name: &str, separated: Option<bool>) -> Holder {
        Holder::Token(name.to_owned(), separated)
    }

    #[test]
    fn rights_are_given_to_whom_they_are_counted_for() {
        let on_vms = || json!({"/vms": {"VM.Audit": 1}});
        let own = token("bob@pve!ci", Some(true));
        assert_eq!(
            allow(&own, on_vms(), &[SNAPSHOT]).unwrap(),
            "pveum role add oxmox-more-vms --privs VM.Snapshot && pveum acl modify /vms --roles oxmox-more-vms --tokens 'bob@pve!ci'"
        );
        assert!(own.caution().unwrap().contains("by --users bob@pve"));
        let users = token("bob@pve!ci", Some(false));
        let line = allow(&users, on_vms(), &[SNAPSHOT]).unwrap();
        assert!(
            line.ends_with("--users bob@pve") && users.caution().is_none(),
            "{line}"
        );
    }

    #[test]
    fn what_comes_from_above_is_not_lost() {
        let held = json!({"/": {"Sys.Audit": 1, "VM.Audit": 1}});
        let line = allow(&token("bob@pve!ci", None), held, &[SNAPSHOT]).unwrap();
        assert!(
            line.contains("--privs Sys.Audit,VM.Audit,VM.Snapshot &&"),
            "{line}"
        );
        let line = allow(&token("bob@pve!ci", None), json!({}), &[SNAPSHOT, MODIFY]).unwrap();
        assert!(
            line.contains("oxmox-more-vms --privs Sys.Modify,VM.Snapshot"),
            "{line}"
        );
    }

    #[test]
    fn a_token_that_is_held_to_some_guests_stays_so() {
        let held = json!({"/vms/100": {"VM.Audit": 1}, "/pool/lab": {"VM.Audit": 1}});
        let line = allow(&token("root@pam!mcp", None), held, &[SNAPSHOT]).unwrap();
        assert!(
            line.contains("acl modify /vms/100 --roles oxmox-more-vms-100 --tokens"),
            "{line}"
        );
        assert!(line.contains("acl modify /pool/lab "), "{line}");
    }

    #[test]
    fn a_role_that_is_there_is_added_to() {
        let bob = Holder::User("bob@pve".to_owned());
        let line = allow(&bob, json!({}), &[MODIFY]).unwrap();
        assert_eq!(
            line,
            "pveum role modify oxmox-more --append 1 --privs Sys.Modify && pveum acl modify / --roles oxmox-more --users bob@pve"
        );
        assert_eq!(allow(&bob, json!({}), &[]), None);
    }
}
