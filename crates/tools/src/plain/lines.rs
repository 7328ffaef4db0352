//! Lines of text, such as a log's.

use pve::lenient::as_text;
use serde_json::{Value, json};

use super::shown::{ROOM, Shown, VALUE, leave_out, nothing};
use crate::tool::Object;
use crate::words;

/// The end of a log is what matters most, unless it is read in pages from its start.
pub(super) fn lines_shown(lines: &[Value], from_start: bool) -> Shown {
    if lines.is_empty() {
        return nothing("lines", json!([]));
    }
    let texts: Vec<String> = lines
        .iter()
        .filter_map(|line| as_text(line.get("t").unwrap_or(line)))
        .map(|line| words::clip(&crate::clean::line_without_secret(&line), VALUE))
        .collect();
    let mut room = ROOM;
    let fits = |line: &&String| {
        let left = room.checked_sub(2 * line.len() + 6);
        room = left.unwrap_or(room);
        left.is_some()
    };
    let seen = if from_start {
        &texts[..texts.iter().take_while(fits).count()]
    } else {
        &texts[texts.len() - texts.iter().rev().take_while(fits).count()..]
    };
    let kept = seen.len();
    let mut shown = Shown {
        text: words::each_set_off(seen),
        data: Object::from_iter([("lines".to_owned(), json!(seen))]),
        empty: false,
    };
    leave_out(&mut shown, texts.len() - kept);
    shown
}
