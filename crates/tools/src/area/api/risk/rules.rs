//! The table: one rule for each group of methods that do alike.

use pve::Method;

use super::Class;
use crate::paths::fits;
use crate::spec::Risk;

/// The class of some methods.
struct Rule {
    /// Verbs with blanks between them.
    verbs: &'static str,
    /// The path: `*` is one part, `**` at its end are any number of parts.
    path: &'static str,
    class: Class,
}

const fn does(verbs: &'static str, path: &'static str, risk: Risk) -> Rule {
    Rule {
        verbs,
        path,
        class: Class::Does(risk),
    }
}

const fn elsewhere(verbs: &'static str, path: &'static str, instead: &'static str) -> Rule {
    Rule {
        verbs,
        path,
        class: Class::Elsewhere(instead),
    }
}

const CONSOLE: &str = "capture_vm_screen, send_vm_key, type_vm_text and run_proxmox_vm_command use consoles; the toolset console has terminals";
const TUNNEL: &str = "it is one end of a migration; migrate_proxmox_vm migrates";
const LOGIN: &str = "oxmox logs in by itself and shows no tickets";
const CLUSTER: &str = "a person does this at the node, with pvecm";

#[rustfmt::skip]
const RULES: &[Rule] = &[
    // Streams, upgrades and logins.
    elsewhere("GET", "/nodes/*/vncwebsocket", CONSOLE),
    elsewhere("GET", "/nodes/*/*/*/vncwebsocket", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/vncproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/termproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/spiceproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/vncshell", "a person opens a shell of a node"),
    elsewhere("POST", "/nodes/*/termproxy", "a person opens a shell of a node"),
    elsewhere("POST", "/nodes/*/spiceshell", "a person opens a shell of a node"),
    elsewhere("GET", "/nodes/*/*/*/mtunnelwebsocket", TUNNEL),
    elsewhere("POST", "/nodes/*/*/*/mtunnel", TUNNEL),
    elsewhere("GET", "/nodes/*/rrd", "get_proxmox_metrics draws charts; /nodes/{node}/rrddata has the figures"),
    elsewhere("GET", "/nodes/*/*/*/rrd", "get_proxmox_metrics draws charts; rrddata beside it has the figures"),
    elsewhere("GET", "/nodes/*/storage/*/file-restore/download", "download_file_restore (toolset storage) gets a file out of a backup"),
    elsewhere("POST", "/nodes/*/storage/*/upload", "upload_to_storage (toolset storage) sends a file; POST /nodes/{node}/storage/{storage}/download-url has the node fetch one"),
    elsewhere("POST", "/nodes/*/execute", "it runs other calls unseen; make them one by one"),
    elsewhere("POST", "/access/ticket", LOGIN),
    elsewhere("POST", "/access/vncticket", LOGIN),
    elsewhere("POST", "/access/openid/**", LOGIN),
    elsewhere("POST", "/access/users/*/token/*", "PVE tells a token's secret once and it is never shown here; create_user_token of the toolset access makes tokens and puts the secret into a file, or a person makes tokens in PVE's web interface"),
    elsewhere("POST", "/access/tfa/*", "it answers with a secret, which is never shown here; a person sets up second factors in PVE's web interface"),
    elsewhere("POST", "/cluster/config", CLUSTER),
    elsewhere("POST", "/cluster/config/join", CLUSTER),
    elsewhere("POST DELETE", "/cluster/config/nodes/*", CLUSTER),
    // What a tool of its own plans with all that depends on it.
    elsewhere("POST PUT", "/nodes/*/qemu/*/config", "update_proxmox_vm changes settings: it shows old and new, and what becomes of disks"),
    elsewhere("PUT", "/nodes/*/lxc/*/config", "update_proxmox_vm changes settings: it shows old and new, and what becomes of disks"),
    elsewhere("PUT", "/nodes/*/qemu/*/unlink", "update_proxmox_vm removes disks, with delete"),
    elsewhere("DELETE", "/nodes/*/qemu/*", "delete_proxmox_vm deletes guests, after showing what goes with them"),
    elsewhere("DELETE", "/nodes/*/lxc/*", "delete_proxmox_vm deletes guests, after showing what goes with them"),
    elsewhere("DELETE", "/nodes/*/*/*/snapshot/*", "delete_proxmox_vm_snapshot deletes snapshots"),
    elsewhere("POST", "/nodes/*/*/*/snapshot/*/rollback", "rollback_proxmox_vm goes back to snapshots and backups"),
    elsewhere("POST", "/nodes/*/vzdump", "backup_proxmox_vm makes backups, and tells which ones retention would remove"),
    // Inside a guest.
    does("GET", "/nodes/*/qemu/*/agent", Risk::Read),
    does("GET", "/nodes/*/qemu/*/agent/**", Risk::Grant),
    does("POST", "/nodes/*/qemu/*/agent/ping", Risk::Change),
    does("POST", "/nodes/*/qemu/*/agent/**", Risk::Grant),
    does("GET", "/nodes/*/storage/*/file-restore/list", Risk::Grant),
    elsewhere("POST", "/nodes/*/qemu/*/monitor", "send_vm_monitor_command of the toolset qemu sends one, if there is no password in it"),
    // The node connects to where the caller says.
    does("GET", "/nodes/*/query-url-metadata", Risk::Change),
    does("GET", "/nodes/*/query-oci-repo-tags", Risk::Change),
    does("GET", "/nodes/*/scan/lvm", Risk::Read),
    does("GET", "/nodes/*/scan/lvmthin", Risk::Read),
    does("GET", "/nodes/*/scan/zfs", Risk::Read),
    does("GET", "/nodes/*/scan/*", Risk::Change),
    does("GET", "/nodes/*/apt/changelog", Risk::Change),
    does("GET", "/cluster/acme/tos", Risk::Change),
    does("GET", "/cluster/acme/meta", Risk::Change),
    // Power is handed out.
    does("POST PUT DELETE", "/access/**", Risk::Grant),
    does("POST PUT DELETE", "/cluster/jobs/realm-sync/**", Risk::Grant),
    does("POST PUT", "/cluster/mapping/**", Risk::Grant),
    does("POST PUT", "/nodes/*/apt/repositories", Risk::Grant),
    does("POST", "/nodes/*/hosts", Risk::Grant),
    does("PUT", "/nodes/*/dns", Risk::Grant),
    does("POST", "/nodes/*/certificates/custom", Risk::Grant),
    // Guests.
    does("POST", "/nodes/*/qemu", Risk::Change),
    does("POST", "/nodes/*/lxc", Risk::Change),
    does("POST", "/nodes/*/*/*/clone", Risk::Change),
    does("POST", "/nodes/*/*/*/snapshot", Risk::Change),
    does("PUT", "/nodes/*/*/*/snapshot/*/config", Risk::Change),
    does("PUT", "/nodes/*/*/*/resize", Risk::Change),
    does("PUT", "/nodes/*/qemu/*/cloudinit", Risk::Change),
    does("POST", "/nodes/*/qemu/*/dbus-vmstate", Risk::Change),
    does("POST", "/nodes/*/qemu/*/move_disk", Risk::Change),
    does("POST", "/nodes/*/lxc/*/move_volume", Risk::Change),
    does("POST", "/nodes/*/*/*/status/start", Risk::Change),
    does("POST", "/nodes/*/*/*/status/resume", Risk::Change),
    does("POST", "/nodes/*/*/*/status/*", Risk::Disrupt),
    does("PUT", "/nodes/*/qemu/*/sendkey", Risk::Disrupt),
    does("POST", "/nodes/*/*/*/migrate", Risk::Disrupt),
    // There is no way back from a template, and none from another cluster.
    does("POST", "/nodes/*/*/*/template", Risk::Destroy),
    does("POST", "/nodes/*/*/*/remote_migrate", Risk::Destroy),
    // Options decide what is let through, as the tools for them say; rules by what they do, in of_parameters.
    does("PUT", "/nodes/*/*/*/firewall/options", Risk::Disrupt),
    does("POST PUT", "/nodes/*/*/*/firewall/**", Risk::Change),
    // Nodes.
    does("POST", "/nodes/*/status", Risk::Disrupt),
    does("POST", "/nodes/*/startall", Risk::Change),
    does("POST", "/nodes/*/stopall", Risk::Disrupt),
    does("POST", "/nodes/*/suspendall", Risk::Disrupt),
    does("POST", "/nodes/*/migrateall", Risk::Disrupt),
    does("POST", "/nodes/*/wakeonlan", Risk::Change),
    does("POST", "/nodes/*/aplinfo", Risk::Change),
    does("POST", "/nodes/*/apt/update", Risk::Change),
    does("POST", "/nodes/*/services/*/start", Risk::Change),
    does("POST", "/nodes/*/services/*/*", Risk::Disrupt),
    does("POST", "/nodes/*/network", Risk::Change),
    does("PUT", "/nodes/*/network", Risk::Disrupt),
    does("PUT", "/nodes/*/network/*", Risk::Change),
    does("PUT", "/nodes/*/config", Risk::Change),
    does("PUT", "/nodes/*/time", Risk::Change),
    does("POST PUT", "/nodes/*/subscription", Risk::Change),
    does("POST PUT", "/nodes/*/certificates/acme/certificate", Risk::Disrupt),
    does("POST PUT", "/nodes/*/firewall/**", Risk::Change),
    does("POST", "/nodes/*/replication/*/schedule_now", Risk::Change),
    does("DELETE", "/nodes/*/tasks/*", Risk::Disrupt),
    // A disk that is given to a storage is overwritten.
    does("POST PUT", "/nodes/*/disks/**", Risk::Destroy),
    does("POST", "/nodes/*/ceph/osd", Risk::Destroy),
    does("POST", "/nodes/*/ceph/osd/*/scrub", Risk::Change),
    does("POST", "/nodes/*/ceph/osd/*/*", Risk::Disrupt),
    does("POST", "/nodes/*/ceph/start", Risk::Change),
    does("POST", "/nodes/*/ceph/stop", Risk::Disrupt),
    does("POST", "/nodes/*/ceph/restart", Risk::Disrupt),
    does("POST PUT", "/nodes/*/ceph/**", Risk::Change),
    // Storages.
    does("POST", "/nodes/*/storage/*/content", Risk::Change),
    does("POST PUT", "/nodes/*/storage/*/content/*", Risk::Change),
    does("POST", "/nodes/*/storage/*/download-url", Risk::Change),
    does("POST", "/nodes/*/storage/*/oci-registry-pull", Risk::Change),
    does("POST PUT", "/storage/**", Risk::Change),
    // The cluster.
    does("POST PUT", "/pools/**", Risk::Grant),
    does("PUT", "/cluster/options", Risk::Change),
    does("POST PUT", "/cluster/acme/**", Risk::Change),
    does("POST PUT", "/cluster/backup/**", Risk::Change),
    does("POST", "/cluster/bulk-action/guest/start", Risk::Change),
    does("POST", "/cluster/bulk-action/guest/*", Risk::Disrupt),
    does("PUT", "/cluster/ceph/flags/**", Risk::Disrupt),
    does("POST PUT", "/cluster/firewall/**", Risk::Change),
    does("POST", "/cluster/ha/resources/*/*", Risk::Disrupt),
    does("POST", "/cluster/ha/status/*", Risk::Disrupt),
    does("POST PUT", "/cluster/ha/**", Risk::Change),
    does("POST PUT", "/cluster/metrics/server/*", Risk::Change),
    does("POST PUT", "/cluster/notifications/**", Risk::Change),
    does("POST PUT", "/cluster/qemu/custom-cpu-models/**", Risk::Change),
    does("POST PUT", "/cluster/replication/**", Risk::Change),
    does("PUT", "/cluster/sdn", Risk::Disrupt),
    does("POST", "/cluster/sdn/rollback", Risk::Destroy),
    does("DELETE", "/cluster/sdn/lock", Risk::Disrupt),
    does("PUT", "/cluster/sdn/vnets/*/firewall/options", Risk::Disrupt),
    does("POST PUT", "/cluster/sdn/**", Risk::Change),
    // Whatever is deleted is gone.
    does("DELETE", "/**", Risk::Destroy),
    does("GET", "/**", Risk::Read),
];

/// What the first rule that covers a method says of it.
pub(super) fn first(verb: Method, template: &str) -> Option<Class> {
    let rule = RULES.iter().find(|rule| rule.covers(verb, template));
    rule.map(|rule| rule.class)
}

impl Rule {
    fn covers(&self, verb: Method, template: &str) -> bool {
        let mut verbs = self.verbs.split(' ');
        verbs.any(|it| it == verb.as_str()) && fits(self.path, template)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pve::apidoc::Schema;

    use super::*;
    use crate::reference::schemas;

    #[test]
    fn every_method_of_every_version_was_looked_at_and_no_rule_is_idle() {
        let schemas = schemas();
        let mut used = BTreeSet::new();
        for method in schemas.iter().flat_map(Schema::methods) {
            let rule = RULES
                .iter()
                .position(|it| it.covers(method.verb, &method.path));
            used.insert(rule.unwrap_or_else(|| panic!("nobody has looked at {method}")));
        }
        let idle = RULES
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at));
        let idle: Vec<_> = idle.map(|(_, rule)| (rule.verbs, rule.path)).collect();
        assert!(schemas.is_empty() || idle.is_empty(), "{idle:?}");
    }
}
