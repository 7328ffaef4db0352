//! Plays one scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::exchange::{Exchange, Then};
use super::report::Verdict;
use super::script::{Action, Script};
use super::shape::Shape;
use crate::call::Identity;
use crate::clock::Clock;
use crate::cluster::{Cluster, Outcome};
use crate::dispatch;
use crate::http::{Request, Response};
use crate::world::upid::Upid;
use crate::worlds;

/// How long a task is waited for.
const TASK_PATIENCE: u64 = 900;

/// The state of a replay: the cluster, and what recorded names mean in it.
pub(super) struct Runner<'a> {
    script: &'a Script,
    cluster: Cluster,
    /// Recorded UPIDs, digests and process ids, with those that the simulator gave instead.
    names: BTreeMap<String, String>,
    /// Guests whose state came from steps that are not modelled.
    unknown: BTreeSet<String>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(script: &'a Script) -> Self {
        let mut world = worlds::recorded();
        let (user, token, _) = worlds::ROOT_TOKEN;
        if let Some(root) = world.access.users.get_mut(user) {
            root.tokens.remove(token); // The recorded cluster did not have it.
        }
        Self {
            script,
            cluster: Cluster::new(world, Clock::Manual),
            names: BTreeMap::new(),
            unknown: BTreeSet::new(),
        }
    }

    /// Sends one request and judges the answer.
    pub(super) fn play(&mut self, exchange: &Exchange) -> Verdict {
        let script = self.script;
        for action in script.before.get(&exchange.id).into_iter().flatten() {
            self.act(action);
        }
        if exchange.request_headers.is_some() {
            return Verdict::Skipped;
        }
        let touched = touched_guests(exchange);
        if !Self::is_modelled(exchange) {
            if exchange.method != "GET" && exchange.status == Some(200) {
                self.unknown.extend(touched);
            }
            return Verdict::Unmodelled;
        }
        let Some(request) = self.request(exchange) else {
            return Verdict::Blocked;
        };
        let outcome = self.cluster.serve(&request);
        self.cluster
            .world
            .advance(Duration::from_millis(exchange.ms));
        let found = self.judge(exchange, outcome);
        if exchange.deviates {
            Verdict::Deviates
        } else if found.is_empty() {
            Verdict::Match
        } else if self.builds_on_unknown(exchange, &touched) {
            Verdict::Blocked
        } else {
            Verdict::Mismatch(found)
        }
    }

    /// Answers that come before any route need none.
    fn is_modelled(exchange: &Exchange) -> bool {
        let is_api = exchange
            .prefix
            .as_deref()
            .is_none_or(|prefix| prefix == "/api2/extjs");
        let refused_early = exchange.status == Some(401) && exchange.body == "";
        // In extjs the status stands in the body.
        let unknown = matches!(exchange.status, Some(501 | 506)) || exchange.body["status"] == 501;
        let needs_route = !refused_early && !unknown;
        let path = percent_decode_str(&exchange.path).decode_utf8_lossy();
        !is_api || !needs_route || dispatch::is_modelled(&exchange.method, &path)
    }

    /// Whether an exchange is about guests, or lists guests, whose state came from steps that are not modelled.
    fn builds_on_unknown(&self, exchange: &Exchange, touched: &BTreeSet<String>) -> bool {
        let lists = ["/cluster/resources", "/qemu", "/lxc", "/tasks"];
        let is_list = lists.iter().any(|end| exchange.path.ends_with(end));
        (is_list && !self.unknown.is_empty())
            || touched.iter().any(|vmid| self.unknown.contains(vmid))
    }

    fn act(&mut self, action: &Action) {
        let world = &mut self.cluster.world;
        match action {
            Action::Start(vmid) => {
                let (now, pid) = (world.now, world.new_pid());
                world
                    .guests
                    .entry(*vmid)
                    .and_modify(|guest| guest.start(now, pid));
            }
            Action::Stop(vmid) => {
                world
                    .guests
                    .entry(*vmid)
                    .and_modify(crate::world::guest::Guest::stop);
            }
            Action::Lock { vmid, lock } => {
                world
                    .guests
                    .entry(*vmid)
                    .and_modify(|guest| guest.config.set("lock", lock));
            }
            Action::Unlock(vmid) => {
                world.guests.entry(*vmid).and_modify(|guest| {
                    guest.config.remove("lock");
                });
            }
            Action::Move { vmid, node } => {
                world
                    .guests
                    .entry(*vmid)
                    .and_modify(|guest| guest.node.clone_from(node));
            }
            Action::Down(node) => world.set_online(node, false),
            Action::Up(node) => world.set_online(node, true),
            Action::Advance(seconds) => world.advance(Duration::from_secs(*seconds)),
            Action::User(name) => {
                world.access.users.entry(name.clone()).or_default();
            }
            Action::Grant { who, path, privs } => {
                let identity = Identity::parse(who);
                if identity.token.is_some() && world.access.token(&identity).is_none() {
                    world.add_token(who, "granted");
                }
                let privs: Vec<&str> = privs.iter().map(String::as_str).collect();
                world.grant(&identity.user, path, &privs);
            }
            Action::Call {
                method,
                path,
                form,
                upid,
            } => self.call(method, path, form, upid.as_ref()),
        }
    }

    fn call(
        &mut self,
        method: &str,
        path: &str,
        form: &BTreeMap<String, String>,
        recorded: Option<&String>,
    ) {
        let params = encode(
            form.iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let request = Request {
            endpoint: "pve1".to_owned(),
            method: method.to_owned(),
            target: format!("/api2/json{path}?{params}"),
            headers: self.token_headers("root@pam!mcp").unwrap_or_default(),
            body: Vec::new(),
        };
        let Outcome::Answer { response, .. } = self.cluster.serve(&request) else {
            return;
        };
        let data = &body_of(&response)["data"];
        if let (Some(recorded), Some(upid)) = (recorded, data.as_str()) {
            self.names.insert(recorded.clone(), upid.to_owned());
        }
        self.finish_task(data);
    }

    /// The request as it was sent; `None` if its credentials were never made.
    fn request(&self, exchange: &Exchange) -> Option<Request> {
        let changes = self
            .script
            .request
            .get(&exchange.id)
            .cloned()
            .unwrap_or_default();
        let mut target = exchange
            .prefix
            .clone()
            .unwrap_or_else(|| "/api2/json".to_owned());
        target += &self.renamed(&exchange.path);
        let pairs = |pairs: &[(String, String)]| {
            let sent = pairs.iter().map(|(name, value)| {
                let value = changes
                    .form
                    .get(name)
                    .map_or_else(|| self.renamed(value), |text| self.filled(text));
                (name.clone(), value)
            });
            let sent: Vec<_> = sent.collect();
            encode(
                sent.iter()
                    .map(|(name, value)| (name.as_str(), value.as_str())),
            )
        };
        if !exchange.query.is_empty() {
            target = format!("{target}?{}", pairs(&exchange.query));
        }
        let mut headers = match &changes.headers {
            Some(given) => given
                .iter()
                .map(|(name, value)| (name.clone(), self.filled(value)))
                .collect(),
            None => self.credentials(&exchange.auth)?,
        };
        let mut body = exchange.raw_body.clone().unwrap_or_default();
        let mut content_type = exchange.content_type.clone();
        if !exchange.form.is_empty() {
            body = pairs(&exchange.form);
            content_type = Some("application/x-www-form-urlencoded".to_owned());
        }
        if let Some(framing) = &exchange.framing {
            let text = |key: &str| framing[key].as_str().unwrap_or_default();
            body = text("body").replace("<36870 bytes>", &uploaded_file());
            content_type = Some(text("content-type").to_owned());
        }
        headers.extend(content_type.map(|kind| ("content-type".to_owned(), kind)));
        Some(Request {
            endpoint: exchange
                .endpoint
                .clone()
                .unwrap_or_else(|| "pve1".to_owned()),
            method: exchange.method.clone(),
            target,
            headers,
            body: body.into_bytes(),
        })
    }

    /// Replaces recorded names by those of this run, and placeholders by something that fits.
    fn renamed(&self, text: &str) -> String {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let mut text = text.to_owned();
        for (recorded, name) in self
            .names
            .iter()
            .filter(|(recorded, _)| recorded.starts_with("UPID:"))
        {
            text = text.replace(recorded.as_str(), name);
            text = text.replace(&recorded.replace(':', "%3A"), name);
        }
        match text.as_str() {
            "<password>" => worlds::ROOT_PASSWORD.to_owned(),
            "<ssh-key>" => "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIA%20a%40b".to_owned(),
            _ => text,
        }
    }

    /// Fills in `$ticket`, `$csrf` and `$secret`; `$vncticket WHO PATH` becomes a ticket for a console.
    fn filled(&self, text: &str) -> String {
        let world = &self.cluster.world;
        if let Some((who, path)) = text
            .strip_prefix("$vncticket ")
            .and_then(|rest| rest.split_once(' '))
        {
            return world
                .signer
                .vnc_ticket(&Identity::parse(who), path, world.now);
        }
        let secret = world
            .access
            .token(&Identity::parse("root@pam!mcp"))
            .map_or("", |token| &token.secret);
        text.replace("$ticket", &world.signer.ticket("root@pam", world.now))
            .replace("$csrf", &world.signer.csrf("root@pam", world.now))
            .replace("$secret", secret)
    }

    fn credentials(&self, auth: &str) -> Option<Vec<(String, String)>> {
        match auth {
            "root-ticket" => Some(vec![
                ("cookie".to_owned(), self.filled("PVEAuthCookie=$ticket")),
                ("csrfpreventiontoken".to_owned(), self.filled("$csrf")),
            ]),
            "root-token" => self.token_headers("root@pam!mcp"),
            "bob-token" => self.token_headers("bob@pve!mcp"),
            "carol-token" => self.token_headers("carol@pve!t1"),
            "erin-token" => self.token_headers("erin@pve!t1"),
            _ => Some(Vec::new()),
        }
    }

    fn token_headers(&self, who: &str) -> Option<Vec<(String, String)>> {
        let token = self.cluster.world.access.token(&Identity::parse(who))?;
        let value = format!("PVEAPIToken={who}={}", token.secret);
        Some(vec![("authorization".to_owned(), value)])
    }

    fn judge(&mut self, exchange: &Exchange, outcome: Outcome) -> Vec<String> {
        let Outcome::Answer { response, .. } = outcome else {
            return match exchange.status {
                None => Vec::new(),
                Some(_) => vec!["no answer".to_owned()],
            };
        };
        let mut found = Vec::new();
        if Some(response.status) != exchange.status
            || normal(&response.reason) != normal(exchange.reason.as_deref().unwrap_or_default())
        {
            found.push(format!("{} {}", response.status, response.reason));
        }
        let body = body_of(&response);
        if found.is_empty() {
            found.extend(
                Shape::of(&exchange.body).differences(&Shape::of(&body), exchange.truncated),
            );
            found.extend(wrong_errors(&exchange.body["errors"], &body["errors"]));
        }
        learn(&exchange.body, &body, &mut self.names);
        if let Some(then) = exchange.then.as_ref().filter(|_| found.is_empty()) {
            found.extend(self.judge_task(then, &body["data"]));
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

    /// Runs the task to its end; its exit status and last line.
    fn finish_task(&mut self, data: &Value) -> Option<(String, String)> {
        let upid = Upid::parse(data.as_str().or_else(|| data["upid"].as_str())?)?;
        for _ in 0..TASK_PATIENCE {
            let task = self.cluster.world.tasks.find(&upid)?;
            if let Some(end) = &task.end {
                return Some((
                    end.status.clone(),
                    task.full_log().pop().unwrap_or_default(),
                ));
            }
            self.cluster.world.advance(Duration::from_secs(1));
        }
        None
    }
}

/// The file that the recorded uploads sent: an empty ISO image.
fn uploaded_file() -> String {
    let mut file = "\0".repeat(32768) + "\u{1}CD001";
    file += &"\0".repeat(4096);
    file
}

/// The guests that an exchange is about: those in its path, and ids among its parameters.
fn touched_guests(exchange: &Exchange) -> BTreeSet<String> {
    let is_id = |text: &&str| text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let in_path = exchange.path.split(['/', ':', '-']).filter(is_id);
    let named = ["vmid", "newid", "vms", "sid", "target-vmid"];
    let params = exchange
        .form
        .iter()
        .chain(&exchange.query)
        .filter(|(name, _)| named.contains(&name.as_str()));
    let in_params = params
        .flat_map(|(_, value)| value.split([',', ':']))
        .filter(is_id);
    in_path.chain(in_params).map(str::to_owned).collect()
}

fn encode<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.join("&")
}

fn body_of(response: &Response) -> Value {
    serde_json::from_slice(&response.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&response.body).into_owned()))
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

/// Remembers which UPIDs, digests, process ids and tickets of consoles stand for recorded ones.
fn learn(recorded: &Value, actual: &Value, names: &mut BTreeMap<String, String>) {
    match (recorded, actual) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                if let Some(other) = right.get(key) {
                    if key == "ticket" && left.contains_key("port") {
                        let ticket = other.as_str().unwrap_or_default();
                        names.insert("<vncticket>".to_owned(), ticket.to_owned());
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
