//! What the HA manager knows about guests.

use std::collections::BTreeMap;

use crate::call::split_list;
use crate::world::guest::{Guest, Kind};
use crate::world::node::Node;
use crate::world::{Section, World};

/// The id of a guest as an HA resource: `vm:102`, `ct:200`.
pub fn service_id(kind: Kind, vmid: u32) -> String {
    match kind {
        Kind::Qemu => format!("vm:{vmid}"),
        Kind::Lxc => format!("ct:{vmid}"),
    }
}

impl World {
    /// The HA resource of a guest, if HA manages it: then start and stop become requests to HA.
    pub fn ha_resource(&self, kind: Kind, vmid: u32) -> Option<&Section> {
        let resource = self.ha_resources.get(&service_id(kind, vmid))?;
        let ignored = resource
            .props
            .get("state")
            .is_some_and(|state| state == "ignored");
        (!ignored).then_some(resource)
    }

    /// Records what HA shall bring a guest to: `started` or `stopped`.
    pub fn request_ha_state(&mut self, kind: Kind, vmid: u32, state: &str) {
        if let Some(resource) = self.ha_resources.get_mut(&service_id(kind, vmid)) {
            resource.props.insert("state".to_owned(), state.to_owned());
        }
    }
}

impl World {
    /// Forgets a resource; with `purge` also in the rules that name it, and rules that named nothing else.
    pub fn remove_from_ha(&mut self, sid: &str, purge: bool) {
        self.ha_resources.remove(sid);
        if !purge {
            return;
        }
        self.ha_rules.retain(|_, rule| {
            let Some(list) = rule.props.get_mut("resources") else {
                return true;
            };
            let left: Vec<&str> = split_list(list).filter(|name| *name != sid).collect();
            let keep = !left.is_empty();
            *list = left.join(",");
            keep
        });
    }
}

/// What HA's rules say of a resource that shall move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Motion {
    /// The resources that move along.
    pub together: Vec<String>,
    /// The nodes that it is kept off, with the resources there that are the reason.
    pub apart: BTreeMap<String, Vec<String>>,
}

impl World {
    /// What the rules on resources that belong together or apart mean for one that shall move.
    pub fn ha_motion(&self, sid: &str) -> Motion {
        let mut motion = Motion::default();
        let rules = self.ha_rules.values().filter(|rule| {
            let props = &rule.props;
            rule.kind == "resource-affinity" && props.get("disable").is_none_or(|it| it == "0")
        });
        for rule in rules {
            let resources = rule.props.get("resources").map(String::as_str);
            let members: Vec<&str> = split_list(resources.unwrap_or_default()).collect();
            if !members.contains(&sid) {
                continue;
            }
            let positive = rule
                .props
                .get("affinity")
                .is_some_and(|it| it == "positive");
            for other in members.into_iter().filter(|member| *member != sid) {
                let Some(resource) = self.ha_resources.get(other) else {
                    continue;
                };
                let service = self.ha_service(other, resource);
                match service.node.filter(|_| service.state.is_some()) {
                    Some(_) if positive => motion.together.push(other.to_owned()),
                    Some(node) => {
                        let there = motion.apart.entry(node.to_owned()).or_default();
                        there.push(other.to_owned());
                    }
                    None => {}
                }
            }
        }
        motion
    }
}

/// The state of an HA resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service<'a> {
    /// What was asked for: `started`, `stopped`, `disabled`, `ignored`.
    pub requested: &'a str,
    /// Where the guest is; `None` if it does not exist.
    pub node: Option<&'a str>,
    /// What the manager is at; `None` for what it does not manage.
    pub state: Option<&'static str>,
    /// The same in the words for people.
    pub shown: &'static str,
}

impl World {
    /// The node whose manager decides: the first that is up, in the order in which they joined.
    pub fn ha_manager(&self) -> Option<&Node> {
        let first = |online: bool| {
            let nodes = self
                .nodes
                .values()
                .filter(move |node| node.is_online() || !online);
            nodes.min_by_key(|node| node.id)
        };
        first(true).or_else(|| first(false))
    }

    /// Whether HA manages a guest on this node.
    pub fn ha_works_on(&self, node: &str) -> bool {
        let services = self.ha_resources.iter();
        services
            .map(|(sid, resource)| self.ha_service(sid, resource))
            .any(|service| service.node == Some(node) && service.state.is_some())
    }

    /// The state of one resource.
    pub fn ha_service<'a>(&'a self, sid: &str, resource: &'a Section) -> Service<'a> {
        let requested = match resource.props.get("state").map(String::as_str) {
            None | Some("enabled") => "started",
            Some(state) => state,
        };
        let vmid = sid.split_once(':').and_then(|(_, id)| id.parse().ok());
        let guest = vmid.and_then(|vmid: u32| self.guests.get(&vmid));
        let (state, shown) = match (requested, guest.map(Guest::is_running)) {
            ("ignored", _) => (None, "ignored"),
            _ if self.ha_errors.contains(sid) => (Some("error"), "error"),
            (_, None) => (None, "not found"),
            ("started", Some(true)) => (Some("started"), "started"),
            ("started", Some(false)) => (Some("started"), "starting"),
            (_, Some(true)) => (Some("request_stop"), "request_stop"),
            ("disabled", Some(false)) => (Some("stopped"), "disabled"),
            (_, Some(false)) => (Some("stopped"), "stopped"),
        };
        Service {
            requested,
            node: guest.map(|guest| guest.node.as_str()),
            state,
            shown,
        }
    }
}
