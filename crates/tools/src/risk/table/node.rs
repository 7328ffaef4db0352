//! Nodes: packages, certificates, configuration, network, services, power, shells, servers that they connect to.

use pve::Method::{Delete, Get, Post, Put};

use crate::risk::row::{Row, Rule, UNSETS, is, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const CONFIG: &[Rule] = &[
    is(
        &["acme", "acmedomain[n]"],
        Grant,
        "changes which names the node orders certificates for",
    ),
    is(
        &["ballooning-target"],
        Disrupt,
        "takes memory from running VMs",
    ),
    safe(&[
        "description",
        "digest",
        "location",
        "startall-onboot-delay",
        "wakeonlan",
    ]),
];

/// The settings of an interface, pending until they are applied.
const INTERFACE: &[Rule] = &[
    is(
        &["ovs_options"],
        Grant,
        "passes options to Open vSwitch unchecked, which can open it to others",
    ),
    safe(&[
        "bridge_ports",
        "bridge_vids",
        "comments",
        "comments6",
        "ovs_bonds",
        "ovs_ports",
        "slaves",
        "address",
        "address6",
        "autostart",
        "bond-primary",
        "bond_mode",
        "bond_xmit_hash_policy",
        "bridge_vlan_aware",
        "cidr",
        "cidr6",
        "gateway",
        "gateway6",
        "iface",
        "mtu",
        "netmask",
        "netmask6",
        "ovs_bridge",
        "ovs_tag",
        "type",
        "vlan-id",
        "vlan-raw-device",
    ]),
];

const MANY: &[Rule] = &[safe(&[
    "force",
    "force-stop",
    "max-workers",
    "maxworkers",
    "target",
    "timeout",
    "vms",
    "with-local-disks",
])];

const ASKS: &str = "the node connects to a server that the caller names";

const SHELL: &[Rule] = &[safe(&[
    "cmd",
    "cmd-opts",
    "height",
    "proxy",
    "websocket",
    "width",
])];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Servers that the node connects to
    row(Get, &[
        "/nodes/{node}/scan/cifs",
        "/nodes/{node}/scan/glusterfs",
        "/nodes/{node}/scan/iscsi",
        "/nodes/{node}/scan/nfs",
        "/nodes/{node}/scan/pbs",
    ], (Change, ASKS), &[&[safe(&["domain", "fingerprint", "password", "port", "portal", "server", "username"])]]),
    row(Get, &["/nodes/{node}/query-url-metadata"], (Change, ASKS), &[&[safe(&["url", "verify-certificates"])]]),
    row(Get, &["/nodes/{node}/query-oci-repo-tags"], (Change, ASKS), &[&[safe(&["reference"])]]),
    row(Get, &["/nodes/{node}/apt/changelog"], (Change, "the node downloads a changelog"), &[&[safe(&["name", "version"])]]),
    // Packages and templates
    row(Post, &["/nodes/{node}/aplinfo"], (Change, "downloads a container template"), &[&[safe(&["storage", "template"])]]),
    row(Post, &["/nodes/{node}/apt/repositories"], (Grant, "changes where the node's software comes from"), &[
        &[safe(&["digest", "enabled", "index", "path"])],
    ]),
    row(Put, &["/nodes/{node}/apt/repositories"], (Grant, "changes where the node's software comes from"), &[
        &[safe(&["digest", "handle"])],
    ]),
    row(Post, &["/nodes/{node}/apt/update"], (Change, "downloads the lists of packages; installs nothing"), &[
        &[safe(&["notify", "quiet"])],
    ]),
    row(Post, &["/nodes/{node}/subscription"], (Change, "checks the subscription"), &[&[safe(&["force"])]]),
    row(Put, &["/nodes/{node}/subscription"], (Change, "sets the subscription key"), &[&[safe(&["key"])]]),
    row(Delete, &["/nodes/{node}/subscription"], (Destroy, "removes the subscription key"), &[]),
    // Certificates
    row(Post, &["/nodes/{node}/certificates/acme/certificate"], (Disrupt, "replaces the node's certificate and restarts its web server"), &[
        &[on(&["force"], Destroy, "overwrites a custom certificate")],
    ]),
    row(Put, &["/nodes/{node}/certificates/acme/certificate"], (Disrupt, "replaces the node's certificate and restarts its web server"), &[
        &[safe(&["force"])],
    ]),
    row(Delete, &["/nodes/{node}/certificates/acme/certificate"], (Destroy, "revokes the node's certificate"), &[]),
    row(Post, &["/nodes/{node}/certificates/custom"], (Grant, "the node's web server uses a certificate and key of the caller"), &[
        &[safe(&["certificates", "force", "key", "restart"])],
    ]),
    row(Delete, &["/nodes/{node}/certificates/custom"], (Destroy, "deletes the node's certificate and key"), &[&[safe(&["restart"])]]),
    // Configuration
    row(Put, &["/nodes/{node}/config"], (Change, "changes the configuration of the node"), &[CONFIG, &[UNSETS]]),
    row(Put, &["/nodes/{node}/dns"], (Grant, "changes which DNS servers the node asks"), &[
        &[safe(&["dns1", "dns2", "dns3", "search"])],
    ]),
    row(Post, &["/nodes/{node}/hosts"], (Grant, "changes which addresses the node takes for which hosts"), &[
        &[safe(&["data", "digest"])],
    ]),
    row(Put, &["/nodes/{node}/time"], (Disrupt, "changes the time zone, and with it when scheduled jobs run"), &[
        &[safe(&["timezone"])],
    ]),
    // Network
    row(Post, &["/nodes/{node}/network"], (Change, "adds an interface, pending"), &[INTERFACE]),
    row(Put, &["/nodes/{node}/network/{iface}"], (Change, "changes an interface, pending"), &[INTERFACE, &[UNSETS]]),
    row(Delete, &["/nodes/{node}/network/{iface}"], (Destroy, "removes an interface, pending"), &[]),
    row(Put, &["/nodes/{node}/network"], (Disrupt, "applies the pending changes: guests and the node can be cut off"), &[
        &[safe(&["regenerate-frr"])],
    ]),
    row(Delete, &["/nodes/{node}/network"], (Destroy, "discards the pending changes of the network"), &[]),
    // Services, tasks, power
    row(Post, &["/nodes/{node}/services/{service}/start"], (Change, "starts a service of the node"), &[]),
    row(Post, &[
        "/nodes/{node}/services/{service}/reload",
        "/nodes/{node}/services/{service}/restart",
        "/nodes/{node}/services/{service}/stop",
    ], (Disrupt, "interrupts a service of the node"), &[]),
    row(Delete, &["/nodes/{node}/tasks/{upid}"], (Disrupt, "stops a running task"), &[]),
    row(Post, &["/nodes/{node}/replication/{id}/schedule_now"], (Change, "replicates a guest now"), &[]),
    row(Post, &["/nodes/{node}/startall"], (Change, "starts guests of the node"), &[MANY]),
    row(Post, &["/nodes/{node}/stopall"], (Disrupt, "stops guests of the node, all of them if none is named"), &[MANY]),
    row(Post, &["/nodes/{node}/suspendall"], (Disrupt, "suspends VMs of the node, all of them if none is named"), &[MANY]),
    row(Post, &["/nodes/{node}/migrateall"], (Disrupt, "migrates guests of the node, all of them if none is named; containers restart"), &[MANY]),
    row(Post, &["/nodes/{node}/status"], (Disrupt, "stops or restarts the node and every guest on it"), &[&[safe(&["command"])]]),
    row(Post, &["/nodes/{node}/wakeonlan"], (Change, "switches the node on"), &[]),
    // Shells
    row(Post, &["/nodes/{node}/execute"], (Grant, "runs any number of other requests"), &[&[safe(&["commands"])]]),
    row(Post, &["/nodes/{node}/spiceshell", "/nodes/{node}/termproxy", "/nodes/{node}/vncshell"], (Grant, "opens a shell on the node"), &[SHELL]),
    row(Get, &["/nodes/{node}/vncwebsocket"], (Grant, "connects to a shell on the node"), &[&[safe(&["port", "vncticket"])]]),
];
