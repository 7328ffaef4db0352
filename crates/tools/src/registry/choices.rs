//! What a person says about the tools that are offered, beside the toolsets.

/// The tools for any method of the API.
const RAW: [&str; 2] = ["read_proxmox_api", "write_proxmox_api"];

/// The choices of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// Whether the tools for any method of the API are offered.
    pub raw_api: bool,
    /// How many tools a search returns, if not as many as usual.
    pub found: Option<usize>,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            raw_api: true,
            found: None,
        }
    }
}

impl Choices {
    /// Whether the tool of this name is offered.
    pub fn allow(self, tool: &str) -> bool {
        self.raw_api || !RAW.contains(&tool)
    }
}
