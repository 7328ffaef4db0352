//! The lines that give a token what it lacks: no more than that, where it has rights already, and to its user as well if the
//! user lacks the same. Nobody loses anything over them.

use std::collections::{BTreeMap, BTreeSet};

use pve::Permissions;
use tools::need::Right;

use super::holder::Holder;

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
    let subjects = holder.subjects(held);
    let above = by_path.get("/").cloned().unwrap_or_default();
    let mut commands = Vec::new();
    for (path, privileges) in &mut by_path {
        // What is given on `/` reaches below; giving it there again says nothing.
        if path != "/" && !subjects.have_their_own(path) {
            privileges.retain(|privilege| !above.contains(privilege));
        }
        if privileges.is_empty() {
            continue;
        }
        for grant in subjects.roles(path, privileges, &above) {
            let privileges: Vec<_> = grant.privileges.into_iter().collect();
            let (role, privileges) = (grant.role, privileges.join(","));
            commands.push(if roles.contains(&role) {
                format!("pveum role modify {role} --append 1 --privs {privileges}")
            } else {
                format!("pveum role add {role} --privs {privileges}")
            });
            commands.push(format!(
                "pveum acl modify {path} --roles {role} {}",
                grant.flags
            ));
        }
    }
    (!commands.is_empty()).then(|| commands.join(" && "))
}

/// Where to give a right on paths of this form: on all of them, unless the token is held to some.
fn places(held: &Permissions, form: &str) -> Vec<String> {
    let fixed = form.split_once("/{").map_or(form, |(before, _)| before);
    let whole = if fixed.is_empty() { "/" } else { fixed };
    // A right on this very path is none on a path below.
    if whole == form || !held.on(whole).is_empty() {
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

    /// Whose user's rights are not told.
    fn token(name: &str, separated: Option<bool>) -> Holder {
        Holder::Token {
            id: name.parse().unwrap(),
            separated,
            user_held: None,
        }
    }

    fn token_of(user_held: Value) -> Holder {
        Holder::Token {
            id: "bob@pve!ci".parse().unwrap(),
            separated: Some(true),
            user_held: Some(serde_json::from_value(user_held).unwrap()),
        }
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
    fn a_token_gets_nothing_that_its_user_lacks() {
        let on_vms = || json!({"/vms": {"VM.Audit": 1}});
        // Who has it already is left alone.
        let able = token_of(json!({"/": {"VM.Audit": 1, "VM.Snapshot": 1, "Sys.Modify": 1}}));
        let line = allow(&able, on_vms(), &[SNAPSHOT]).unwrap();
        assert!(
            !line.contains("--users") && able.caution().is_none(),
            "{line}"
        );
        // Who lacks it, too, gets it, and keeps what was there; the token gets nothing of that.
        let more = token_of(json!({"/vms": {"VM.Audit": 1, "VM.Console": 1}}));
        assert_eq!(
            allow(&more, on_vms(), &[SNAPSHOT]).unwrap(),
            "pveum role add oxmox-more-vms --privs VM.Snapshot && pveum acl modify /vms --roles oxmox-more-vms --tokens 'bob@pve!ci' && \
             pveum role add oxmox-more-vms-user --privs VM.Audit,VM.Console,VM.Snapshot && pveum acl modify /vms --roles oxmox-more-vms-user --users bob@pve"
        );
        // Setup gives its user and its token the same.
        let ours = token("oxmox@pve!laptop", None);
        let everywhere = json!({"/": {"VM.Audit": 1}, "/vms": {"VM.Audit": 1}});
        assert_eq!(
            allow(&ours, everywhere, &[SNAPSHOT]).unwrap(),
            "pveum role add oxmox-more-vms --privs VM.Audit,VM.Snapshot && pveum acl modify /vms --roles oxmox-more-vms --users oxmox@pve --tokens 'oxmox@pve!laptop'"
        );
        assert!(ours.caution().is_none());
    }

    #[test]
    fn what_is_given_on_top_stops_above_rules_of_their_own() {
        let node = Right {
            path: "/nodes/{node}",
            privilege: "Sys.Modify",
        };
        let held = || json!({"/": {"VM.Audit": 1}, "/nodes": {"Sys.Audit": 1}});
        let line = allow(&token("root@pam!mcp", None), held(), &[MODIFY, node]).unwrap();
        assert!(
            line.contains("acl modify / ") && line.contains("acl modify /nodes "),
            "{line}"
        );
        let plain = json!({"/": {"VM.Audit": 1}, "/nodes": {"VM.Audit": 1}});
        let line = allow(&token("root@pam!mcp", None), plain, &[MODIFY, node]).unwrap();
        assert!(!line.contains("/nodes"), "{line}");
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
    fn a_right_on_a_path_is_not_given_below_it() {
        let pools = Right {
            path: "/pool",
            privilege: "Pool.Audit",
        };
        let held = json!({"/pool/lab": {"VM.Audit": 1}});
        let line = allow(&token("root@pam!mcp", None), held, &[pools]).unwrap();
        assert!(line.contains("acl modify /pool --roles"), "{line}");
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
