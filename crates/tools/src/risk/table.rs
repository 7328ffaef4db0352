//! The reviewed table: what each method of PVE 8.4 to 9.2, and each parameter of it, can do. A method, a parameter or a
//! key of a property string that it does not name is a grant.

mod access;
mod backup;
mod ceph;
mod cluster;
mod container;
mod disks;
mod firewall;
mod guest;
mod ha;
mod mapping;
mod node;
mod notifications;
mod pools;
mod sdn;
mod storage;
mod vm;

use pve::Method;

use super::path::ApiPath;
use super::row::Row;

const TABLE: &[&[Row]] = &[
    access::ROWS,
    backup::ROWS,
    ceph::ROWS,
    cluster::ROWS,
    disks::ROWS,
    firewall::ROWS,
    guest::ROWS,
    ha::ROWS,
    mapping::ROWS,
    node::ROWS,
    notifications::ROWS,
    pools::ROWS,
    sdn::ROWS,
    storage::ROWS,
];

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|rows| rows.iter())
}

/// The row of a method, and the parts of its path. A literal part of a template goes before a place that takes anything.
pub(crate) fn find(verb: Method, path: &str) -> Option<(&'static Row, ApiPath)> {
    let of_verb = rows().filter(|row| row.verb == verb);
    let fits = of_verb.flat_map(|row| {
        let paths = row.paths.iter();
        paths.filter_map(move |template| Some((row, ApiPath::fit(template, path)?)))
    });
    fits.min_by_key(|(_, path)| path.template.matches('{').count())
}
