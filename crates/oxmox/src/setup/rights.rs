//! Rights, held against what is wanted: of whoever logs in, and of a token that is there already.

use pve::Reader;
use tools::fault::{Fault, Kind};
use tools::words;

use super::facts::{self, Accounts};
use super::role::{Grant, USER};

/// What a person should know about the rights before they say yes.
pub(super) fn notes(grant: &Grant, accounts: &Accounts, token: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if accounts.roles.contains_key(&grant.role) {
        // Otherwise the step that makes it says so.
        let held: Vec<_> = grant.privileges.iter().copied().collect();
        notes.push(format!("{} holds {}", grant.role, held.join(", ")));
    }
    if !grant.without.is_empty() {
        let without: Vec<_> = grant.without.iter().copied().collect();
        notes.push(format!(
            "it goes without {}, which PVE asks for to see some things and which can also change some: tools say \
             where they miss it",
            words::list(&without)
        ));
    }
    if grant.paths != ["/"] {
        notes
            .push("what is outside these pools it neither sees nor changes, nodes included".into());
    }
    if !grant.out_of_reach.is_empty() {
        notes.push(format!(
            "tools that need rights outside these pools will not work, and clients are not shown them: {}",
            grant.out_of_reach.join(", ")
        ));
    }
    if grant.no_storages && grant.privileges.contains("Datastore.AllocateSpace") {
        notes.push(
            "no storage but those in the pools can be used for new disks and backups; --storages NAMES adds some".into(),
        );
    }
    let others = accounts.others_with(&grant.role, &[USER, token]);
    if !others.is_empty() {
        let others: Vec<_> = others.into_iter().collect();
        notes.push(format!(
            "others have the role {} too: {}",
            grant.role,
            others.join(", ")
        ));
    }
    notes.extend(gaining(grant, accounts));
    notes
}

/// Other tokens of the user that are not held apart from it: whatever it is given for ours, they have as well.
fn gaining(grant: &Grant, accounts: &Accounts) -> Option<String> {
    let held = accounts.roles.get(&grant.role);
    let has_all = |path: &String| {
        let is_held = |it: &&str| held.is_some_and(|held| held.contains(*it));
        accounts.has_rule(path, USER, &grant.role) && grant.privileges.iter().all(is_held)
    };
    let paths = grant.paths.iter().filter(|path| !has_all(path));
    let paths: Vec<_> = paths.map(String::as_str).collect();
    let tokens = accounts.whole.get(USER).into_iter().flatten();
    let tokens: Vec<_> = tokens.map(|name| format!("{USER}!{name}")).collect();
    if paths.is_empty() || tokens.is_empty() {
        return None;
    }
    let (tokens, paths) = (tokens.join(", "), paths.join(", "));
    Some(format!(
        "WARNING: {tokens} will have the role {} on {paths} as well, without asking for it: privilege separation is off \
         there, so that it has whatever {USER} has; `pveum user token modify {USER} NAME --privsep 1` holds it apart, and \
         leaves it only what it was given itself",
        grant.role
    ))
}

/// Whether whoever logged in may hand this out: better known before the first step than at the third.
pub(super) async fn may_grant(
    grant: &Grant,
    reader: &Reader,
    accounts: &Accounts,
) -> Result<(), Fault> {
    let mut wanted = Vec::new();
    let held = accounts.roles.get(&grant.role);
    let is_right = held.is_some_and(|held| held.iter().eq(grant.privileges.iter()));
    if !is_right {
        wanted.push(("/access".to_owned(), "Sys.Modify"));
    }
    if !accounts.users.contains_key(USER) {
        wanted.push(("/access/realm/pve".to_owned(), "Realm.AllocateUser"));
    }
    wanted.push(("/access/groups".to_owned(), "User.Modify"));
    let paths = grant.paths.iter();
    wanted.extend(paths.map(|path| (path.clone(), "Permissions.Modify")));
    let mut missing = Vec::new();
    for (path, privilege) in wanted {
        if !facts::held_on(reader, &path).await?.has(&path, privilege) {
            missing.push(format!("{privilege} on {path}"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} may not make roles, users and tokens: it lacks {}",
        reader.identity(),
        missing.join(", ")
    );
    Err(Fault::new(Kind::Forbidden, what).hint(
        "log in as root@pam, or as a user with the role Administrator on /; or let somebody make a token, and use --token",
    ))
}

/// What a token that was given lacks.
pub(super) async fn lacking(
    grant: &Grant,
    reader: &Reader,
    token: &str,
) -> Result<Vec<String>, Fault> {
    let mut notes = Vec::new();
    for path in &grant.paths {
        let held = facts::held_on(reader, path).await?;
        let lacks = grant.privileges.iter().filter(|it| !held.has(path, it));
        let lacks: Vec<_> = lacks.copied().collect();
        if !lacks.is_empty() {
            notes.push(format!(
                "{token} lacks {} on {path}; tools that need it will say so",
                words::list(&lacks)
            ));
        }
    }
    Ok(notes)
}

/// A token that can do nothing at all is none.
pub(super) async fn has_some(reader: &Reader, token: &str) -> Result<(), Fault> {
    if facts::held(reader).await?.paths().next().is_none() {
        let what = format!("{token} gets in, and may do nothing there");
        return Err(Fault::new(Kind::Forbidden, what).hint(format!(
            "a token with privilege separation has no rights until it is given some, and never more than its user: on a node, \
             `pveum acl modify / --roles PVEAuditor --tokens '{token}'`"
        )));
    }
    Ok(())
}
