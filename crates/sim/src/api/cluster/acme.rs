//! `/cluster/acme`: accounts at certificate authorities. Only root@pam may look at one or make one.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::{Param, format, text};
use crate::world::acme::{Account, LETS_ENCRYPT, STAGING};
use crate::world::work::Work;
use crate::world::{World, digest_of};

const NAME: Param = text("name").is(format::config_id).optional();
const DIRECTORY: Param = text("directory").matching(is_address).optional();

/// The routes of ACME.
pub const ROUTES: &[Route] = &[
    get("/cluster/acme", root).allow(Perm::User),
    get("/cluster/acme/plugins", plugins)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[text("type").one_of(&["dns", "standalone"]).optional()]),
    get("/cluster/acme/plugins/{id}", plugin)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[text("id").is(format::config_id)]),
    get("/cluster/acme/account", accounts).allow(Perm::User),
    post("/cluster/acme/account", register).params(&[
        NAME,
        text("contact"),
        text("tos_url").optional(),
        DIRECTORY,
        text("eab-kid").requires("eab-hmac-key").optional(),
        text("eab-hmac-key").requires("eab-kid").optional(),
    ]),
    get("/cluster/acme/account/{name}", account).params(&[NAME]),
    get("/cluster/acme/directories", directories).allow(Perm::User),
    get("/cluster/acme/tos", terms)
        .allow(Perm::User)
        .params(&[DIRECTORY]),
];

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "account",
        "tos",
        "meta",
        "directories",
        "plugins",
        "challenge-schema",
    ];
    index("name", &names)
}

fn plugins(_: &mut World, call: &Call) -> Reply {
    if call.text("type") == Some("dns") {
        return Ok(json!([]).into());
    }
    let digest = digest_of("");
    Ok(json!([{ "plugin": "standalone", "type": "standalone", "digest": digest }]).into())
}

fn plugin(_: &mut World, call: &Call) -> Reply {
    match call.text("id").unwrap_or_default() {
        "standalone" => {
            let digest = digest_of("");
            Ok(json!({ "plugin": "standalone", "type": "standalone", "digest": digest }).into())
        }
        id => Err(ApiError::fail(format!("ACME plugin '{id}' not defined"))),
    }
}

fn accounts(world: &mut World, _: &Call) -> Reply {
    let names = world.acme_accounts.keys();
    Ok(names
        .map(|name| json!({ "name": name }))
        .collect::<Value>()
        .into())
}

fn account(world: &mut World, call: &Call) -> Reply {
    let name = call.text("name").unwrap_or("default");
    let Some(account) = world.acme_accounts.get(name) else {
        let text = format!("ACME account config file '{name}' does not exist.");
        return Err(ApiError::param("name", text));
    };
    let mut shown = json!({
        "account": { "status": "valid", "contact": account.contact },
        "directory": account.directory,
        "location": account.location,
    });
    if let Some(terms) = &account.terms {
        shown["tos"] = json!(terms);
    }
    Ok(shown.into())
}

/// The key is made and the authority asked in a task, on the node that was asked.
fn register(world: &mut World, call: &Call) -> Reply {
    let name = call.text("name").unwrap_or("default").to_owned();
    let taken = format!("ACME account config file '{name}' already exists.");
    if world.acme_accounts.contains_key(&name) {
        return Err(ApiError::param("name", taken));
    }
    let contact = split_list(call.text("contact").unwrap_or_default());
    let account = Account {
        contact: contact.map(|mail| format!("mailto:{mail}")).collect(),
        directory: call.text("directory").unwrap_or(LETS_ENCRYPT).to_owned(),
        terms: call.text("tos_url").map(str::to_owned),
        location: String::new(),
    };
    let work = Work::new("acmeregister", "")
        .log("Generating ACME account key..")
        .wait(1)
        .log("Registering ACME account..")
        .wait(1)
        .run(move |world, job| {
            if world.acme_accounts.contains_key(&name) {
                return Err(taken);
            }
            let account = account.registered(&name)?;
            let location = &account.location;
            job.log(format!(
                "Registration successful, account URL: '{location}'"
            ));
            world.acme_accounts.insert(name, account);
            Ok(())
        });
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}

fn directories(_: &mut World, _: &Call) -> Reply {
    Ok(json!([
        { "name": "Let's Encrypt V2", "url": LETS_ENCRYPT },
        { "name": "Let's Encrypt V2 Staging", "url": STAGING },
    ])
    .into())
}

/// What Let's Encrypt says to a node that asks.
fn terms(_: &mut World, _: &Call) -> Reply {
    Ok(json!("https://letsencrypt.org/documents/LE-SA-v1.5-February-24-2025.pdf").into())
}
