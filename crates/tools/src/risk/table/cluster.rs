//! Settings of the cluster: options, ACME, membership, realm sync jobs, metric servers, replication, CPU models, and
//! actions on many guests.

use pve::Method::{Delete, Get, Post, Put};

use crate::risk::row::{
    Finding, Properties, Row, Rule, UNSETS, by, found, is, on, properties, row, safe,
};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const OPTIONS: &[Rule] = &[
    is(
        &["http_proxy"],
        Grant,
        "sends the downloads of all nodes through a proxy that the caller names",
    ),
    is(
        &["u2f", "webauthn"],
        Grant,
        "changes which sites second factors are valid for",
    ),
    is(
        &["registered-tags", "user-tag-access"],
        Grant,
        "changes who may set which tags on guests",
    ),
    is(
        &["consent-text"],
        Grant,
        "shows a text of the caller to everyone before login",
    ),
    on(
        &["migration_unsecure"],
        Grant,
        "guests are migrated without encryption",
    ),
    properties(&["migration"], &MIGRATION),
    properties(&["replication"], &REPLICATION_OPTIONS),
    is(&["crs"], Disrupt, "HA may move guests to other nodes"),
    is(
        &["fencing", "ha"],
        Disrupt,
        "changes how HA recovers or moves guests when a node fails or shuts down",
    ),
    is(&["notify"], Disrupt, "people may no longer be notified"),
    safe(&[
        "bwlimit",
        "console",
        "description",
        "email_from",
        "keyboard",
        "language",
        "location",
        "mac_prefix",
        "max_workers",
        "next-id",
        "tag-style",
    ]),
];

const MIGRATION: Properties = Properties {
    default: Some("type"),
    keys: &[
        by(&["type"], transport),
        is(
            &["network"],
            Disrupt,
            "migrations fail if a node has no address in the network",
        ),
    ],
};

const REPLICATION_OPTIONS: Properties = Properties {
    default: Some("type"),
    keys: &[
        by(&["type"], transport),
        is(
            &["network"],
            Destroy,
            "replication fails if a node has no address in the network",
        ),
    ],
};

/// How nodes send guests' data to each other.
fn transport(kind: &str) -> Option<Finding> {
    match kind {
        "secure" => None,
        _ => found(
            Grant,
            "guests' data is sent between nodes without encryption",
        ),
    }
}

const ACME_ACCOUNT: &[Rule] = &[
    by(&["directory"], directory),
    is(
        &["eab-hmac-key", "eab-kid"],
        Grant,
        "gives the node a credential for the certificate authority",
    ),
    safe(&["contact", "name", "tos_url"]),
];

/// Directories that PVE itself offers.
const DIRECTORIES: &[&str] = &[
    "https://acme-v02.api.letsencrypt.org/directory",
    "https://acme-staging-v02.api.letsencrypt.org/directory",
];

/// The directory of a certificate authority.
fn directory(url: &str) -> Option<Finding> {
    if DIRECTORIES.contains(&url) {
        None
    } else {
        found(
            Grant,
            "certificates can come from an authority that the caller names",
        )
    }
}

const ACME_PLUGIN: &[Rule] = &[
    is(
        &["api", "data"],
        Grant,
        "runs a DNS plugin on the nodes, with credentials",
    ),
    safe(&["digest", "id", "type", "validation-delay"]),
];

const UNRENEWED: &str = "certificates may no longer be renewed";

const JOIN: &[Rule] = &[safe(&[
    "apiversion",
    "clustername",
    "fingerprint",
    "force",
    "hostname",
    "link[n]",
    "new_node_ip",
    "nodeid",
    "password",
    "token-coefficient",
    "votes",
])];

const REALM_SYNC: &[Rule] = &[safe(&[
    "comment",
    "enable-new",
    "enabled",
    "realm",
    "remove-vanished",
    "schedule",
    "scope",
])];

const METRIC_SERVER: &[Rule] = &[
    is(
        &[
            "api-path-prefix",
            "bucket",
            "influxdbproto",
            "organization",
            "otel-headers",
            "otel-path",
            "otel-protocol",
            "otel-resource-attributes",
            "otel-verify-ssl",
            "path",
            "port",
            "proto",
            "server",
            "token",
            "type",
            "verify-certificate",
        ],
        Grant,
        "changes where metrics and the credential for them are sent, or how",
    ),
    is(
        &["otel-timeout", "timeout"],
        Disrupt,
        "a long timeout delays the status of all guests",
    ),
    on(&["disable"], Disrupt, "metrics are no longer sent"),
    safe(&[
        "digest",
        "max-body-size",
        "mtu",
        "otel-compression",
        "otel-max-body-size",
    ]),
];

const NEW_REPLICATION: &[Rule] = &[
    is(
        &["remove_job"],
        Destroy,
        "removes the job and its snapshots, or the replicated volumes",
    ),
    safe(&[
        "comment", "disable", "id", "rate", "schedule", "source", "target", "type",
    ]),
];

const REPLICATION: &[Rule] = &[
    is(
        &["remove_job"],
        Destroy,
        "removes the job and its snapshots, or the replicated volumes",
    ),
    is(
        &["source"],
        Destroy,
        "can send the replication to another node",
    ),
    is(
        &["rate", "schedule"],
        Destroy,
        "replicas may be older when they are needed",
    ),
    on(&["disable"], Destroy, "the guest is no longer replicated"),
    safe(&["comment", "digest"]),
];

const CPU_MODEL: &[&str] = &[
    "flags",
    "guest-phys-bits",
    "hidden",
    "hv-vendor-id",
    "level",
    "phys-bits",
    "reported-model",
];

