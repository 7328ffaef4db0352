//! The firewall of single VMs and containers.

use pve::Method;

use super::{
    ACTION, COMMENT, DEST, DPORT, ENABLE, MACRO, POLICIES, PROTO, RULE, SOURCE, adding, rule_of,
};
use crate::plain::{Arg, CONTAINER, Need, Plain, UNSET, VM, an, change, choice, flag, read};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &GET_VM_OPTIONS,
    &SET_VM_OPTIONS,
    &LIST_VM_RULES,
    &CREATE_VM_RULE,
    &GET_CONTAINER_OPTIONS,
    &LIST_CONTAINER_RULES,
    &CREATE_CONTAINER_RULE,
];

const VM_RULES: &str = "/nodes/{node}/qemu/{vmid}/firewall/rules";
const CONTAINER_RULES: &str = "/nodes/{node}/lxc/{vmid}/firewall/rules";
const AUDIT: Need = Need::On("/vms/{vmid}", "VM.Audit");
const MODIFY: Need = Need::All(&[AUDIT, Need::On("/vms/{vmid}", "VM.Config.Network")]);
/// What is shown of the options first.
const OPTIONS: &[&str] = &[
    "enable",
    "policy_in",
    "policy_out",
    "dhcp",
    "ipfilter",
    "macfilter",
];
const TYPE: Arg = choice(
    "type",
    &["in", "out", "group"],
    "Direction; group inserts a security group.",
)
.required();

const GET_VM_OPTIONS: Plain = read(
    Toolset::Firewall,
    "get_vm_firewall_options",
    "Show a VM's firewall options",
    "/nodes/{node}/qemu/{vmid}/firewall/options",
)
.says(
    "Shows whether a VM's firewall is on and its policies and filters, as far as they differ from PVE's defaults.\n\nIt works only for network cards with firewall=1 and if get_cluster_firewall_options says enable 1. Rules: list_vm_firewall_rules; a container's: get_container_firewall_options. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.needs(AUDIT)
.item(OPTIONS)
.examples(&[Example {
    ask: "Is the firewall of VM 100 on?",
    args: r#"{"vmid": 100}"#,
}]);

const SET_VM_OPTIONS: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "set_vm_firewall_options",
    "Change a VM's firewall options",
    Method::Put,
    "/nodes/{node}/qemu/{vmid}/firewall/options",
)
.says(
    "Switches a VM's firewall on or off, or sets its policies and filters; a running VM feels it at once.\n\nIncoming packets that no rule accepts are dropped once it is on, so put rules in first with create_vm_firewall_rule. A person must approve what switches it off or accepts more; the rest can cut the VM off and returns a `confirm` value first. Needs VM.Config.Network and VM.Audit on /vms/VMID. Undo: the same call with the old values.",
)
.takes(&[
    VM,
    flag("enable", "Whether it is on."),
    flag("dhcp", "Let DHCP through."),
    flag("ipfilter", "Only addresses of its ipfilter sets."),
    flag("macfilter", "Only its own MAC addresses."),
    choice("policy_in", POLICIES, "For incoming packets that no rule fits."),
    choice("policy_out", POLICIES, "For outgoing packets that no rule fits."),
    UNSET,
])
.needs(MODIFY)
.edits(an("firewall options", &[]))
.examples(&[Example {
    ask: "Switch the firewall of VM 105 on",
    args: r#"{"vmid": 105, "enable": true}"#,
}]);

