//! What makes a text pass for something else than data, wherever it was let in.

use serde_json::Value;
use tools::words::MARK;

use super::corpus::CORPUS;

/// A line of the corpus by which it is known again; shorter ones could be anybody's.
const SHORTEST: usize = 6;
/// Longer ones are known by how they begin: what is shown may be cut.
const BEGINS: usize = 16;

/// What is wrong with something that was said: a text for reading.
pub(super) fn of_text(text: &str) -> Vec<String> {
    let mut wrong: Vec<String> = hidden(text).into_iter().collect();
    let lines = text.split('\n').filter_map(passes_for_ours);
    wrong.extend(lines.map(|line| format!("a line of its own: {line:?}")));
    wrong
}

/// What is wrong with data: a text may be any value in it, and no name.
pub(super) fn of_data(data: &Value) -> Vec<String> {
    match data {
        Value::String(text) => hidden(text).into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(of_data).collect(),
        Value::Object(fields) => {
            let names = fields
                .keys()
                .filter(|name| beginnings().any(|it| name.contains(&it)));
            let names = names.map(|name| format!("a name: {name:?}"));
            names.chain(fields.values().flat_map(of_data)).collect()
        }
        _ => Vec::new(),
    }
}

/// What is wrong with a text that tells what a guest showed: each line of that has to be there, set off, and nowhere without
/// what sets it off.
pub(super) fn not_set_off(text: &str, shown: &str) -> Vec<String> {
    let lines = shown.lines().filter(|line| !line.trim().is_empty());
    let wrong = lines.filter(|line| {
        let is_set_off = |it: &str| it.strip_prefix(MARK) == Some(line);
        !text.lines().any(is_set_off) || text.lines().any(|it| it.trim() == line.trim())
    });
    wrong.map(|line| format!("not set off: {line:?}")).collect()
}

/// The texts of the corpus, by number, that are told somewhere in data.
pub(super) fn told(data: &Value) -> Vec<usize> {
    let all = data.to_string();
    let known = |text: &str| {
        let lines = visible(text);
        let longest = lines.lines().map(str::trim).max_by_key(|line| line.len());
        let longest = longest.unwrap_or_default();
        let begins: String = longest.chars().take(BEGINS).collect();
        // What is shown may end where only blanks follow.
        let quoted = Value::from(begins.trim_end()).to_string();
        quoted.trim_matches('"').to_owned()
    };
    let numbered = CORPUS.iter().enumerate();
    let told = numbered.filter(|(_, (_, text))| all.contains(&known(text)));
    told.map(|(number, _)| number).collect()
}

/// Whether a text has something of the corpus in it.
pub(super) fn has_any(text: &str) -> bool {
    beginnings().any(|line| text.contains(&line))
}

/// The line, if it begins as one of the corpus does and is not set off.
fn passes_for_ours(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    // Items of a list, and numbered ones, are lines of ours too.
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = number.strip_prefix(". ").unwrap_or(bare);
    let bare = bare.strip_prefix("- ").unwrap_or(bare).trim_start();
    let is_known = beginnings().any(|begins| bare.starts_with(&begins));
    is_known.then_some(line)
}

/// How the lines of all texts begin, once nothing in them is hidden.
fn beginnings() -> impl Iterator<Item = String> {
    CORPUS.iter().flat_map(|(_, text)| {
        let text = visible(text);
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.trim().chars().take(BEGINS).collect::<String>())
            .map(|line| line.trim_end().to_owned())
            .filter(|line| line.chars().count() >= SHORTEST)
            .collect();
        lines
    })
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !hides(*c)).collect()
}

/// The first character that hides, reorders or acts.
fn hidden(text: &str) -> Option<String> {
    let found = text
        .chars()
        .find(|c| hides(*c) && !matches!(c, '\n' | '\t'))?;
    Some(format!("{found:?} is let through"))
}

/// Written down here anew, from Unicode's lists of control, format and ignorable characters, and not taken from what is
/// tested.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
            | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
            | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}
