//! Roles from above. In PVE a role on a path does not add to what its holder has from the paths above: it takes the place of
//! that, there and below (`roles` in `PVE::AccessControl`). Whoever is given one therefore loses what they had there, unless
//! they are given that, too.

use std::collections::BTreeSet;

use tools::fault::{Fault, Kind};
use tools::words;

use super::facts::Accounts;
use super::role::{self, Grant, USER};

/// The role beside which no other counts.
const NO_ACCESS: &str = "NoAccess";

/// The roles that somebody has on a path from above, or by a group, and would lose by another one given to them there.
pub(super) fn at_stake<'a>(accounts: &'a Accounts, who: &str, path: &str) -> BTreeSet<&'a str> {
    let own = on(accounts, who, path, path);
    if !own.is_empty() {
        // There is a rule already: another one adds to it.
        return BTreeSet::new();
    }
    let mut roles = BTreeSet::new();
    for level in levels(path) {
        let mut here = on(accounts, who, level, path);
        if here.is_empty() {
            let groups = accounts.groups.get(who).into_iter().flatten();
            here = groups
                .flat_map(|group| on(accounts, group, level, path))
                .collect();
        }
        if !here.is_empty() {
            roles = here;
        }
    }
    // Which is not to be kept, and lets none of the others count.
    if roles.contains(NO_ACCESS) {
        roles.clear();
    }
    roles
}

/// What somebody is given at `level` and has at `path`.
fn on<'a>(accounts: &'a Accounts, who: &str, level: &str, path: &str) -> BTreeSet<&'a str> {
    let rules = accounts.rules.iter();
    let rules = rules.filter(|rule| rule.ugid == who && rule.path == level);
    let rules = rules.filter(|rule| rule.propagates || level == path);
    rules.map(|rule| rule.roleid.as_str()).collect()
}

/// `/`, `/pool`, `/pool/lab`
fn levels(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let above = ends.skip(1).map(|at| &path[..at]);
    let this = (path != "/").then_some(path);
    std::iter::once("/").chain(above).chain(this)
}

/// Whether a role given there would count at all: better known before than after it was tried.
pub(super) fn counts(accounts: &Accounts, grant: &Grant, token: &str) -> Result<(), Fault> {
    for (who, flag) in [(USER, "users"), (token, "tokens")] {
        for path in &grant.paths {
            if accounts.has_rule(path, who, NO_ACCESS) {
                let what = format!(
                    "{who} has the role {NO_ACCESS} on {path}: no other role counts there; nothing was changed"
                );
                return Err(Fault::new(Kind::Conflict, what).hint(format!(
                    "take it away on a node, and run setup again: `pveum acl delete {path} --roles {NO_ACCESS} --{flag} '{who}'`"
                )));
            }
        }
    }
    Ok(())
}

/// Where rules below take the place of the role that is given.
pub(super) fn hidden_below(accounts: &Accounts, grant: &Grant) -> Option<String> {
    let is_below = |path: &str| {
        let mut given = grant.paths.iter();
        given.any(|above| {
            let above = above.trim_end_matches('/');
            path.strip_prefix(above)
                .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
        })
    };
    let groups = accounts.groups.get(USER);
    let is_users = |who: &str| who == USER || groups.is_some_and(|groups| groups.contains(who));
    let rules = accounts.rules.iter();
    let paths = rules.filter(|rule| is_users(&rule.ugid) && is_below(&rule.path));
    let paths: BTreeSet<_> = paths.map(|rule| rule.path.as_str()).collect();
    let paths = paths.into_iter().filter(|path| {
        !grant.paths.iter().any(|given| given == path)
            && !accounts.has_rule(path, USER, &grant.role)
    });
    let paths: Vec<_> = paths.collect();
    (!paths.is_empty()).then(|| {
        format!(
            "on {} other roles of {USER} take the place of {}: there the token has no more than what both hold",
            words::list(&paths),
            grant.role
        )
    })
}

/// Of the roles of a token that setup made, those that somebody else gave it.
pub(super) fn of_others(roles: BTreeSet<&str>) -> impl Iterator<Item = &str> {
    roles.into_iter().filter(|name| !role::is_own(name))
}

#[cfg(test)]
mod tests {
    use super::super::facts::Rule;
    use super::*;

    fn accounts(rules: &[(&str, &str, &str, bool)]) -> Accounts {
        let rule = |(path, ugid, roleid, propagates): &(&str, &str, &str, bool)| Rule {
            path: (*path).to_owned(),
            ugid: (*ugid).to_owned(),
            roleid: (*roleid).to_owned(),
            propagates: *propagates,
        };
        Accounts {
            rules: rules.iter().map(rule).collect(),
            groups: [("u@pve".to_owned(), ["g".to_owned()].into())].into(),
            ..Accounts::default()
        }
    }

    fn lost(rules: &[(&str, &str, &str, bool)]) -> Vec<String> {
        let accounts = accounts(rules);
        let lost = at_stake(&accounts, "u@pve", "/pool/lab");
        lost.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn the_nearest_rules_above_are_at_stake() {
        let none = [""; 0];
        assert_eq!(lost(&[]), none);
        assert_eq!(lost(&[("/", "u@pve", "A", true)]), ["A"]);
        let both = [("/", "u@pve", "A", true), ("/", "u@pve", "B", true)];
        assert_eq!(lost(&both), ["A", "B"]);
        let nearer = [("/", "u@pve", "A", true), ("/pool", "u@pve", "B", true)];
        assert_eq!(lost(&nearer), ["B"]);
        // What does not reach down, what is somebody else's, what is elsewhere.
        assert_eq!(lost(&[("/pool", "u@pve", "A", false)]), none);
        assert_eq!(lost(&[("/", "u@pve!t", "A", true)]), none);
        assert_eq!(lost(&[("/pool/la", "u@pve", "A", true)]), none);
        // What is there already is added to.
        let there = [("/", "u@pve", "A", true), ("/pool/lab", "u@pve", "B", true)];
        assert_eq!(lost(&there), none);
    }

    #[test]
    fn groups_count_where_the_user_has_nothing() {
        assert_eq!(lost(&[("/", "g", "A", true)]), ["A"]);
        assert_eq!(lost(&[("/pool/lab", "g", "A", false)]), ["A"]);
        let own = [("/", "g", "A", true), ("/", "u@pve", "B", true)];
        assert_eq!(lost(&own), ["B"]);
        assert_eq!(lost(&[("/", "h", "A", true)]), [""; 0]);
    }

    #[test]
    fn no_access_is_not_kept() {
        let rules = [("/", "u@pve", "A", true), ("/", "u@pve", "NoAccess", true)];
        assert_eq!(lost(&rules), [""; 0]);
    }
}
