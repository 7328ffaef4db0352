//! Whether an answer is like the recorded one, and what it tells about this run's names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Runner, body_of};
use crate::cluster::Outcome;
use crate::console;
use crate::http::websocket::Accepted;
use crate::replay::exchange::{Exchange, Then};
use crate::replay::session;
use crate::replay::shape::Shape;
use crate::replay::values;
use crate::world::console::Console;

impl Runner<'_> {
    pub(super) fn judge(&mut self, exchange: &Exchange, outcome: Outcome) -> Vec<String> {
        let response = match outcome {
            Outcome::Answer { response, .. } => response,
            Outcome::Connect {
                accepted, console, ..
            } => return self.judge_session(exchange, &accepted, &console),
            Outcome::HangUp if exchange.status.is_none() => return Vec::new(),
            Outcome::BreakOff(_) | Outcome::HangUp => return vec!["no answer".to_owned()],
        };
        let mut found = Vec::new();
        if Some(response.status) != exchange.status
            || normal(&response.reason) != normal(exchange.reason.as_deref().unwrap_or_default())
        {
            found.push(format!("{} {}", response.status, response.reason));
        }
        let wanted = exchange.headers.get("content-type").map(String::as_str);
        if found.is_empty() && response.content_type != wanted {
            found.push(format!("content type {:?}", response.content_type));
        }
        let body = body_of(&response);
        if found.is_empty() {
            found.extend(
                Shape::of(&exchange.body).differences(&Shape::of(&body), exchange.truncated),
            );
            found.extend(values::differences(
                &exchange.body,
                &body,
                exchange.truncated,
            ));
            found.extend(wrong_errors(&exchange.body["errors"], &body["errors"]));
        }
        learn(&exchange.body, &body, &mut self.names);
        if let Some(then) = exchange.then.as_ref().filter(|_| found.is_empty()) {
            found.extend(self.judge_task(then, &body["data"]));
        }
        found
    }

    /// Plays what went over a websocket.
    fn judge_session(
        &mut self,
        exchange: &Exchange,
        accepted: &Accepted,
        console: &Console,
    ) -> Vec<String> {
        let world = &mut self.cluster.world;
        let changes = self.script.request.get(&exchange.id);
        let password = changes.and_then(|changes| changes.form.get("password"));
        let password = password.map_or(console.vnc_password(), String::as_str);
        let session = console::open(console);
        let (end, mut found) = session::play(&exchange.frames, session, world, password);
        world.end_task(&console.upid, end.line, &end.status);
        if exchange.status != Some(101) {
            found.push("a websocket".to_owned());
        }
        if exchange.headers.get("sec-websocket-protocol") != accepted.protocol.as_ref() {
            found.push(format!("protocol {:?}", accepted.protocol));
        }
        found
    }

    fn judge_task(&mut self, then: &Then, data: &Value) -> Vec<String> {
        let Some((status, last)) = self.finish_task(data) else {
            return match then.exit_status() {
                Some(_) => vec!["the task does not end".to_owned()],
                None => Vec::new(),
            };
        };
        let wanted = then.exit_status().unwrap_or_default();
        if normal(wanted) != normal(&status) {
            return vec![format!(
                "the task ends with {status:?} instead of {wanted:?}"
            )];
        }
        let wanted = then.log.last().map_or("", String::as_str);
        if normal(wanted) == normal(&last) {
            Vec::new()
        } else {
            vec![format!("the log ends with {last:?}")]
        }
    }
}

/// Parameter errors are compared word for word, except where the recording hides a value.
fn wrong_errors(wanted: &Value, got: &Value) -> Vec<String> {
    let fields = wanted.as_object().into_iter().flatten();
    let hidden = |text: &Value| text.as_str().is_some_and(|text| text.contains('<'));
    let wrong = fields.filter(|(name, text)| !hidden(text) && got[name.as_str()] != **text);
    wrong
        .map(|(name, text)| format!("error of {name}: {} instead of {text}", got[name.as_str()]))
        .collect()
}

/// Remembers which UPIDs, digests, process ids, tickets and ports of consoles stand for recorded ones.
pub(super) fn learn(recorded: &Value, actual: &Value, names: &mut BTreeMap<String, String>) {
    match (recorded, actual) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                if let Some(other) = right.get(key) {
                    if key == "ticket" && left.contains_key("port") {
                        let ticket = other.as_str().unwrap_or_default();
                        names.insert("<vncticket>".to_owned(), ticket.to_owned());
                    }
                    if key == "port" && left.contains_key("ticket") {
                        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                        names.insert(text(value), text(other));
                    }
                    if key == "pid" {
                        names.insert(value.to_string(), other.to_string());
                    }
                    learn(value, other, names);
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let keyed = |items: &[Value], key: &Value| {
                items.iter().find(|item| item["key"] == *key).cloned()
            };
            for item in left.iter().filter(|item| item["key"].is_string()) {
                if let Some(other) = keyed(right, &item["key"]) {
                    learn(item, &other, names);
                }
            }
        }
        (Value::String(left), Value::String(right)) => {
            let opaque = left.starts_with("UPID:")
                || (left.len() == 40 && left.bytes().all(|b| b.is_ascii_hexdigit()));
            if opaque {
                names.insert(left.clone(), right.clone());
            }
        }
        _ => {}
    }
}

/// A text without what differs from run to run: UPIDs, and process ids in the names of temporary files.
fn normal(text: &str) -> String {
    let words = text.split_inclusive(' ').map(|word| {
        if word.starts_with("UPID:") {
            return "UPID ".to_owned();
        }
        match word.split_once(".tmp.") {
            Some((file, rest)) => {
                format!(
                    "{file}.tmp.N{}",
                    rest.trim_start_matches(|c: char| c.is_ascii_digit())
                )
            }
            None => word.to_owned(),
        }
    });
    words.collect()
}
