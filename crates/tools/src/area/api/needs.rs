//! Which privileges a call takes, from PVE's own check expressions.

use pve::apidoc::{Check, Permission};

use crate::plan::Needs;

/// The tree of a method's permission; `value` gives what the call has for a name. `None`: the schema does not tell.
pub(super) fn of(
    permission: &Permission,
    value: &impl Fn(&str) -> Option<String>,
) -> Option<Needs> {
    match permission {
        Permission::World | Permission::User(_) => Some(Needs::Nothing),
        Permission::RootOnly => None,
        Permission::Check(check, _) => of_check(check, value),
    }
}

fn of_check(check: &Check, value: &impl Fn(&str) -> Option<String>) -> Option<Needs> {
    match check {
        Check::On {
            path,
            privileges,
            any,
            only_with,
        } => {
            if only_with.as_ref().is_some_and(|name| value(name).is_none()) {
                return None;
            }
            let path = filled(path, value)?;
            let leaves = privileges
                .iter()
                .map(|privilege| Needs::on(path.clone(), privilege));
            Some(joined(leaves.collect(), *any))
        }
        Check::All(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(|part| of_check(part, value)).collect();
            Some(joined(parts?, false))
        }
        // A way that is not known, or not open with these parameters, is none that a token could be given.
        Check::Any(parts) => {
            let ways: Vec<_> = parts.iter().filter_map(|it| of_check(it, value)).collect();
            (!ways.is_empty()).then(|| joined(ways, true))
        }
        Check::RealmOfUser(privilege) => {
            let user = value("userid")?;
            let (_, realm) = user.rsplit_once('@')?;
            Some(Needs::on(format!("/access/realm/{realm}"), privilege))
        }
        // On all groups is enough; which groups a user is in is not asked.
        Check::GroupOfUser(privileges) => {
            let leaves = privileges
                .iter()
                .map(|privilege| Needs::on("/access/groups", privilege));
            Some(joined(leaves.collect(), true))
        }
        Check::Modify(path) => Some(Needs::on(filled(path, value)?, "Permissions.Modify")),
        Check::OwnUser | Check::Unknown => None,
    }
}

/// One part stands for itself.
fn joined(mut parts: Vec<Needs>, any: bool) -> Needs {
    match (parts.len(), any) {
        (0, _) => Needs::Nothing,
        (1, _) => parts.remove(0),
        (_, true) => Needs::Any(parts),
        (_, false) => Needs::All(parts),
    }
}

/// `/vms/{vmid}` as `/vms/105`.
fn filled(path: &str, value: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        out.push_str(&value(name)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// "VM.Audit on /vms/105, or Sys.Audit on /": a tree in words.
pub(super) fn words(needs: &Needs) -> String {
    needs.missing(&|_, _| false).join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(path: &str, privileges: &[&str], only_with: Option<&str>) -> Check {
        Check::On {
            path: path.to_owned(),
            privileges: privileges.iter().map(|it| (*it).to_owned()).collect(),
            any: false,
            only_with: only_with.map(str::to_owned),
        }
    }

    fn said(check: Check) -> Option<String> {
        let value = |name: &str| match name {
            "vmid" => Some("105".to_owned()),
            "userid" => Some("joe@pve".to_owned()),
            _ => None,
        };
        of(&Permission::Check(check, String::new()), &value).map(|needs| words(&needs))
    }

    #[test]
    fn checks_become_trees_with_this_calls_values() {
        assert_eq!(
            said(on("/vms/{vmid}", &["VM.Audit", "VM.Clone"], None)).unwrap(),
            "VM.Audit on /vms/105 and VM.Clone on /vms/105"
        );
        assert_eq!(said(on("/pool/{pool}", &["Pool.Audit"], None)), None);
        let either = Check::Any(vec![
            on("/vms/{vmid}", &["VM.Allocate"], None),
            on("/pool/{pool}", &["VM.Allocate"], Some("pool")),
            Check::OwnUser,
        ]);
        assert_eq!(said(either).unwrap(), "VM.Allocate on /vms/105");
        assert_eq!(
            said(Check::RealmOfUser("Realm.AllocateUser".to_owned())).unwrap(),
            "Realm.AllocateUser on /access/realm/pve"
        );
        assert_eq!(said(Check::OwnUser), None);
    }
}
