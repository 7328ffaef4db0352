//! How much of a call's arguments is repeated in faults and in the audit trail: 200 characters of each text.

use serde_json::Value;

use crate::fault::Fault;
use crate::tool::Object;

/// Characters of one text.
pub const MOST: usize = 200;
/// Items of one list, and fields of one object, in the audit trail.
const ITEMS: usize = 100;
/// Characters of a plan's summary in the audit trail.
const LONGEST_SUMMARY: usize = 1_000;
/// Characters of a fault's message, and of a reason in the audit trail.
const LONGEST_MESSAGE: usize = 20_000;

/// The texts among a call's arguments that are too long to be repeated.
#[derive(Default)]
pub(crate) struct LongTexts(Vec<String>);

impl LongTexts {
    /// The ones of this call, names of fields included.
    pub(crate) fn of(arguments: &Object) -> Self {
        let mut long = Self::default();
        long.add_object(arguments);
        // What contains another is replaced first.
        long.0
            .sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
        long
    }

    /// The fault without more than the beginning of each.
    pub(crate) fn clip(&self, mut fault: Fault) -> Fault {
        fault.message = self.clip_text(fault.message);
        fault.hint = fault.hint.map(|hint| self.clip_text(hint));
        fault
    }

    /// A text without more than the beginning of each.
    pub(crate) fn clip_text(&self, mut text: String) -> String {
        for long in &self.0 {
            if text.len() <= MOST {
                return text;
            }
            // Spellings: as sent, in quotes, and on one line.
            let (json, debug) = (Value::from(long.as_str()).to_string(), format!("{long:?}"));
            let spellings = [
                long.as_str(),
                long.trim(),
                json.trim_matches('"'),
                debug.trim_matches('"'),
                &crate::clean::line(long),
                &crate::clean::text(long),
            ];
            for spelling in spellings {
                text = without_end(&text, spelling);
            }
        }
        clip(&text, LONGEST_MESSAGE)
    }

    fn add_object(&mut self, object: &Object) {
        for (name, value) in object {
            self.add_text(name);
            self.add(value);
        }
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(object) => self.add_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        if is_long(text, MOST) {
            self.0.push(text.to_owned());
        }
    }
}

/// Arguments as the audit trail keeps them: texts, names, lists and objects cut to what a reader needs.
pub(crate) fn kept(value: &Value) -> Value {
    match value {
        Value::String(text) => clip(text, MOST).into(),
        Value::Array(items) => {
            let mut kept: Vec<_> = items.iter().take(ITEMS).map(kept).collect();
            if items.len() > ITEMS {
                kept.push(more(items.len()).into());
            }
            kept.into()
        }
        Value::Object(object) => {
            let fields = object.iter().take(ITEMS);
            let fields = fields.map(|(name, value)| (clip(name, MOST), kept(value)));
            let mut fields: Object = fields.collect();
            if object.len() > ITEMS {
                fields.insert("…".to_owned(), more(object.len()).into());
            }
            fields.into()
        }
        other => other.clone(),
    }
}

/// A reason as the audit trail keeps it.
pub(crate) fn reason(text: &str) -> String {
    clip(text, LONGEST_MESSAGE)
}

/// A plan's summary as the audit trail keeps it.
pub(crate) fn summary(text: &str) -> String {
    clip(text, LONGEST_SUMMARY)
}

/// The text with the beginning of a long one in the place of all that it repeats of it: others, such as PVE, may have cut
/// it somewhere.
fn without_end(text: &str, long: &str) -> String {
    let ends = |most: usize| long.char_indices().nth(most).map(|(at, _)| at);
    let (Some(shown), Some(begins)) = (ends(MOST), ends(MOST + 1).or(Some(long.len()))) else {
        return text.to_owned();
    };
    let (shown, begin) = (&long[..shown], &long[..begins]);
    let mut rest = text;
    let mut said = String::new();
    while let Some(at) = rest.find(begin) {
        let repeated = rest[at..].chars().zip(long.chars());
        let repeated = repeated.take_while(|(one, other)| one == other);
        let length: usize = repeated.map(|(c, _)| c.len_utf8()).sum();
        said.push_str(&rest[..at]);
        said.push_str(shown);
        said.push('…');
        rest = &rest[at + length..];
    }
    said + rest
}

/// At most this many characters, and a mark if there were more.
fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn is_long(text: &str, most: usize) -> bool {
    text.char_indices().nth(most).is_some()
}

fn more(count: usize) -> String {
    format!("{} more", count - ITEMS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn fault_repeats_200_characters_of_an_argument() {
        for text in [
            "x".repeat(3_000),
            "\"\n".repeat(1_500),
            " ä\t".repeat(1_000),
        ] {
            let arguments = object(&json!({"set": [{"a": text}], &text: 1}));
            let long = LongTexts::of(&arguments);
            for message in [text.clone(), format!("{text:?}"), json!(text).to_string()] {
                let fault = Fault::bad_input(format!("wrong: {message}")).hint(message);
                let fault = long.clip(fault);
                for said in [fault.message, fault.hint.unwrap()] {
                    assert!(said.chars().count() < 220, "{said}");
                }
            }
        }
        let arguments = object(&json!({"vmid": "web"}));
        let fault = LongTexts::of(&arguments).clip(Fault::bad_input("\"web\" is no vmid"));
        assert_eq!(fault.message, "\"web\" is no vmid");
    }

    #[test]
    fn message_is_bounded_whatever_it_says() {
        let fault = Fault::bad_input("x".repeat(1_000_000));
        let fault = LongTexts::of(&object(&json!({"a": "y".repeat(201)}))).clip(fault);
        assert_eq!(fault.message.chars().count(), LONGEST_MESSAGE + 1);
    }

    #[test]
    fn trail_keeps_200_characters_of_an_argument() {
        let long = "x".repeat(201);
        let kept = kept(&json!({&long: {"a": [long]}, "b": vec![1; 150], "c": "short"}));
        let clipped = format!("{}…", "x".repeat(200));
        assert_eq!(kept[&clipped], json!({"a": [clipped]}));
        assert_eq!(kept["c"], "short");
        assert_eq!(kept["b"].as_array().unwrap().len(), 101);
        assert_eq!(kept["b"][100], "50 more");
    }
}
