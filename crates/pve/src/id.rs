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

/// As much of a wrong identifier as an error repeats.
fn clip(text: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 64;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[test]
    fn error_repeats_the_beginning_of_a_long_text() {
        let long = "x".repeat(3_000_000);
        let errors = [
            long.parse::<Vmid>().map(drop),
            long.parse::<GuestKind>().map(drop),
            NodeName::new(&long).map(drop),
        ];
        for error in errors {
            assert!(error.unwrap_err().to_string().len() < 400);
        }
    }

    #[test]
    fn schemas_are_plain() {
        let schema = schemars::schema_for!(Vmid);
        assert_eq!(schema.get("type").unwrap(), "integer");
        assert!(Vmid::inline_schema() && SnapName::inline_schema() && GuestKind::inline_schema());
    }
}