const MANY: &[Rule] = &[safe(&[
    "force-stop",
    "max-workers",
    "maxworkers",
    "online",
    "statestorage",
    "target",
    "timeout",
    "to-disk",
    "vms",
    "with-local-disks",
])];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Put, &["/cluster/options"], (Change, "changes options of the cluster"), &[OPTIONS, &[UNSETS]]),
    // ACME
    row(Get, &["/cluster/acme/meta", "/cluster/acme/tos"], (Change, "the node connects to a server that the caller names"), &[
        &[safe(&["directory"])],
    ]),
    row(Post, &["/cluster/acme/account"], (Change, "registers an account with a certificate authority"), &[ACME_ACCOUNT]),
    row(Put, &["/cluster/acme/account/{name}"], (Change, "changes the contact of an ACME account"), &[&[safe(&["contact"])]]),
    row(Delete, &["/cluster/acme/account/{name}"], (Destroy, "deactivates an ACME account: its certificates are no longer renewed"), &[]),
    row(Post, &["/cluster/acme/plugins"], (Change, "adds an ACME plugin"), &[ACME_PLUGIN, &[safe(&["disable", "nodes"])]]),
    row(Put, &["/cluster/acme/plugins/{id}"], (Change, "changes an ACME plugin"), &[
        ACME_PLUGIN, &[on(&["disable"], Disrupt, UNRENEWED), is(&["nodes"], Disrupt, UNRENEWED), UNSETS],
    ]),
    row(Delete, &["/cluster/acme/plugins/{id}"], (Destroy, "deletes an ACME plugin: certificates may no longer be renewed"), &[]),
    // Membership
    row(Post, &["/cluster/config"], (Grant, "makes the node the first one of a cluster that others can join"), &[JOIN]),
    row(Post, &["/cluster/config/join"], (Grant, "joins the node to another cluster, whose configuration replaces its own"), &[JOIN]),
    row(Post, &["/cluster/config/nodes/{node}"], (Grant, "adds a node to the cluster, with root access to all others"), &[JOIN]),
    row(Delete, &["/cluster/config/nodes/{node}"], (Destroy, "removes a node from the cluster"), &[]),
    // Realm sync jobs
    row(Post, &["/cluster/jobs/realm-sync/{id}"], (Grant, "creates and deletes users and groups by a schedule"), &[REALM_SYNC]).later(),
    row(Put, &["/cluster/jobs/realm-sync/{id}"], (Grant, "creates and deletes users and groups by a schedule"), &[REALM_SYNC, &[UNSETS]]).later(),
    row(Delete, &["/cluster/jobs/realm-sync/{id}"], (Grant, "users and groups that vanish from the realm keep their access"), &[]).later(),
    // Metric servers
    row(Post, &["/cluster/metrics/server/{id}"], (Grant, "sends metrics of all guests and nodes to a server that the caller names"), &[METRIC_SERVER]),
    row(Put, &["/cluster/metrics/server/{id}"], (Change, "changes a metric server"), &[METRIC_SERVER, &[UNSETS]]),
    row(Delete, &["/cluster/metrics/server/{id}"], (Destroy, "removes a metric server"), &[]),
    // Replication
    row(Post, &["/cluster/replication"], (Change, "replicates a guest to another node by a schedule"), &[NEW_REPLICATION]).later(),
    row(Put, &["/cluster/replication/{id}"], (Change, "changes a replication job"), &[REPLICATION, &[UNSETS]]).later(),
    row(Delete, &["/cluster/replication/{id}"], (Destroy, "removes a replication job, and the replica unless it is kept"), &[
        &[safe(&["force", "keep"])],
    ]),
    // CPU models
    row(Post, &["/cluster/qemu/custom-cpu-models"], (Change, "defines a CPU model"), &[&[safe(CPU_MODEL), safe(&["cputype"])]]),
    row(Put, &["/cluster/qemu/custom-cpu-models/{cputype}"], (Change, "changes a CPU model"), &[
        &[is(CPU_MODEL, Disrupt, "VMs with this CPU model can fail to start or to migrate"), safe(&["digest"]), UNSETS],
    ]),
    row(Delete, &["/cluster/qemu/custom-cpu-models/{cputype}"], (Destroy, "deletes a CPU model: VMs with it no longer start"), &[]),
    // Many guests
    row(Post, &["/cluster/bulk-action/guest/start"], (Change, "starts guests"), &[MANY]),
    row(Post, &["/cluster/bulk-action/guest/shutdown"], (Disrupt, "shuts guests down, all of them if none is named"), &[MANY]),
    row(Post, &["/cluster/bulk-action/guest/suspend"], (Disrupt, "suspends guests, all of them if none is named"), &[MANY]),
    row(Post, &["/cluster/bulk-action/guest/migrate"], (Disrupt, "migrates guests, all of them if none is named; containers restart"), &[MANY]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_directories_of_pve_are_trusted() {
        for known in DIRECTORIES {
            assert_eq!(directory(known), None, "{known}");
        }
        for other in [
            "",
            "http://acme-v02.api.letsencrypt.org/directory",
            "https://acme-v02.api.letsencrypt.org/directory/../x",
            "https://ca.example.org/",
        ] {
            assert_eq!(directory(other).map(|it| it.risk), Some(Grant), "{other}");
        }
    }

    #[test]
    fn only_secure_transport_is_harmless() {
        assert_eq!(transport("secure"), None);
        for other in ["insecure", "", "Secure"] {
            assert_eq!(transport(other).map(|it| it.risk), Some(Grant), "{other}");
        }
    }
}
