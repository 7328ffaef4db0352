//! What each method of the API can do, reviewed by hand: not by its verb alone. The first rule that matches decides; a
//! read that no rule names is a read, and a write that none names hands out power until somebody has looked at it.

mod rules;

use pve::{GuestKind, Method};

use super::sent::Sent;
use crate::area::update::hands_out_power;
use crate::spec::Risk;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It runs, with this risk.
    Does(Risk),
    /// It is refused, since another way does it better or nothing may: what to use instead.
    Elsewhere(&'static str),
}

/// Parameters that hand out power over a guest, or over its node, whatever the method.
const GRANTS: &[&str] = &[
    "args",
    "cicustom",
    "cipassword",
    "ciuser",
    "dumpdir",
    "entrypoint",
    "env",
    "features",
    "hookscript",
    "password",
    // A hook that runs as root with every backup; PVE leaves it, dumpdir and tmpdir to root alone.
    "script",
    "ssh-public-keys",
    "sshkeys",
    "tmpdir",
];

/// Settings that take nothing away by being unset: what was switched off is on again.
const UNSET_CALMLY: &[&str] = &["disable"];

/// Whether unsetting a setting takes something away.
pub(super) fn is_lost(setting: &str) -> bool {
    !UNSET_CALMLY.contains(&setting)
}

/// Where `force` overwrites what is there. Elsewhere it passes by a check, or starts what is not started by itself.
const OVERWRITES: &[&str] = &[
    "/nodes/{node}/certificates/acme/certificate",
    "/nodes/{node}/certificates/custom",
    "/nodes/{node}/lxc",
    "/nodes/{node}/qemu",
];

/// The kind of the guests that a method makes, by its template.
fn makes(template: &str) -> Option<GuestKind> {
    match template {
        "/nodes/{node}/qemu" => Some(GuestKind::Qemu),
        "/nodes/{node}/lxc" => Some(GuestKind::Lxc),
        _ => None,
    }
}

/// Whether a guest that comes to be gets power over its node: by a setting that update_proxmox_vm asks a person about, by
/// being made of a file of the node, or by running its root as that of the node.
fn makes_it_powerful(kind: GuestKind, sent: &Sent) -> bool {
    let of_node = |name: &str| {
        let text = sent.text(name);
        text.is_some_and(|text| text == "-" || text.starts_with('/'))
    };
    let has_power = |name: &str| {
        let text = sent.text(name);
        text.is_some_and(|text| hands_out_power(kind, name, &text))
    };
    // PVE makes containers privileged that it is told nothing about; a restored one stays what it was.
    let privileged = kind == GuestKind::Lxc
        && match sent.flag("unprivileged") {
            Some(unprivileged) => !unprivileged,
            None => sent.flag("restore") != Some(true),
        };
    privileged || of_node("archive") || of_node("ostemplate") || sent.names().any(has_power)
}

/// What a firewall lets through: its rules, the sets of addresses and the names of addresses that they are about. A change of
/// these can cut off guests, or the API itself.
const LETS_THROUGH: &[&str] = &[
    "/firewall/aliases/{name}",
    "/firewall/groups/{group}",
    "/firewall/groups/{group}/{pos}",
    "/firewall/ipset/{name}",
    "/firewall/ipset/{name}/{cidr}",
    "/firewall/rules",
    "/firewall/rules/{pos}",
];

/// Whether a template is that of something which a firewall goes by.
fn is_of_firewall(template: &str) -> bool {
    LETS_THROUGH.iter().any(|end| template.ends_with(end))
}

/// Whether what a firewall goes by is one more rule that lets something through, or only described. One that is there may
/// let less through afterwards, whatever its action: by being switched off, narrowed or moved.
fn cuts_nobody_off(template: &str, sent: &Sent) -> bool {
    const DESCRIBES: &[&str] = &["comment", "digest"];
    let is_new = !template.ends_with("/{pos}");
    (is_new && sent.text("action").as_deref() == Some("ACCEPT"))
        || sent.names().all(|name| DESCRIBES.contains(&name))
}

