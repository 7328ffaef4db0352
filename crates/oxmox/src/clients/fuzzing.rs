//! The door of the editor of clients' files; see [`crate::fuzzing`].

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Value, json};

use super::document::{self, Room};

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
    let once = document::words(text, KEY, NAME);
    for room in [Room::None, Room::Object, Room::Servers] {
        let left = document::without(&entered, KEY, NAME, room).expect("what was written is read");
        assert_eq!(document::entry(&left, KEY, NAME), None);
        // In the entry that was there, too, such numbers may have been.
        if let Some(before) = others(text) {
            assert_eq!(others(&left), Some(before), "others' settings changed");
        }
    }
    if let Some(once) = once {
        let back = document::with_words(&entered, KEY, NAME, once);
        assert_eq!(back.as_deref(), Ok(text), "the words are those of before");
    }
}

/// What a file says besides oxmox; a list of servers that is not there says as much as an empty one. `None`: there are numbers in it
/// that only a text can hold.
fn others(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = parse_to_serde_value(text, &ParseOptions::default());
    let parsed: Option<Value> = parsed.ok()?;
    let mut all = parsed.unwrap_or_else(|| json!({}));
    if let Some(servers) = all.get_mut(KEY).and_then(Value::as_object_mut) {
        servers.shift_remove(NAME);
        if servers.is_empty() {
            all.as_object_mut().expect("it has a key").shift_remove(KEY);
        }
    }
    Some(all)
}
