//! Ceph, of a node and of the cluster.

use pve::Method::{Delete, Post, Put};

use crate::risk::property::flag;
use crate::risk::row::{Finding, Params, Row, Rule, found, is, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

const STORES: &str = "defines a storage for all nodes";

const NEW_POOL: &[Rule] = &[safe(&[
    "add_storages",
    "application",
    "crush_rule",
    "erasure-coding",
    "min_size",
    "name",
    "pg_autoscale_mode",
    "pg_num",
    "pg_num_min",
    "size",
    "target_size",
    "target_size_ratio",
])];

const POOL: &[Rule] = &[
    is(
        &["crush_rule", "min_size", "size"],
        Destroy,
        "changes how many copies of the data there are, and where",
    ),
    is(
        &[
            "application",
            "pg_autoscale_mode",
            "pg_num",
            "pg_num_min",
            "target_size",
            "target_size_ratio",
        ],
        Disrupt,
        "Ceph moves data, which slows guests down",
    ),
];

/// A new pool. PVE defines a storage on an erasure-coded one unless it is told not to.
fn defines_storage(params: &Params<'_>) -> Option<Finding> {
    let adds = match params.text("add_storages") {
        Some(text) => flag(text) != Some(false),
        None => params.text("erasure-coding").is_some(),
    };
    if adds { found(Grant, STORES) } else { None }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/nodes/{node}/ceph/init"], (Change, "creates the configuration of Ceph"), &[&[
        on(&["disable_cephx"], Grant, "switches off Ceph's authentication"),
        is(&["cluster-network", "network"], Disrupt, "changes the networks of Ceph, also of one that is in use"),
        safe(&["min_size", "pg_bits", "size"]),
    ]]),
    row(Post, &["/nodes/{node}/ceph/fs/{name}"], (Change, "creates a file system with its pools"), &[
        &[on(&["add-storage"], Grant, STORES), safe(&["pg_num"])],
    ]),
    row(Delete, &["/nodes/{node}/ceph/fs/{name}"], (Destroy, "deletes a file system with its data"), &[
        &[safe(&["remove-pools", "remove-storages"])],
    ]),
    row(Post, &["/nodes/{node}/ceph/mds/{name}"], (Change, "creates a metadata server"), &[&[safe(&["hotstandby"])]]),
    row(Post, &["/nodes/{node}/ceph/mgr/{id}"], (Change, "creates a manager"), &[]),
    row(Post, &["/nodes/{node}/ceph/mon/{monid}"], (Change, "creates a monitor"), &[&[safe(&["mon-address"])]]),
    row(Delete, &["/nodes/{node}/ceph/mds/{name}"], (Destroy, "deletes a metadata server"), &[]),
    row(Delete, &["/nodes/{node}/ceph/mgr/{id}"], (Destroy, "deletes a manager"), &[]),
    row(Delete, &["/nodes/{node}/ceph/mon/{monid}"], (Destroy, "deletes a monitor; Ceph stops if too few are left"), &[]),
    row(Post, &["/nodes/{node}/ceph/osd"], (Destroy, "formats disks: everything on them is lost"), &[&[safe(&[
        "crush-device-class", "db_dev", "db_dev_size", "dev", "encrypted", "osds-per-device", "wal_dev", "wal_dev_size",
    ])]]),
    row(Delete, &["/nodes/{node}/ceph/osd/{osdid}"], (Destroy, "deletes an OSD with the copies on it"), &[&[safe(&["cleanup"])]]),
    row(Post, &["/nodes/{node}/ceph/osd/{osdid}/in", "/nodes/{node}/ceph/osd/{osdid}/out"],
        (Disrupt, "Ceph moves data, which slows guests down"), &[]),
    row(Post, &["/nodes/{node}/ceph/osd/{osdid}/scrub"], (Change, "checks the data of an OSD"), &[&[safe(&["deep"])]]),
    row(Post, &["/nodes/{node}/ceph/pool"], (Change, "creates a pool"), &[NEW_POOL]).whole(defines_storage),
    row(Put, &["/nodes/{node}/ceph/pool/{name}"], (Change, "changes a pool"), &[POOL]),
    row(Delete, &["/nodes/{node}/ceph/pool/{name}"], (Destroy, "deletes a pool with everything in it"), &[
        &[safe(&["force", "remove_ecprofile", "remove_storages"])],
    ]),
    row(Post, &["/nodes/{node}/ceph/start"], (Change, "starts Ceph services"), &[&[safe(&["service"])]]),
    row(Post, &["/nodes/{node}/ceph/restart", "/nodes/{node}/ceph/stop"],
        (Disrupt, "stops Ceph services of the node, all of them if none is named"), &[&[safe(&["service"])]]),
    row(Put, &["/cluster/ceph/flags"], (Disrupt, "can stop Ceph's I/O, recovery or checks"), &[&[safe(&[
        "nobackfill", "nodeep-scrub", "nodown", "noin", "noout", "norebalance", "norecover", "noscrub", "notieragent",
        "noup", "pause",
    ])]]),
    row(Put, &["/cluster/ceph/flags/{flag}"], (Disrupt, "can stop Ceph's I/O, recovery or checks"), &[&[safe(&["value"])]]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(params: &[(&str, &str)]) -> Option<crate::spec::Risk> {
        let sent: Vec<_> = params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        defines_storage(&Params(&sent)).map(|it| it.risk)
    }

    #[test]
    fn pool_gets_a_storage_if_asked_for_or_erasure_coded() {
        let coded = ("erasure-coding", "k=2,m=1");
        assert_eq!(of(&[("name", "x")]), None);
        assert_eq!(of(&[("add_storages", "0"), coded]), None);
        for adds in [
            &[("add_storages", "1")][..],
            &[("add_storages", "")],
            &[coded],
            &[("add_storages", "yes"), coded],
        ] {
            assert_eq!(of(adds), Some(Grant), "{adds:?}");
        }
    }
}
