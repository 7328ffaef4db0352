//! What happened between the exchanges, done to the simulated cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::judge::learn;
use super::send::encode;
use super::{Runner, body_of};
use crate::call::Identity;
use crate::cluster::Outcome;
use crate::http::Request;
use crate::replay::script::Action;

impl Runner<'_> {
    pub(super) fn act(&mut self, action: &Action) {
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
            Action::Console { path, port } => self.open_console(path, port),
            Action::Call {
                method,
                path,
                form,
                upid,
            } => self.call(method, path, form, upid.as_ref()),
        }
    }

    fn open_console(&mut self, path: &str, port: &str) {
        let request = Request {
            endpoint: "pve1".to_owned(),
            method: "POST".to_owned(),
            target: format!("/api2/json{path}?websocket=1"),
            headers: self.token_headers("root@pam!mcp").unwrap_or_default(),
            ..Request::default()
        };
        if let Outcome::Answer { response, .. } = self.cluster.serve(&request) {
            let recorded = json!({ "data": { "port": port, "ticket": "" } });
            learn(&recorded, &body_of(&response), &mut self.names);
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
            ..Request::default()
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
}
