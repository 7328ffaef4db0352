//! JSON with comments and trailing commas, edited in place: what is not ours keeps its words, its order and its comments, its
//! line ends, the mark that it begins with, and the lines that it stands on.

mod layout;
mod parsed;

use std::ops::Range;

use serde_json::Value;

use layout::Layout;
use parsed::{Parsed, is_empty};

/// What some editors put before a text to say that it is UTF-8.
const MARK: char = '\u{feff}';

/// Something else in the place of a part of a text.
type Change = (Range<usize>, String);

/// How much of the way to an entry is there already: the rest has to be made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Room {
    /// Not even an object.
    None,
    /// An object without the key of the servers.
    Object,
    /// The servers.
    Servers,
}

/// A text with this entry among its servers. Says what is in the way if there is no room for it.
pub(super) fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<String, String> {
    let parsed = Parsed::new(unmarked(text), key, name)?;
    if parsed.entry().is_some_and(|known| known == *entry) {
        return Ok(text.to_owned());
    }
    placed(text, &parsed, Words::Value(entry))
}

/// The same with an entry in the words in which it stood there once.
pub(super) fn with_words(text: &str, key: &str, name: &str, words: &str) -> Result<String, String> {
    let parsed = Parsed::new(unmarked(text), key, name)?;
    placed(text, &parsed, Words::Literal(words))
}

/// An entry to write.
#[derive(Clone, Copy)]
enum Words<'a> {
    Value(&'a Value),
    Literal(&'a str),
}

fn placed(text: &str, parsed: &Parsed<'_>, words: Words<'_>) -> Result<String, String> {
    let layout = Layout::of(parsed);
    let in_lines = |indent: &str| match words {
        Words::Value(value) => layout.value(value, indent),
        Words::Literal(words) => words.to_owned(),
    };
    let in_one = || match words {
        Words::Value(value) => value.to_string(),
        Words::Literal(words) => words.to_owned(),
    };
    let (key, name) = (quoted(parsed.key), quoted(parsed.name));
    let below = |indent: &str| {
        let own = layout.deeper(indent);
        let end = layout.line(indent);
        format!("{{{}{name}: {}{end}}}", layout.line(&own), in_lines(&own))
    };
    let changes = match (parsed.top()?, parsed.servers()?, parsed.place()) {
        (_, _, Some(place)) => {
            let indent = layout.indent_at(place.start);
            vec![(place, in_lines(&indent))]
        }
        (_, Some(servers), None) => layout.added(servers, &|indent| match indent {
            Some(indent) => format!("{name}: {}", in_lines(indent)),
            None => format!("{name}: {}", in_one()),
        }),
        (Some(top), None, None) => layout.added(top, &|indent| match indent {
            Some(indent) => format!("{key}: {}", below(indent)),
            None => format!("{key}: {{{name}: {}}}", in_one()),
        }),
        (None, None, None) => {
            let above = parsed.text.trim_end();
            let first = if above.is_empty() { "" } else { layout.end };
            let (indent, end) = (layout.deeper(""), layout.end);
            let whole = format!(
                "{first}{{{end}{indent}{key}: {}{end}}}{end}",
                below(&indent)
            );
            vec![(above.len()..parsed.text.len(), whole)]
        }
    };
    Ok(marked_as(text, &changed(parsed.text, changes)))
}

/// A text without this entry, and without what was made for it where nothing else came into that.
pub(super) fn without(text: &str, key: &str, name: &str, room: Room) -> Result<String, String> {
    let mut text = text.to_owned();
    let parsed = Parsed::new(unmarked(&text), key, name)?;
    let Some(entry) = parsed.servers()?.and_then(|it| parsed.removed(it, name)) else {
        return Ok(text);
    };
    text = marked_as(&text, &changed(parsed.text, entry));
    if room < Room::Servers {
        let parsed = Parsed::new(unmarked(&text), key, name)?;
        if let (Some(top), Some(servers)) = (parsed.top()?, parsed.servers()?)
            && is_empty(servers, parsed.text)
            && let Some(servers) = parsed.removed(top, key)
        {
            text = marked_as(&text, &changed(parsed.text, servers));
        }
    }
    if room < Room::Object {
        let parsed = Parsed::new(unmarked(&text), key, name)?;
        if let Some(top) = parsed.top()?
            && is_empty(top, parsed.text)
        {
            let mut end = top.range.end;
            if parsed.text[..top.range.start].ends_with(layout::LINE_ENDS) || top.range.start == 0 {
                end += layout::line_end(&parsed.text[end..]);
            }
            let gone = vec![(top.range.start..end, String::new())];
            text = marked_as(&text, &changed(parsed.text, gone));
        }
    }
    Ok(text)
}

/// How much of the way to an entry is there.
pub(super) fn room(text: &str, key: &str, name: &str) -> Result<Room, String> {
    let parsed = Parsed::new(unmarked(text), key, name)?;
    Ok(match (parsed.top()?, parsed.servers()?) {
        (None, _) => Room::None,
        (Some(_), None) => Room::Object,
        (Some(_), Some(_)) => Room::Servers,
    })
}

/// Whether there is nothing in it.
pub(super) fn is_blank(text: &str) -> bool {
    unmarked(text).trim().is_empty()
}

/// An entry, if it is there.
pub(super) fn entry(text: &str, key: &str, name: &str) -> Option<Value> {
    Parsed::new(unmarked(text), key, name).ok()?.entry()
}

/// The same in the words in which it stands there.
pub(super) fn words<'a>(text: &'a str, key: &str, name: &str) -> Option<&'a str> {
    let text = unmarked(text);
    text.get(Parsed::new(text, key, name).ok()?.place()?)
}

fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// A text with the mark of another.
fn marked_as(other: &str, text: &str) -> String {
    let mark = if other.starts_with(MARK) {
        "\u{feff}"
    } else {
        ""
    };
    format!("{mark}{text}")
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text after these changes, which stand in order and apart.
fn changed(text: &str, changes: Vec<Change>) -> String {
    let mut after = String::with_capacity(text.len() + 512);
    let mut at = 0;
    for (range, words) in changes {
        after.push_str(&text[at..range.start]);
        after.push_str(&words);
        at = range.end;
    }
    after + &text[at..]
}
