//! How a text stands on its lines, so that what is added stands there in the same way.

use std::ops::Range;

use jsonc_parser::ast::Object;
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::Change;
use super::parsed::Parsed;

/// What a text is indented by if it does not show.
const USUAL: &str = "  ";

/// The blanks that may stand anywhere in JSON.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// What ends a line, and with it a comment: old files have the first alone.
pub(super) const LINE_ENDS: [char; 2] = ['\r', '\n'];

/// How a text stands on its lines.
pub(super) struct Layout<'a> {
    parsed: &'a Parsed<'a>,
    /// How its lines end.
    pub(super) end: &'static str,
    /// What each level is indented by.
    step: &'a str,
}

impl<'a> Layout<'a> {
    pub(super) fn of(parsed: &'a Parsed<'a>) -> Self {
        let text = parsed.text;
        let top = parsed.top().ok().flatten();
        let first = top.and_then(|top| top.properties.first());
        let step = first.and_then(|first| own_line(text, first.range.start));
        Self {
            parsed,
            end: match (text.contains('\r'), text.contains('\n')) {
                (true, true) if text.contains("\r\n") => "\r\n",
                (true, false) => "\r",
                _ => "\n",
            },
            step: step.filter(|step| !step.is_empty()).unwrap_or(USUAL),
        }
    }

    /// One level more.
    pub(super) fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.step)
    }

    /// The beginning of a new line.
    pub(super) fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.end)
    }

    /// How the line with this place is indented.
    pub(super) fn indent_at(&self, at: usize) -> String {
        let text = self.parsed.text;
        let line = text[..at].rfind(LINE_ENDS).map_or(0, |end| end + 1);
        let line = &text[line..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    }

    /// A value on several lines, of which the first is begun already.
    pub(super) fn value(&self, value: &Value, indent: &str) -> String {
        let mut text = Vec::new();
        let format = PrettyFormatter::with_indent(self.step.as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut text, format));
        match (written, String::from_utf8(text)) {
            // Within a string a line cannot end.
            (Ok(()), Ok(text)) => text.replace('\n', &self.line(indent)),
            _ => value.to_string(),
        }
    }

    /// What adds a property at the end of an object: on a line of its own, with the indentation that `words` is told, if the
    /// others stand so; else behind them.
    pub(super) fn added(
        &self,
        object: &Object<'_>,
        words: &dyn Fn(Option<&str>) -> String,
    ) -> Vec<Change> {
        let text = self.parsed.text;
        let (inside, end) = (object.range.start + 1, object.range.end - 1);
        let outer = self.indent_at(object.range.start);
        let at = text[inside..end].trim_end_matches(BLANKS).len() + inside;
        let Some(last) = object.properties.last() else {
            let indent = self.deeper(&outer);
            let new = format!("{}{}", self.line(&indent), words(Some(&indent)));
            return vec![(at..end, new + &self.line(&outer))];
        };
        let own = own_line(text, last.range.start);
        let is_one_line = own.is_none() && !text[last.range.end..end].contains(LINE_ENDS);
        let new = if is_one_line {
            format!(" {}", words(None))
        } else {
            let indent = own.map_or_else(|| self.deeper(&outer), str::to_owned);
            format!("{}{}", self.line(&indent), words(Some(&indent)))
        };
        match self.parsed.comma_after(last.range.end) {
            Some(_) => vec![(at..at, new + ",")],
            None => vec![
                (last.range.end..last.range.end, ",".to_owned()),
                (at..at, new),
            ],
        }
    }
}

/// The indentation of what stands first on its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let above = text[..at].rfind(LINE_ENDS)? + 1;
    let indent = &text[above..at];
    indent
        .trim_matches([' ', '\t'])
        .is_empty()
        .then_some(indent)
}

/// How long the end of a line is that a text begins with, blanks before it included.
pub(super) fn line_end(text: &str) -> usize {
    let rest = text.trim_start_matches([' ', '\t']);
    let blanks = text.len() - rest.len();
    match rest.as_bytes() {
        [b'\r', b'\n', ..] => blanks + 2,
        [b'\r' | b'\n', ..] => blanks + 1,
        _ => 0,
    }
}

/// A part of a text with the blanks that go with it. A comment up to the end of a line keeps that end.
pub(super) fn with_its_blanks(text: &str, part: Range<usize>) -> Range<usize> {
    let start = text[..part.start].trim_end_matches(BLANKS).len();
    let rest = &text[part.end..];
    let stands_alone = line_end(rest) > 0 || rest.trim_start_matches([' ', '\t']).is_empty();
    if stands_alone || !text[start..part.start].contains(LINE_ENDS) {
        return start..part.end;
    }
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    part.start..part.end + blanks
}
