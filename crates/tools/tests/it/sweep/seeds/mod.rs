//! Tools that carry the names of another server's send what that server sends and take what it takes, or differ for a reason
//! that stands here. The other server's tools are reference data beside the repository; without them these tests say so and
//! check nothing.

mod arguments;
mod homelab;
mod left_out;
mod requests;

use std::collections::BTreeSet;

use serde_json::Value;

/// A tool of the other server.
struct Seed {
    name: String,
    arguments: Vec<Argument>,
    /// Method, path and parameters of each request that it sends.
    requests: Vec<(String, String, BTreeSet<String>)>,
}

/// What it takes.
struct Argument {
    name: String,
    kind: String,
    /// What it takes for one that is left out; none for one that cannot be.
    default: Option<Value>,
}

impl Argument {
    /// Whether its default only says that nothing was sent.
    fn is_blank(&self) -> bool {
        let blanks = [Value::Null, "".into(), 0.into(), (-1).into()];
        self.default.as_ref().is_some_and(|it| blanks.contains(it))
    }
}

fn seeds() -> Option<Vec<Seed>> {
    let tools = crate::schemas::read("seeds/proxmox-mcp-tools.json")?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let request = |request: &Value| {
        let params = request["params"].as_array().unwrap().iter().map(word);
        (
            word(&request["method"]),
            word(&request["path"]),
            params.collect(),
        )
    };
    let argument = |argument: &Value| Argument {
        name: word(&argument["name"]),
        kind: word(&argument["type"]),
        default: (argument["required"] == false).then(|| argument["default"].clone()),
    };
    let each = |value: &Value| value.as_array().cloned().unwrap();
    let seed = |tool: &Value| Seed {
        name: word(&tool["tool"]),
        arguments: each(&tool["arguments"]).iter().map(argument).collect(),
        requests: each(&tool["requests"]).iter().map(request).collect(),
    };
    Some(tools.iter().map(seed).collect())
}

/// Templates are the same whatever their parameters are called.
fn shape(path: &str) -> String {
    path.split('/')
        .map(|part| if part.starts_with('{') { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}