/// Whether a rule of HA is only described: whatever else is said of it, HA moves guests by.
fn describes_ha_rule(sent: &Sent) -> bool {
    const DESCRIBES: &[&str] = &["comment", "digest", "rule", "type"];
    sent.names().all(|name| DESCRIBES.contains(&name))
}

/// Whether an option of a firewall can cut off guests, or the API itself.
fn shuts_out(option: &str) -> bool {
    option == "enable" || option.starts_with("policy_")
}

/// Writes that PVE answers with a secret if they have this parameter, unless it is off.
const CONFIDES: &[(Method, &str, &str)] = &[
    (
        Method::Put,
        "/access/users/{userid}/token/{tokenid}",
        "regenerate",
    ),
    (Method::Post, "/storage", "encryption-key"),
    (Method::Put, "/storage/{storage}", "encryption-key"),
];

/// Whether PVE's answer holds a secret, which goes into a file and is never shown.
pub(super) fn confides(verb: Method, template: &str, sent: &Sent) -> bool {
    CONFIDES.iter().any(|(of, path, with)| {
        (*of, *path) == (verb, template) && sent.has(with) && sent.flag(with) != Some(false)
    })
}

/// The class of a method, by its template.
pub(super) fn class(verb: Method, template: &str) -> Class {
    rules::first(verb, template).unwrap_or(Class::Does(Risk::Grant))
}

/// What does it instead, if a method of this template is left to another way.
pub fn left_to(verb: Method, template: &str) -> Option<&'static str> {
    match class(verb, template) {
        Class::Elsewhere(instead) => Some(instead),
        Class::Does(_) => None,
    }
}

/// What these parameters do beyond what the method does without them.
pub(super) fn of_parameters(template: &str, sent: &Sent) -> Risk {
    let is_on = |name: &str| sent.flag(name) == Some(true);
    let moves = template.ends_with("/move_disk") || template.ends_with("/move_volume");
    if sent.names().any(|name| GRANTS.contains(&name))
        || makes(template).is_some_and(|kind| makes_it_powerful(kind, sent))
    {
        Risk::Grant
    } else if sent.has("prune-backups")
        || sent.has("maxfiles")
        // PVE takes the job away then, and with "full" what was replicated.
        || sent.has("remove_job")
        || (is_on("force") && OVERWRITES.contains(&template))
        || sent.unset().iter().any(|setting| is_lost(setting))
        || (moves && (is_on("delete") || sent.has("target-vmid")))
        || (template.ends_with("/content/{volume}") && sent.flag("protected") == Some(false))
    {
        Risk::Destroy
    } else if (template.starts_with("/cluster/ha/resources") && sent.has("state"))
        || (template.ends_with("/firewall/options") && sent.names().any(shuts_out))
        || (is_of_firewall(template) && !cuts_nobody_off(template, sent))
        || (template.starts_with("/cluster/ha/rules") && !describes_ha_rule(sent))
    {
        Risk::Disrupt
    } else {
        Risk::Read
    }
}

#[cfg(test)]
mod tests {
    use pve::apidoc::Schema;
    use pve::{Request, Value as Parameter};

    use super::*;
    use crate::clean::is_secret_at;
    use crate::reference::schemas;

    #[test]
    fn the_first_rule_decides() {
        let of = |verb, path: &str| class(verb, path);
        let scan = "/nodes/{node}/scan/";
        let local = of(Method::Get, &format!("{scan}zfs"));
        assert_eq!(local, Class::Does(Risk::Read));
        let remote = of(Method::Get, &format!("{scan}nfs"));
        assert_eq!(remote, Class::Does(Risk::Change));
        assert_eq!(of(Method::Put, "/access/acl"), Class::Does(Risk::Grant));
        assert_eq!(
            of(Method::Delete, "/pools/{poolid}"),
            Class::Does(Risk::Destroy)
        );
        assert_eq!(of(Method::Post, "/brand/new"), Class::Does(Risk::Grant));
    }

