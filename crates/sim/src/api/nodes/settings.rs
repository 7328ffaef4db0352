//! What can be set on a node: name servers, time zone, `/etc/hosts`, options. And its power.

use serde_json::{Map, Value, json};

use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, post, put};
use crate::schema::common::{DIGEST, NODE};
use crate::schema::{Param, format, int, network, text};
use crate::world::host::Settings;
use crate::world::{World, digest_of};

const AUDIT: Perm = Perm::On("/nodes/{node}", &["Sys.Audit"]);
const MODIFY: Perm = Perm::On("/nodes/{node}", &["Sys.Modify"]);

/// What `config` may hold.
const OPTIONS: &[Param] = &[
    text("acme").optional(),
    text("acmedomain").times(6).optional(),
    int("ballooning-target").min(0).max(100).optional(),
    text("description").longest(65536).optional(),
    int("startall-onboot-delay").min(0).max(300).optional(),
    text("wakeonlan").optional(),
];

/// The routes of a node's settings.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/dns", dns)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    put("/nodes/{node}/dns", set_dns)
        .allow(MODIFY)
        .params(&[
            NODE,
            text("search"),
            text("dns1").is(network::ip).optional(),
            text("dns2").is(network::ip).optional(),
            text("dns3").is(network::ip).optional(),
        ])
        .proxied(),
    get("/nodes/{node}/time", time)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    put("/nodes/{node}/time", set_time)
        .allow(MODIFY)
        .params(&[NODE, text("timezone")])
        .proxied(),
    get("/nodes/{node}/hosts", hosts)
        .allow(Perm::On("/", &["Sys.Audit"]))
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/hosts", set_hosts)
        .allow(MODIFY)
        .params(&[NODE, text("data"), DIGEST])
        .proxied(),
    get("/nodes/{node}/config", config)
        .allow(Perm::On("/", &["Sys.Audit"]))
        .params(&[
            NODE,
            text("property")
                .one_of(&[
                    "acme",
                    "acmedomain0",
                    "acmedomain1",
                    "acmedomain2",
                    "acmedomain3",
                    "acmedomain4",
                    "acmedomain5",
                    "ballooning-target",
                    "description",
                    "startall-onboot-delay",
                    "wakeonlan",
                ])
                .optional(),
        ])
        .proxied(),
    put("/nodes/{node}/config", set_config)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[
            NODE,
            text("delete").list_of(format::config_id).optional(),
            text("digest").longest(40).optional(),
        ])
        .and(OPTIONS)
        .proxied(),
    post("/nodes/{node}/status", power)
        .allow(Perm::On("/nodes/{node}", &["Sys.PowerMgmt"]))
        .params(&[NODE, text("command").one_of(&["reboot", "shutdown"])])
        .proxied(),
    post("/nodes/{node}/wakeonlan", wake)
        .allow(Perm::On("/nodes/{node}", &["Sys.PowerMgmt"]))
        .params(&[NODE]),
];

fn settings<'a>(world: &'a mut World, call: &Call) -> Result<&'a mut Settings, ApiError> {
    let name = call.node();
    let node = world.nodes.get_mut(name);
    let node = node.ok_or_else(|| ApiError::fail(format!("no such cluster node '{name}'")))?;
    Ok(&mut node.settings)
}

fn dns(world: &mut World, call: &Call) -> Reply {
    let settings = settings(world, call)?;
    let servers = settings.dns.iter().zip(["dns1", "dns2", "dns3"]);
    let mut shown: Map<String, Value> = servers
        .map(|(server, key)| (key.to_owned(), json!(server)))
        .collect();
    if !settings.search.is_empty() {
        shown.insert("search".to_owned(), json!(settings.search));
    }
    Ok(Value::from(shown).into())
}

/// A file of the node alone: no quorum is needed.
fn set_dns(world: &mut World, call: &Call) -> Reply {
    let servers = ["dns1", "dns2", "dns3"].into_iter();
    let servers = servers.filter_map(|key| call.text(key)).map(str::to_owned);
    let settings = settings(world, call)?;
    settings.dns = servers.collect();
    call.text("search")
        .unwrap_or_default()
        .clone_into(&mut settings.search);
    done()
}

