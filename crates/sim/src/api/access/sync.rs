//! `/access/domains/{realm}/sync`: taking over the people of a directory. Groups of directories are not modelled: there are
//! none.

use serde_json::json;

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::access::{Subject, User};
use crate::world::work::{Job, Work};

/// What a sync shall do.
struct Order {
    realm: String,
    dry: bool,
    users: bool,
    enable: bool,
    /// `acl`, `entry`, `properties`
    vanished: Vec<String>,
}

/// `POST sync`. Only realms with a directory behind them can be synced; the scope has no default.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let name = call.text("realm").unwrap_or_default();
    let Some(realm) = world.access.realms.get(name) else {
        return Err(ApiError::param("realm", "Realm does not exist."));
    };
    if !matches!(realm.kind.as_str(), "ldap" | "ad") {
        return Err(ApiError::fail(format!(
            "Cannot sync realm type '{}'! Only LDAP/AD realms can be synced.",
            realm.kind
        )));
    }
    let Some(scope) = call.text("scope") else {
        let text = "Not passed as parameter and not defined in realm default sync options.";
        return Err(ApiError::param("scope", text));
    };
    let what = if scope == "both" {
        "users and groups"
    } else {
        scope
    };
    let vanished = call.text("remove-vanished").filter(|text| *text != "none");
    let order = Order {
        realm: name.to_owned(),
        dry: call.flag("dry-run"),
        users: scope != "groups",
        enable: call.text("enable-new") != Some("0"),
        vanished: vanished
            .map(|text| text.split(';').map(str::to_owned).collect())
            .unwrap_or_default(),
    };
    let (kind, test) = if order.dry {
        ("auth-realm-sync-test", "(dry test run) ")
    } else {
        ("auth-realm-sync", "")
    };
    let work = Work::new(kind, name)
        .log(format!("{test}starting sync for realm {name}"))
        .wait(1)
        .log(format!("got data from server, updating {what}"))
        .run(sync(order, what.to_owned()));
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}

fn sync(order: Order, what: String) -> impl FnOnce(&mut World, &mut Job) -> Result<(), String> {
    move |world, job| {
        if order.users {
            job.log("syncing users");
            remove_vanished(world, &order, job);
            add_people(world, &order, job);
        }
        if order.dry {
            job.log("");
            job.log("NOTE: Dry test run, changes were NOT written to the configuration.");
        } else {
            job.log(format!("successfully updated {what} configuration"));
        }
        Ok(())
    }
}

fn people(world: &World, realm: &str) -> Vec<String> {
    let realms = world.access.realms.get(realm);
    let people = realms.into_iter().flat_map(|realm| &realm.people);
    people.map(|name| format!("{name}@{realm}")).collect()
}

/// Users that the directory has no more; their rules only if that is asked for, too.
fn remove_vanished(world: &mut World, order: &Order, job: &mut Job) {
    let removes = |part: &str| order.vanished.iter().any(|name| name == part);
    let (known, end) = (people(world, &order.realm), format!("@{}", order.realm));
    let users: Vec<String> = world.access.users.keys().cloned().collect();
    let gone = users
        .into_iter()
        .filter(|name| name.ends_with(&end) && !known.contains(name));
    for name in gone {
        if removes("entry") {
            job.log(format!("remove user '{name}'"));
            if !order.dry {
                world.access.users.remove(&name);
            }
        }
        if removes("acl") {
            job.log(format!("purge users '{name}' ACL entries"));
            if !order.dry {
                let gone = Subject::User(name);
                world.access.remove_rules(|subject| *subject == gone);
            }
        }
    }
}

fn add_people(world: &mut World, order: &Order, job: &mut Job) {
    for name in people(world, &order.realm) {
        let verb = match world.access.users.contains_key(&name) {
            true if order.vanished.iter().any(|part| part == "properties") => "overwriting",
            true => "updating",
            false => "adding",
        };
        job.log(format!("{verb} user '{name}'"));
        if !order.dry {
            let user = User {
                disabled: !order.enable,
                ..User::default()
            };
            world.access.users.entry(name).or_insert(user);
        }
    }
}
