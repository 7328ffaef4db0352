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
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::reference::schemas;
    use crate::tool::Object;

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

    /// Declared privileges that do not add up to what the schema says, and why they are right.
    const REVIEWED: &[(&str, &str)] = &[];

    type Leaves = BTreeSet<(String, String)>;

    /// Every set of leaves that fulfils a tree.
    fn ways(needs: &Needs) -> Vec<Leaves> {
        match needs {
            Needs::Nothing => vec![Leaves::new()],
            Needs::Has { privilege, path } => {
                vec![Leaves::from([(path.clone(), privilege.clone())])]
            }
            Needs::Any(parts) => parts.iter().flat_map(ways).collect(),
            Needs::All(parts) => parts.iter().fold(vec![Leaves::new()], |all, part| {
                let ways = ways(part);
                let with = |so_far: &Leaves| -> Vec<Leaves> {
                    ways.iter()
                        .map(|way| so_far.union(way).cloned().collect())
                        .collect()
                };
                all.iter().flat_map(with).collect()
            }),
        }
    }

    /// Rights reach below the path that they are given on.
    fn has(leaves: &Leaves, path: &str, privilege: &str) -> bool {
        leaves.iter().any(|(at, has)| {
            let below = path.strip_prefix(at.trim_end_matches('/'));
            has == privilege && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        })
    }

    fn shape(path: &str) -> Vec<&str> {
        let part = |part| {
            if str::starts_with(part, '{') {
                "{}"
            } else {
                part
            }
        };
        path.split('/').map(part).collect()
    }

    #[test]
    fn what_a_tool_declares_is_enough_for_what_pve_checks() {
        let Some(schema) = schemas().pop() else {
            return;
        };
        let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
        for tool in crate::registry::all() {
            let name = tool.spec().name;
            let Some(plain) = tool.plain() else { continue };
            let [ours] = &plain.methods()[..] else {
                continue;
            };
            let mut methods = schema.methods().iter();
            let method =
                methods.find(|it| it.verb == ours.method && shape(&it.path) == shape(&ours.path));
            let Some(method) = method else { continue };
            for example in tool.spec().examples {
                let mut values: Object = serde_json::from_str(example.args).expect("an object");
                values.entry("node").or_insert("pve1".into());
                let called: BTreeMap<_, _> = plain
                    .sent_as()
                    .into_iter()
                    .map(|(name, sent)| (sent, name))
                    .collect();
                let value = |sent: &str| {
                    let argument = called.get(sent).copied().unwrap_or(sent);
                    values.get(argument).and_then(pve::lenient::as_text)
                };
                let Some(wanted) = of(&method.permission, &value) else {
                    continue;
                };
                let declared = plain.needed(&values);
                let lacking = ways(&declared)
                    .iter()
                    .flat_map(|leaves| {
                        wanted.missing(&|path, privilege| has(leaves, path, privilege))
                    })
                    .collect::<BTreeSet<_>>();
                if lacking.is_empty() {
                    continue;
                }
                used.insert(name);
                if !REVIEWED.iter().any(|(known, _)| *known == name) {
                    wrong.push(format!("{name}: {method} takes {lacking:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let stale: Vec<_> = REVIEWED
            .iter()
            .filter(|(name, _)| !used.contains(name))
            .collect();
        assert!(stale.is_empty(), "{stale:?}");
    }
}
