//! The identifiers of PVE, each checked once.
//!
//! A value of one of these types is well-formed; whether the thing exists is PVE's to say. Lenience towards callers
//! (a number sent as text) lives here and nowhere else.

mod kind;
mod name;
mod token;
mod vmid;

pub use kind::GuestKind;
pub use name::{DnsName, NodeName, PoolId, SnapName, StorageId};
pub use token::TokenId;
pub use vmid::Vmid;

/// Why a text or number is not an identifier: what was wrong and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdError(String);

impl IdError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[test]
    fn schemas_are_plain() {
        let schema = schemars::schema_for!(Vmid);
        assert_eq!(schema.get("type").unwrap(), "integer");
        assert!(Vmid::inline_schema() && SnapName::inline_schema() && GuestKind::inline_schema());
    }
}
