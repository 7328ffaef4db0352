//! `/cluster/options`: `datacenter.cfg`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::section;
use crate::call::{Call, split_list};
use crate::error::{Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, put};
use crate::schema::{flag, format, int, text};
use crate::world::World;

/// The routes of the options of the datacenter.
pub const ROUTES: &[Route] = &[
    get("/cluster/options", read).allow(Perm::User),
    put("/cluster/options", update)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[
            text("bwlimit").optional(),
            text("consent-text").longest(65536).optional(),
            text("console")
                .one_of(&["applet", "vv", "html5", "xtermjs"])
                .optional(),
            text("crs").optional(),
            text("delete").list_of(format::config_id).optional(),
            text("description").longest(65536).optional(),
            text("email_from").optional(),
            text("fencing")
                .one_of(&["watchdog", "hardware", "both"])
                .optional(),
            text("ha").optional(),
            text("http_proxy").matching(is_proxy).optional(),
            text("keyboard").one_of(KEYBOARDS).optional(),
            text("language").one_of(LANGUAGES).optional(),
            text("mac_prefix").optional(),
            int("max_workers").min(1).optional(),
            text("migration").optional(),
            flag("migration_unsecure").optional(),
            text("next-id").optional(),
            text("notify").optional(),
            text("registered-tags").optional(),
            text("replication").optional(),
            text("tag-style").optional(),
            text("u2f").optional(),
            text("user-tag-access").optional(),
            text("webauthn").optional(),
        ]),
];

const KEYBOARDS: &[&str] = &[
    "de", "de-ch", "da", "en-gb", "en-us", "es", "fi", "fr", "fr-be", "fr-ca", "fr-ch", "hu", "is",
    "it", "ja", "lt", "mk", "nl", "no", "pl", "pt", "pt-br", "sv", "sl", "tr",
];

const LANGUAGES: &[&str] = &[
    "ar", "ca", "da", "de", "en", "es", "eu", "fa", "fr", "hr", "he", "it", "ja", "ka", "kr", "nb",
    "nl", "nn", "pl", "pt_BR", "ru", "sl", "sv", "tr", "ukr", "zh_CN", "zh_TW",
];

/// Options that are property strings, which reads show taken apart.
const PROPERTIES: &[&str] = &[
    "bwlimit",
    "crs",
    "ha",
    "migration",
    "next-id",
    "notify",
    "replication",
    "tag-style",
    "u2f",
    "user-tag-access",
    "webauthn",
];

fn is_proxy(text: &str) -> bool {
    text.starts_with("http://")
}

/// Everything for those who may audit; the tags one may use for all.
fn read(world: &mut World, call: &Call) -> Reply {
    let audit = world.may(&call.who, "/", "Sys.Audit");
    let visible = |key: &str| audit || matches!(key, "console" | "tag-style");
    let value = |key: &str, text: &str| match text.parse::<u64>() {
        Ok(number) => json!(number),
        Err(_) if PROPERTIES.contains(&key) => section::properties(text),
        Err(_) => json!(text),
    };
    let options = world.options.iter().filter(|(key, _)| visible(key));
    let mut shown: Map<String, Value> = options
        .map(|(key, text)| (key.clone(), value(key, text)))
        .collect();
    if audit {
        shown.entry("description").or_insert(json!(""));
    }
    shown.insert("allowed-tags".to_owned(), json!(tags(world, call)));
    Ok(Value::from(shown).into())
}

/// The tags of the guests that the caller may see, and those registered.
fn tags<'a>(world: &'a World, call: &Call) -> BTreeSet<&'a str> {
    let visible = world
        .guests
        .values()
        .filter(|guest| world.may(&call.who, &format!("/vms/{}", guest.vmid), "VM.Audit"));
    let lists = visible.filter_map(|guest| guest.config.get("tags"));
    let registered = world.options.get("registered-tags").map(String::as_str);
    lists.chain(registered).flat_map(split_list).collect()
}

fn update(world: &mut World, call: &Call) -> Reply {
    world.lock_file("", "datacenter_cfg")?;
    world.options.extend(section::sent(call, &["delete"]));
    for key in call.params.list("delete") {
        world.options.remove(key);
    }
    done()
}