    fn of(template: &str, params: &[(&str, Parameter)]) -> Risk {
        let mut request = Request::put("/x");
        for (name, value) in params {
            request = request.with(*name, value.clone());
        }
        of_parameters(template, &Sent::of(&request, template))
    }

    #[test]
    fn only_one_more_rule_that_lets_in_cuts_nobody_off() {
        let text = |text: &str| Parameter::from(text);
        for rules in [
            "/cluster/firewall/rules",
            "/cluster/firewall/groups/{group}",
            "/cluster/firewall/groups/{group}/{pos}",
            "/nodes/{node}/firewall/rules/{pos}",
            "/nodes/{node}/lxc/{vmid}/firewall/rules",
            "/cluster/sdn/vnets/{vnet}/firewall/rules",
        ] {
            assert_eq!(of(rules, &[("action", text("DROP"))]), Risk::Disrupt);
            let accepts = ("action", text("ACCEPT"));
            let is_there = rules.ends_with("/{pos}");
            let calm = if is_there { Risk::Disrupt } else { Risk::Read };
            assert_eq!(of(rules, std::slice::from_ref(&accepts)), calm, "{rules}");
            assert_eq!(of(rules, &[accepts, ("enable", 0.into())]), calm, "{rules}");
            assert_eq!(of(rules, &[("enable", 0.into())]), Risk::Disrupt);
            assert_eq!(of(rules, &[("comment", text("x"))]), Risk::Read);
        }
    }

    #[test]
    fn parameters_count_too() {
        let text = |text: &str| Parameter::from(text);
        let create = "/nodes/{node}/qemu";
        assert_eq!(of(create, &[("cores", text("2"))]), Risk::Read);
        for (name, value) in [
            ("scsi0", "file=/dev/sda"),
            ("scsi0", "local-lvm:0,import-from=/root/x.img"),
            ("cdrom", "/dev/dvd"),
            ("hostpci0", "0000:01:00.0"),
            ("usb0", "host=1-2"),
            ("serial0", "/dev/ttyS0"),
            ("virtiofs0", "dirid=share"),
            ("archive", "/root/vzdump.vma"),
        ] {
            assert_eq!(of(create, &[(name, text(value))]), Risk::Grant, "{name}");
        }
        for (name, value) in [
            ("scsi0", "local-lvm:8"),
            ("ide2", "local:iso/x.iso,media=cdrom"),
            ("hostpci0", "mapping=gpu"),
            ("serial0", "socket"),
            ("net0", "virtio,bridge=vmbr0"),
        ] {
            assert_eq!(of(create, &[(name, text(value))]), Risk::Read, "{name}");
        }
        let container = "/nodes/{node}/lxc";
        let with = |name, value| of(container, &[("unprivileged", true.into()), (name, value)]);
        assert_eq!(with("rootfs", text("local-lvm:4")), Risk::Read);
        assert_eq!(with("mp0", text("/etc,mp=/host")), Risk::Grant);
        assert_eq!(with("dev0", text("/dev/sda")), Risk::Grant);
        assert_eq!(
            of(container, &[("unprivileged", false.into())]),
            Risk::Grant
        );
        assert_eq!(of(container, &[]), Risk::Grant);
        assert_eq!(of(container, &[("restore", true.into())]), Risk::Read);
        assert_eq!(of(create, &[("hookscript", text("x"))]), Risk::Grant);
        assert_eq!(of(create, &[("cipassword", text("x"))]), Risk::Grant);
        let moving = "/nodes/{node}/qemu/{vmid}/move_disk";
        assert_eq!(of(moving, &[("delete", true.into())]), Risk::Destroy);
        assert_eq!(of(moving, &[("delete", false.into())]), Risk::Read);
        let volume = "/nodes/{node}/storage/{storage}/content/{volume}";
        assert_eq!(of(volume, &[("protected", false.into())]), Risk::Destroy);
        let options = "/cluster/options";
        assert_eq!(of(options, &[("delete", text("ha"))]), Risk::Destroy);
        assert_eq!(of(options, &[("delete", text(""))]), Risk::Read);
        let job = "/cluster/backup/{id}";
        assert_eq!(of(job, &[("maxfiles", 1.into())]), Risk::Destroy);
        for name in ["script", "tmpdir", "dumpdir"] {
            assert_eq!(of(job, &[(name, text("/root/x"))]), Risk::Grant);
        }
        let replication = "/cluster/replication/{id}";
        assert_eq!(
            of(replication, &[("remove_job", text("full"))]),
            Risk::Destroy
        );
        assert_eq!(of(replication, &[("rate", text("10"))]), Risk::Read);
        assert_eq!(
            of("/storage/{storage}", &[("delete", text("disable"))]),
            Risk::Read
        );
        assert_eq!(of(create, &[("force", true.into())]), Risk::Destroy);
        let starting = "/nodes/{node}/startall";
        assert_eq!(of(starting, &[("force", true.into())]), Risk::Read);
        let firewall = "/cluster/firewall/options";
        assert_eq!(of(firewall, &[("enable", 1.into())]), Risk::Disrupt);
        assert_eq!(of(firewall, &[("policy_in", text("DROP"))]), Risk::Disrupt);
        assert_eq!(of(firewall, &[("ebtables", true.into())]), Risk::Read);
        let address = ("cidr", text("10.0.0.1"));
        for names in [
            "/cluster/firewall/aliases/{name}",
            "/nodes/{node}/lxc/{vmid}/firewall/ipset/{name}",
            "/nodes/{node}/qemu/{vmid}/firewall/ipset/{name}/{cidr}",
        ] {
            assert_eq!(of(names, std::slice::from_ref(&address)), Risk::Disrupt);
        }
        assert_eq!(of("/cluster/firewall/aliases", &[address]), Risk::Read);
        let groups = "/cluster/firewall/groups";
        assert_eq!(of(groups, &[("group", text("web"))]), Risk::Read);
        let ha = "/cluster/ha/rules/{rule}";
        let kind = ("type", text("node-affinity"));
        assert_eq!(
            of(ha, &[kind.clone(), ("nodes", text("pve3"))]),
            Risk::Disrupt
        );
        assert_eq!(of(ha, &[kind, ("comment", text("x"))]), Risk::Read);
    }

