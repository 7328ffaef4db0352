//! What a recording leaves out: credentials behind placeholders, steps that were not recorded, and the differences that
//! are accepted, each with its reason. A TOML file beside the test.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole file. All keys are ids of exchanges.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What happens before an exchange.
    #[serde(default)]
    pub before: BTreeMap<String, Vec<Action>>,
    /// How a request differs from the one that can be built from the recording.
    #[serde(default)]
    pub request: BTreeMap<String, Override>,
    /// Differences that are accepted, with the reason.
    #[serde(default)]
    pub accept: BTreeMap<String, String>,
}

/// A step between two exchanges.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Starts a guest at once.
    Start(u32),
    /// Stops a guest at once.
    Stop(u32),
    /// Puts a lock on a guest's config.
    Lock {
        /// The guest.
        vmid: u32,
        /// `backup`, ...
        lock: String,
    },
    /// Takes the lock off a guest's config.
    Unlock(u32),
    /// Moves a guest to a node.
    Move {
        /// The guest.
        vmid: u32,
        /// Where to.
        node: String,
    },
    /// Takes a node off the network.
    Down(String),
    /// Brings a node back.
    Up(String),
    /// Lets seconds pass.
    Advance(u64),
    /// Creates a user without any rights.
    User(String),
    /// Gives a user or token privileges on a path; creates a token if it is unknown.
    Grant {
        /// `erin@pve!t`.
        who: String,
        /// The path.
        path: String,
        /// The privileges.
        privs: Vec<String>,
    },
    /// Opens a console as `root@pam`'s token, and leaves it waiting.
    Console {
        /// The path of the call.
        path: String,
        /// The recorded port that later steps know it by.
        port: String,
    },
    /// Calls the API as `root@pam`, and lets the task that this starts run to its end.
    Call {
        /// The method.
        method: String,
        /// The path.
        path: String,
        /// The parameters.
        #[serde(default)]
        form: BTreeMap<String, String>,
        /// The recorded UPID that later steps know the task by.
        upid: Option<String>,
    },
}

/// Changes to one request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Headers in place of the credentials. `$ticket` and `$csrf` stand for root's, `$secret` for the root token's.
    pub headers: Option<BTreeMap<String, String>>,
    /// Form values in place of recorded placeholders.
    #[serde(default)]
    pub form: BTreeMap<String, String>,
}

/// Reads a script.
///
/// # Errors
/// When the text is not one.
pub fn parse(text: &str) -> Result<Script, toml::de::Error> {
    toml::from_str(text)
}
