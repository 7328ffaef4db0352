//! Answers in which the texts that people or guests chose say something else: what a client makes of words that somebody put
//! there for it to read.

use serde_json::Value;

/// What the items of a list of plain texts count as a field of.
pub const ITEM: &str = "[]";

/// Which fields say what instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retold {
    /// Fields of this name, at any depth; [`ITEM`] for the items of lists.
    pub fields: Vec<String>,
    /// What they say. Whatever said the same before says the same afterwards, wherever it stands, so that names still
    /// agree from answer to answer.
    pub texts: Vec<String>,
}

impl Retold {
    /// The body of an answer, told anew. What is no JSON stays as it is.
    pub(crate) fn body(&self, body: Vec<u8>) -> Vec<u8> {
        match serde_json::from_slice::<Value>(&body) {
            Ok(mut answer) => {
                if let Some(data) = answer.get_mut("data") {
                    self.value(data, "data");
                }
                answer.to_string().into_bytes()
            }
            Err(_) => body,
        }
    }

    fn value(&self, value: &mut Value, field: &str) {
        match value {
            Value::String(text) if self.fields.iter().any(|name| name == field) => {
                if let Some(other) = self.instead_of(text) {
                    other.clone_into(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, ITEM)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.value(value, name);
                }
            }
            _ => {}
        }
    }

    fn instead_of(&self, text: &str) -> Option<&str> {
        // FNV: short, and the same everywhere.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let count = u64::try_from(self.texts.len())
            .ok()
            .filter(|count| *count > 0)?;
        let at = usize::try_from(hash % count).ok()?;
        self.texts.get(at).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_said_the_same_still_does() {
        let retold = Retold {
            fields: vec!["comment".to_owned(), ITEM.to_owned()],
            texts: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        };
        let answer = json!({"data": [{"comment": "x", "id": "x", "more": {"comment": "x"}}, "x", 7], "total": 1});
        let told = retold.body(answer.to_string().into_bytes());
        let told: Value = serde_json::from_slice(&told).unwrap();
        let word = &told["data"][0]["comment"];
        assert!(["a", "b", "c"].contains(&word.as_str().unwrap()));
        assert_eq!(
            told,
            json!({"data": [{"comment": word, "id": "x", "more": {"comment": word}}, word, 7], "total": 1})
        );
        assert_eq!(retold.body(b"<html>".to_vec()), b"<html>");
    }
}