fn time(world: &mut World, call: &Call) -> Reply {
    let now = world.now.secs();
    let zone = &settings(world, call)?.timezone;
    Ok(json!({ "time": now, "localtime": now, "timezone": zone }).into())
}

fn set_time(world: &mut World, call: &Call) -> Reply {
    let zone = call.text("timezone").unwrap_or_default().to_owned();
    settings(world, call)?.timezone = zone;
    done()
}

fn hosts_text(world: &World, call: &Call) -> String {
    let written = world.nodes.get(call.node());
    if let Some(text) = written.and_then(|node| node.settings.hosts.clone()) {
        return text;
    }
    let line = |(ip, name): (&str, &str)| format!("{ip} {name}.{} {name}\n", world.name);
    let nodes = world.nodes.values();
    let lines: Vec<String> = nodes
        .map(|node| line((node.ip.as_str(), node.name.as_str())))
        .collect();
    format!("127.0.0.1 localhost\n{}", lines.concat())
}

fn hosts(world: &mut World, call: &Call) -> Reply {
    let text = hosts_text(world, call);
    Ok(json!({ "data": text, "digest": digest_of(&text) }).into())
}

fn set_hosts(world: &mut World, call: &Call) -> Reply {
    let current = digest_of(&hosts_text(world, call));
    if call.text("digest").is_some_and(|sent| sent != current) {
        return Err(ApiError::fail(
            "detected modified configuration - file changed by other user? Try again.",
        ));
    }
    let text = call.text("data").unwrap_or_default().to_owned();
    settings(world, call)?.hosts = Some(text);
    done()
}

fn config_digest(settings: &Settings) -> String {
    digest_of(&format!("{:?}", settings.config))
}

fn config(world: &mut World, call: &Call) -> Reply {
    let settings = settings(world, call)?;
    let wanted = |key: &str| call.text("property").is_none_or(|name| name == key);
    let value = |text: &str| match text.parse::<u64>() {
        Ok(number) => json!(number),
        Err(_) => json!(text),
    };
    let options = settings.config.iter().filter(|(key, _)| wanted(key));
    let mut shown: Map<String, Value> = options
        .map(|(key, text)| (key.clone(), value(text)))
        .collect();
    if !settings.config.is_empty() {
        shown.insert("digest".to_owned(), json!(config_digest(settings)));
    }
    Ok(Value::from(shown).into())
}

fn set_config(world: &mut World, call: &Call) -> Reply {
    let settings = settings(world, call)?;
    let current = config_digest(settings);
    if call.text("digest").is_some_and(|sent| sent != current) {
        return Err(ApiError::fail(
            "detected modified configuration - file changed by other user? Try again.",
        ));
    }
    for key in call.params.list("delete") {
        settings.config.remove(key);
    }
    let sent = section::sent(call, &["node", "delete", "digest"]);
    settings.config.extend(sent);
    done()
}

fn power(world: &mut World, call: &Call) -> Reply {
    world.power_off(call.node(), call.text("command") == Some("reboot"));
    done()
}

/// Wakes a node that is down, if its address is known: it is up at once.
fn wake(world: &mut World, call: &Call) -> Reply {
    let name = call.node();
    if name == call.endpoint {
        return Err(ApiError::fail(format!(
            "'{name}' is local node, cannot wake my self!"
        )));
    }
    let option = settings(world, call)?.config.get("wakeonlan").cloned();
    let mac = option.as_deref().and_then(|text| text.split(',').next());
    let Some(mac) = mac.map(|text| text.trim_start_matches("mac=").to_owned()) else {
        return Err(ApiError::fail(format!(
            "No wake on LAN MAC address defined for '{name}'!"
        )));
    };
    world.set_online(name, true);
    Ok(json!(mac).into())
}
