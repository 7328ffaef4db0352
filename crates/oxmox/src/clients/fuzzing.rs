//! The door of the editor of clients' files; see [`crate::fuzzing`].

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::{Value, json};

use super::document;

const KEY: &str = "mcpServers";
const NAME: &str = "oxmox";

pub(crate) fn client_file(text: &str) {
    let ours = json!({ "command": "oxmox", "args": [] });
    let Ok(entered) = document::with(text, KEY, NAME, &ours) else {
        return;
    };
    assert_eq!(document::entry(&entered, KEY, NAME), Some(ours.clone()));
    assert_eq!(
        document::with(&entered, KEY, NAME, &ours).as_ref(),
        Ok(&entered)
    );
    let left = document::without(&entered, KEY, NAME).expect("what was written is read");
    assert_eq!(document::entry(&left, KEY, NAME), None);
    assert_eq!(others(&left), others(text), "others' settings changed");
}

/// What a file says besides oxmox; a list of servers that is not there says as much as an empty one.
fn others(text: &str) -> Value {
    let parsed = CstRootNode::parse(text, &ParseOptions::default()).expect("it was read");
    let mut all = parsed.to_serde_value().unwrap_or_else(|| json!({}));
    if let Some(servers) = all.get_mut(KEY).and_then(Value::as_object_mut) {
        servers.shift_remove(NAME);
        if servers.is_empty() {
            all.as_object_mut().expect("it has a key").shift_remove(KEY);
        }
    }
    all
}
