//! `/nodes/{node}/syslog` and `/nodes/{node}/journal`: the log of a node. Here it tells of the boot, of tasks, and of
//! services that broke down.

use serde_json::{Value, json};

use crate::api::cluster::log;
use crate::call::Call;
use crate::clock::Time;
use crate::error::{Answer, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{int, text};
use crate::world::World;

const SYSLOG: Perm = Perm::On("/nodes/{node}", &["Sys.Syslog"]);

/// The routes of a node's log.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/syslog", syslog)
        .allow(SYSLOG)
        .params(&[
            NODE,
            int("limit").min(0).optional(),
            text("service").longest(128).optional(),
            text("since").matching(is_moment).optional(),
            int("start").min(0).optional(),
            text("until").matching(is_moment).optional(),
        ])
        .proxied(),
    get("/nodes/{node}/journal", journal)
        .allow(SYSLOG)
        .params(&[
            NODE,
            text("endcursor").optional(),
            int("lastentries").min(0).optional(),
            int("since").min(0).optional(),
            text("startcursor").optional(),
            int("until").min(0).optional(),
        ])
        .proxied(),
];

/// `2026-11-15`, with or without a time.
fn is_moment(text: &str) -> bool {
    let fits = |form: &str| {
        form.len() == text.len()
            && form.bytes().zip(text.bytes()).all(|(wanted, found)| {
                if wanted == b'0' {
                    found.is_ascii_digit()
                } else {
                    wanted == found
                }
            })
    };
    let forms = ["0000-00-00", "0000-00-00 00:00", "0000-00-00 00:00:00"];
    forms.iter().any(|form| fits(form))
}

/// All lines of a node, oldest first: when, by which program, what.
fn lines(world: &World, name: &str) -> Vec<(Time, &'static str, String)> {
    let Some(node) = world.nodes.get(name) else {
        return Vec::new();
    };
    let mut lines = vec![
        (node.boot, "systemd-journald", "Journal started".to_owned()),
        (node.boot, "systemd", "Startup finished.".to_owned()),
    ];
    for (service, state) in &node.services {
        if state.state == "failed" {
            let text = format!("{service}.service: Failed with result 'exit-code'.");
            lines.push((node.boot, "systemd", text));
        }
    }
    let tasks = log::lines(world)
        .into_iter()
        .filter(|line| line.node == name);
    lines.extend(tasks.map(|line| {
        let text = format!("<{}> {}", line.user, line.text);
        (line.at, "pvedaemon", text)
    }));
    lines.sort_by_key(|(at, ..)| *at);
    lines
}

/// `Nov 15 18:51:53 pve1 pvedaemon[1000]: ...`.
fn written(name: &str, (at, program, text): &(Time, &str, String)) -> String {
    let date = at.as_c_text();
    let pid = if *program == "systemd" { 1 } else { 1000 };
    format!("{} {name} {program}[{pid}]: {text}", &date[4..19])
}

fn syslog(world: &mut World, call: &Call) -> Reply {
    let name = call.node();
    let moment = |key: &str| call.text(key).map(str::to_owned);
    let (since, until) = (moment("since"), moment("until"));
    let mut found = lines(world, name);
    found.retain(|(at, program, _)| {
        let at = at.to_string();
        since.as_ref().is_none_or(|since| at >= *since)
            && until.as_ref().is_none_or(|until| at <= *until)
            && call
                .text("service")
                .is_none_or(|service| service == *program)
    });
    let number = |key: &str, default| {
        let value = call.int(key).and_then(|value| usize::try_from(value).ok());
        value.unwrap_or(default)
    };
    let page = found.iter().enumerate().skip(number("start", 0));
    let entries = page
        .take(number("limit", 50))
        .map(|(at, line)| json!({ "n": at + 1, "t": written(name, line) }));
    Ok(Answer::page(entries.collect::<Value>(), found.len()))
}

/// The lines between two cursors, which are line numbers here.
fn journal(world: &mut World, call: &Call) -> Reply {
    let name = call.node();
    let mut found = lines(world, name);
    found.retain(|(at, ..)| {
        call.int("since").is_none_or(|since| at.secs() >= since)
            && call.int("until").is_none_or(|until| at.secs() <= until)
    });
    let last = call
        .int("lastentries")
        .and_then(|count| usize::try_from(count).ok());
    let skip = last.map_or(0, |count| found.len().saturating_sub(count));
    let cursor = |at: usize| json!(format!("s=sim;i={at:x}"));
    let texts = found[skip..].iter().map(|line| json!(written(name, line)));
    let all: Vec<Value> = std::iter::once(cursor(skip))
        .chain(texts)
        .chain([cursor(found.len())])
        .collect();
    Ok(Value::from(all).into())
}