    #[test]
    fn no_write_answers_with_a_secret_that_would_be_shown() {
        for method in schemas().iter().flat_map(Schema::methods) {
            let (verb, path) = (method.verb, method.path.as_str());
            let mut fields = method.returns.fields.iter();
            let tells = verb != Method::Get && fields.any(|it| is_secret_at(it, path));
            let known = CONFIDES.iter().any(|it| (it.0, it.1) == (verb, path));
            let refused = matches!(class(verb, path), Class::Elsewhere(_));
            assert!(!tells || known || refused, "{method} answers with a secret");
        }
    }

    /// Tools that ask the outside world by a method that could ask anybody, and ask only one that nobody chooses.
    const ASKS_ONE: &[&str] = &["get_acme_tos"];

    #[test]
    fn a_look_is_as_grave_in_one_tool_as_in_another() {
        let mut wrong = Vec::new();
        for tool in crate::registry::all() {
            let spec = tool.spec();
            let methods = tool.methods();
            let reads = methods.iter().filter(|it| it.method == Method::Get);
            for path in reads.map(|read| &read.path) {
                let should_be = class(Method::Get, path) == Class::Does(Risk::Read);
                // One that looks inside a guest leaves a trace instead.
                if (spec.risk == Risk::Read) != should_be
                    && !spec.special.looks_inside
                    && !ASKS_ONE.contains(&spec.name)
                {
                    wrong.push(format!("{}: GET {path}", spec.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn few_methods_are_out_of_reach() {
        let Some(newest) = schemas().pop() else {
            return;
        };
        let refused = newest
            .methods()
            .iter()
            .filter(|it| matches!(class(it.verb, &it.path), Class::Elsewhere(_)));
        assert!(refused.count() <= 45);
    }
}
