//! The API as a cluster describes it: every node serves the schema of its own version at [`SCHEMA_PATH`].
//!
//! [`Schema::parse`] reads it, [`Schema::find`] gives the method behind a verb and a path, and [`Found::request`] checks
//! parameters as PVE will and makes the request. What the schema says is only ever read: a strange one loses entries, it
//! does not break anything.
//!
//! Patterns are kept for people to read and not checked: they are Perl's, and an engine for them would outweigh this crate.
//! PVE checks them itself.

mod check;
mod find;
mod format;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod method;
mod parameter;
mod parse;
mod permission;
mod property;
#[cfg(test)]
mod tests;

pub use check::{Problem, Wrong};
pub use find::{Found, NearMiss};
pub use method::{Method, Returns};
pub use parameter::{Format, Kind, Parameter};
pub use parse::SchemaError;
pub use permission::{Check, Permission};

/// Where a node serves the schema of its own API.
pub const SCHEMA_PATH: &str = "/pve-docs/api-viewer/apidoc.js";

/// All methods of one version of the API.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    methods: Vec<Method>,
}

impl Schema {
    /// Every method, in the order of the tree.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }
}
