//! `/cluster/sdn`: virtual networks. Changes are configured here and run once they are applied.

mod change;
mod show;
mod subnets;
mod tables;

pub use tables::ROUTES;

use crate::error::ApiError;
use crate::world::{Section, Sections};

/// Takes options that a type does not know, and the lack of those that it needs.
///
/// # Errors
/// 500 naming the first.
fn check_options(section: &Section, known: &[&str], needed: &[&str]) -> Result<(), ApiError> {
    let mut names = section.props.keys().map(String::as_str);
    if let Some(name) = names.find(|name| !known.contains(name) && !needed.contains(name)) {
        return Err(ApiError::fail(format!("unexpected property '{name}'")));
    }
    let mut missing = needed
        .iter()
        .filter(|name| !section.props.contains_key(**name));
    match missing.next() {
        Some(name) => Err(ApiError::fail(format!(
            "missing value for required option '{name}'"
        ))),
        None => Ok(()),
    }
}

fn missing(id: &str) -> ApiError {
    ApiError::fail(format!("sdn '{id}' does not exist"))
}

/// The path of a network's rights.
fn path_of(id: &str, vnet: &Section) -> String {
    let zone = vnet.props.get("zone").map_or("", String::as_str);
    format!("/sdn/zones/{zone}/{id}")
}

/// The subnets of a network.
fn subnets_of<'a>(
    subnets: &'a Sections,
    vnet: &str,
) -> impl Iterator<Item = (&'a String, &'a Section)> {
    let vnet = vnet.to_owned();
    subnets
        .iter()
        .filter(move |(_, subnet)| subnet.props.get("vnet") == Some(&vnet))
}