const LIST_VM_RULES: Plain = read(
    Toolset::Firewall,
    "list_vm_firewall_rules",
    "List a VM's firewall rules",
    VM_RULES,
)
.says(
    "Lists the firewall rules of one VM, in the order in which they are tried: the first that fits decides.\n\nRules of type group stand for those of get_firewall_group_rules. They hold only if get_vm_firewall_options says enable 1. A container's: list_container_firewall_rules. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.needs(AUDIT)
.rows(RULE)
.examples(&[Example {
    ask: "What does the firewall of VM 100 let through?",
    args: r#"{"vmid": 100}"#,
}]);

const CREATE_VM_RULE: Plain = adding(
    "create_vm_firewall_rule",
    "Add a firewall rule to a VM",
    VM_RULES,
)
.says(
    "Adds a firewall rule to one VM, in first place and in force at once if its firewall is on.\n\nlist_vm_firewall_rules shows the others, set_vm_firewall_options switches the firewall. A person must approve a rule that accepts; one that drops or rejects can cut the VM off and returns a `confirm` value first. A container takes create_container_firewall_rule. Needs VM.Config.Network and VM.Audit on /vms/VMID. Undo: write_proxmox_api with DELETE on /nodes/NODE/qemu/VMID/firewall/rules/0.",
)
.takes(&[VM, ACTION.required(), TYPE, ENABLE.otherwise("1"), SOURCE, DEST, PROTO, DPORT, MACRO, COMMENT])
.needs(MODIFY)
.adds(
    rule_of(VM_RULES, &[])
        .undone_at("/nodes/{node}/qemu/{vmid}/firewall/rules/0"),
)
.examples(&[
    Example {
        ask: "Let VM 100 answer pings",
        args: r#"{"vmid": 100, "action": "ACCEPT", "type": "in", "macro": "Ping"}"#,
    },
    Example {
        ask: "VM 105 is a web server: use that group",
        args: r#"{"vmid": 105, "action": "webserver", "type": "group"}"#,
    },
]);

const GET_CONTAINER_OPTIONS: Plain = read(
    Toolset::Firewall,
    "get_container_firewall_options",
    "Show a container's firewall options",
    "/nodes/{node}/lxc/{vmid}/firewall/options",
)
.says(
    "Shows whether a container's firewall is on and its policies and filters, as far as they differ from PVE's defaults.\n\nIt works only for network cards with firewall=1 and if get_cluster_firewall_options says enable 1. Rules: list_container_firewall_rules; a VM's: get_vm_firewall_options. Needs VM.Audit on /vms/VMID.",
)
.takes(&[CONTAINER])
.needs(AUDIT)
.item(OPTIONS)
.examples(&[Example {
    ask: "Is the firewall of container 200 on?",
    args: r#"{"vmid": 200}"#,
}]);

const LIST_CONTAINER_RULES: Plain = read(
    Toolset::Firewall,
    "list_container_firewall_rules",
    "List a container's firewall rules",
    CONTAINER_RULES,
)
.says(
    "Lists the firewall rules of one container, in the order in which they are tried: the first that fits decides.\n\nRules of type group stand for those of get_firewall_group_rules. They hold only if get_container_firewall_options says enable 1. A VM's: list_vm_firewall_rules. Needs VM.Audit on /vms/VMID.",
)
.takes(&[CONTAINER])
.needs(AUDIT)
.rows(RULE)
.examples(&[Example {
    ask: "Which firewall rules does container 200 have?",
    args: r#"{"vmid": 200}"#,
}]);

const CREATE_CONTAINER_RULE: Plain = adding(
    "create_container_firewall_rule",
    "Add a firewall rule to a container",
    CONTAINER_RULES,
)
.says(
    "Adds a firewall rule to one container, in first place and in force at once if its firewall is on.\n\nlist_container_firewall_rules shows the others. A person must approve a rule that accepts; one that drops or rejects can cut the container off and returns a `confirm` value first. A VM takes create_vm_firewall_rule. Needs VM.Config.Network and VM.Audit on /vms/VMID. Undo: write_proxmox_api with DELETE on /nodes/NODE/lxc/VMID/firewall/rules/0.",
)
.takes(&[
    CONTAINER,
    ACTION.required(),
    TYPE,
    ENABLE.otherwise("1"),
    SOURCE,
    DEST,
    PROTO,
    DPORT,
    MACRO,
    COMMENT,
])
.needs(MODIFY)
.adds(
    rule_of(CONTAINER_RULES, &[])
        .undone_at("/nodes/{node}/lxc/{vmid}/firewall/rules/0"),
)
.examples(&[Example {
    ask: "Let DNS queries into container 200",
    args: r#"{"vmid": 200, "action": "ACCEPT", "type": "in", "macro": "DNS", "source": "lan"}"#,
}]);
