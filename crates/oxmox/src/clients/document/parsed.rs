//! Where things stand in a text: everything is found in one pass, so that a long file costs no more than its length.

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::{Change, layout};

/// A text, and where an entry of this name below this key would be.
pub(super) struct Parsed<'a> {
    pub(super) text: &'a str,
    pub(super) key: &'a str,
    pub(super) name: &'a str,
    value: Option<ast::Value<'a>>,
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Parsed<'a> {
    /// What clients read: JSON with comments and trailing commas, and nothing looser. What counts of two entries of one name
    /// each client decides for itself, so that neither can be changed for all of them.
    pub(super) fn new(text: &'a str, key: &'a str, name: &'a str) -> Result<Self, String> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_loose_object_property_names: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collected = CollectOptions {
            comments: CommentCollectionStrategy::Off,
            tokens: true,
        };
        let placed = parse_to_ast(text, &collected, &options);
        let placed = placed.map_err(|error| error.to_string())?;
        let parsed = Self {
            text,
            key,
            name,
            value: placed.value,
            tokens: placed.tokens.unwrap_or_default(),
        };
        if let Some(ast::Value::Object(top)) = &parsed.value
            && let Some(ast::Value::Object(servers)) = only(top, key, text)?
        {
            only(servers, name, text)?;
        }
        Ok(parsed)
    }

    /// The object that everything is in.
    pub(super) fn top(&self) -> Result<Option<&Object<'a>>, String> {
        match &self.value {
            None => Ok(None),
            Some(ast::Value::Object(top)) => Ok(Some(top)),
            Some(_) => Err("it holds no object".to_owned()),
        }
    }

    /// The servers in it.
    pub(super) fn servers(&self) -> Result<Option<&Object<'a>>, String> {
        match self.top()?.and_then(|top| top.get(self.key)) {
            None => Ok(None),
            Some(found) => match &found.value {
                ast::Value::Object(servers) => Ok(Some(servers)),
                _ => Err(format!("\"{}\" in it is no object", self.key)),
            },
        }
    }

    fn found(&self) -> Option<&ast::Value<'a>> {
        let servers = self.servers().ok()??;
        servers.get(self.name).map(|entry| &entry.value)
    }

    /// Where what the entry says stands.
    pub(super) fn place(&self) -> Option<Range<usize>> {
        self.found().map(|value| value.start()..value.end())
    }

    /// What the entry says.
    pub(super) fn entry(&self) -> Option<Value> {
        self.found().cloned().map(Value::from)
    }

    /// The comma that follows this place, with nothing but blanks and comments between them.
    pub(super) fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let next = self.tokens.partition_point(|token| token.range.start < at);
        let next = self.tokens.get(next)?;
        matches!(next.token, Token::Comma).then_some(next.range.start..next.range.end)
    }

    /// What takes this key out of an object; comments around it stay.
    pub(super) fn removed(&self, object: &Object<'_>, key: &str) -> Option<Vec<Change>> {
        let properties = &object.properties;
        let at = properties.iter().position(|it| it.name.as_str() == key)?;
        let own = &properties[at].range;
        let comma = self.comma_after(own.end);
        let before = at.checked_sub(1).map(|at| properties[at].range.end);
        let mut changes = Vec::new();
        if comma.is_none()
            && let Some(comma) = before.and_then(|before| self.comma_after(before))
        {
            changes.push((comma, String::new()));
        }
        let end = comma.map_or(own.end, |comma| comma.end);
        let gone = layout::with_its_blanks(self.text, own.start..end);
        changes.push((gone, String::new()));
        let (start, end) = (object.range.start + 1, object.range.end - 1);
        let left = super::changed(&self.text[..end], changes.clone());
        if properties.len() == 1 && left[start..].trim().is_empty() {
            changes = vec![(start..end, String::new())];
        }
        Some(changes)
    }
}

/// Whether there is nothing in it, comments included.
pub(super) fn is_empty(object: &Object<'_>, text: &str) -> bool {
    text[object.range.start + 1..object.range.end - 1]
        .trim()
        .is_empty()
}

/// The value of this key, which may be there once.
fn only<'a>(
    object: &'a Object<'a>,
    key: &str,
    text: &str,
) -> Result<Option<&'a ast::Value<'a>>, String> {
    let mut named = object.properties.iter();
    let mut named = named
        .by_ref()
        .filter(|property| property.name.as_str() == key);
    let (first, second) = (named.next(), named.next());
    if let (Some(first), Some(second)) = (first, second) {
        let line = |property: &ast::ObjectProp<'_>| {
            let above = text.get(..property.range.start).unwrap_or_default();
            let ends = above.matches('\n').count() + above.matches('\r').count();
            ends - above.matches("\r\n").count() + 1
        };
        return Err(format!(
            "\"{key}\" stands in it twice, in line {} and in line {}",
            line(first),
            line(second)
        ));
    }
    Ok(first.map(|property| &property.value))
}
