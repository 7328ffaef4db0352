//! What PVE's own schema calls the forms that are checked here.

use super::{Check, firewall, format, network};

/// Forms and their names. One whose address the compiler changed is only left out of the served schema, which then promises
/// less than is checked.
const NAMES: &[(Check, &str)] = &[
    (format::vmid, "pve-vmid"),
    (format::node, "pve-node"),
    (format::config_id, "pve-configid"),
    (format::storage_id, "pve-storage-id"),
    (format::content, "pve-storage-content"),
    (format::volume_id, "pve-volume-id"),
    (format::disk_size, "disk-size"),
    (format::tag, "pve-tag"),
    (format::startup_order, "pve-startup-order"),
    (format::urlencoded, "urlencoded"),
    (format::dns_name, "dns-name"),
    (format::realm, "pve-realm"),
    (format::privilege, "pve-priv"),
    (format::task_status, "pve-task-status-type"),
    (format::calendar_event, "pve-calendar-event"),
    (format::day_of_week, "pve-day-of-week"),
    (format::ha_resource_or_vmid, "pve-ha-resource-or-vm-id"),
    (format::ha_resource, "pve-ha-resource-id"),
    (format::replication_job, "pve-replication-job-id"),
    (format::user_id, "pve-userid"),
    (format::token_id, "pve-tokenid"),
    (format::group_id, "pve-groupid"),
    (format::role_id, "pve-roleid"),
    (format::storage_pair, "storage-pair"),
    (format::pool_id, "pve-poolid"),
    (firewall::addresses, "pve-fw-addr-spec"),
    (firewall::address_or_alias, "IPorCIDRorAlias"),
    (firewall::address_or_network, "IPorCIDR"),
    (firewall::protocol, "pve-fw-protocol-spec"),
    (network::mac, "mac-addr"),
    (network::ipv4, "ipv4"),
    (network::ipv6, "ipv6"),
    (network::ip, "ip"),
    (network::ip_with_interface, "lxc-ip-with-ll-iface"),
    (network::cidr_v4, "CIDRv4"),
    (network::cidr_v6, "CIDRv6"),
    (network::ipv4_config, "pve-ipv4-config"),
    (network::ipv6_config, "pve-ipv6-config"),
    (network::address, "address"),
    (network::bridge, "pve-bridge-id"),
];

/// The name of a form, if PVE has one.
pub(crate) fn of(check: Check) -> Option<&'static str> {
    let mut names = NAMES.iter();
    names.find_map(|(known, name)| std::ptr::fn_addr_eq(*known, check).then_some(*name))
}
