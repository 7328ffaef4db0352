//! Power over a node by way of a guest: who may do as they like with a guest may not do so with the machine that it runs on.

use std::collections::BTreeSet;

use pve::{GuestKind, Method, Request};

use crate::area::reaches_node;
use crate::plan::Plan;

/// The nodes that a plan hands out power over by what it makes of a guest there. Rules about the guest alone do not allow
/// that: what holds for the node holds, too.
pub(super) fn over_nodes(plan: &Plan) -> BTreeSet<String> {
    let nodes = plan.requests().filter_map(|request| {
        let (node, kind, rest) = place(&request)?;
        let makes = rest.is_none() && request.method == Method::Post;
        let sets = rest.is_some_and(|rest| rest.ends_with("/config"));
        let is_powerful = (makes && is_made_powerful(kind, &request))
            || ((makes || sets) && has_powerful_setting(kind, &request));
        is_powerful.then(|| pve::decode_value(node))
    });
    nodes.collect()
}

/// `/nodes/pve1/qemu/105/config`: the node, the kind, and the rest if there is any.
fn place(request: &Request) -> Option<(&str, GuestKind, Option<&str>)> {
    let (node, rest) = request.path.strip_prefix("/nodes/")?.split_once('/')?;
    let (kind, rest) = match rest.split_once('/') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (rest, None),
    };
    match kind {
        "qemu" => Some((node, GuestKind::Qemu, rest)),
        "lxc" => Some((node, GuestKind::Lxc, rest)),
        _ => None,
    }
}

fn has_powerful_setting(kind: GuestKind, request: &Request) -> bool {
    let mut params = request.params.iter();
    params.any(|(name, value)| reaches_node(kind, name, &value.to_string()))
}

/// Whether a guest is made of a file of the node, or runs its root as that of the node. PVE makes containers privileged that
/// it is told nothing about; a restored one stays what it was.
fn is_made_powerful(kind: GuestKind, request: &Request) -> bool {
    let text = |name: &str| request.param(name).map(ToString::to_string);
    let is_on = |name: &str| pve::lenient::as_bool(&text(name)?.into());
    let of_node = |name: &str| text(name).is_some_and(|it| it == "-" || it.starts_with('/'));
    let privileged = kind == GuestKind::Lxc
        && match is_on("unprivileged") {
            Some(unprivileged) => !unprivileged,
            None => is_on("restore") != Some(true),
        };
    privileged || of_node("archive") || of_node("ostemplate")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Step;
    use crate::spec::Risk;

    fn over(request: Request) -> bool {
        let tool = crate::registry::all().next().unwrap();
        let mut plan = Plan::new(tool.spec(), "home", Risk::Grant, "");
        plan.steps.push(Step::request("", request));
        let nodes = over_nodes(&plan);
        assert!(nodes.iter().all(|node| node == "pve1"), "{nodes:?}");
        !nodes.is_empty()
    }

    #[test]
    fn a_disk_of_the_node_is_power_over_it() {
        let vm = || Request::post("/nodes/pve1/qemu");
        assert!(over(vm().with("scsi0", "/dev/sda")));
        assert!(over(vm().with("args", "-monitor stdio")));
        assert!(!over(vm().with("scsi0", "local-lvm:8")));
        assert!(!over(vm().with("sshkeys", "ssh-ed25519 x")));
        let container = || Request::post("/nodes/pve1/lxc");
        assert!(over(container()));
        assert!(over(container().with("unprivileged", false)));
        let unprivileged = || container().with("unprivileged", true);
        assert!(!over(unprivileged().with("rootfs", "local-lvm:8")));
        assert!(over(unprivileged().with("mp0", "/etc,mp=/host")));
        let config = || Request::put("/nodes/pve1/qemu/105/config");
        assert!(over(config().with("hookscript", "local:snippets/x.sh")));
        assert!(!over(config().with("cipassword", "x")));
        assert!(!over(config().with("delete", "scsi1")));
    }

    #[test]
    fn a_guest_made_of_a_file_of_the_node_is_power_over_it() {
        let vm = || Request::post("/nodes/pve1/qemu");
        assert!(over(vm().with("archive", "-")));
        assert!(over(vm().with("archive", "/root/vm.vma")));
        assert!(!over(vm().with("archive", "nas:backup/vm.vma")));
        let unprivileged = || Request::post("/nodes/pve1/lxc").with("unprivileged", true);
        assert!(over(unprivileged().with("ostemplate", "/root/ct.tar")));
        assert!(!over(
            unprivileged().with("ostemplate", "local:vztmpl/ct.tar")
        ));
        let start = Request::post("/nodes/pve1/lxc/200/status/start");
        assert!(!over(start), "one that is there already is not made");
    }
}
