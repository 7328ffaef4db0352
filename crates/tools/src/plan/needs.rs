//! Which privileges a plan takes, as an and/or tree over PVE's paths.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A privilege tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Any login will do.
    Nothing,
    /// This privilege on this path.
    Has {
        /// `VM.Clone`
        privilege: String,
        /// `/vms/105`
        path: String,
    },
    /// Each of these.
    All(Vec<Needs>),
    /// At least one of these.
    Any(Vec<Needs>),
}

impl Needs {
    /// One privilege on one path.
    pub fn on(path: impl Into<String>, privilege: &str) -> Self {
        Self::Has {
            privilege: privilege.to_owned(),
            path: path.into(),
        }
    }

    /// Every path that occurs in it.
    pub fn paths(&self) -> BTreeSet<&str> {
        match self {
            Self::Nothing => BTreeSet::new(),
            Self::Has { path, .. } => BTreeSet::from([path.as_str()]),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::paths).collect(),
        }
    }

    /// What is lacking, in words, if `has(path, privilege)` is all there is. Empty: nothing.
    pub fn missing(&self, has: &impl Fn(&str, &str) -> bool) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Has { privilege, path } if has(path, privilege) => Vec::new(),
            Self::Has { privilege, path } => vec![format!("{privilege} on {path}")],
            Self::All(parts) => parts.iter().flat_map(|part| part.missing(has)).collect(),
            Self::Any(parts) => {
                let lacks: Vec<_> = parts.iter().map(|part| part.missing(has)).collect();
                if lacks.is_empty() || lacks.iter().any(Vec::is_empty) {
                    return Vec::new();
                }
                vec![
                    lacks
                        .iter()
                        .map(|lack| lack.join(" and "))
                        .collect::<Vec<_>>()
                        .join(", or "),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Needs {
        Needs::All(vec![
            Needs::on("/vms/105", "VM.Clone"),
            Needs::Any(vec![
                Needs::on("/vms/300", "VM.Allocate"),
                Needs::on("/pool/lab", "VM.Allocate"),
            ]),
        ])
    }

    #[test]
    fn names_what_is_missing() {
        assert_eq!(
            tree().missing(&|_, _| false),
            [
                "VM.Clone on /vms/105",
                "VM.Allocate on /vms/300, or VM.Allocate on /pool/lab"
            ]
        );
    }

    #[test]
    fn one_alternative_is_enough() {
        assert!(tree().missing(&|path, _| path != "/vms/300").is_empty());
    }

    #[test]
    fn knows_its_paths() {
        assert_eq!(
            tree().paths().into_iter().collect::<Vec<_>>(),
            ["/pool/lab", "/vms/105", "/vms/300"]
        );
    }
}
