//! Sections of config files as the API shows them.

use serde_json::{Map, Value, json};

use crate::world::{Section, Sections, digest_of};

/// The properties of a section with its type. Those named in `numbers` are numbers in PVE, the others text.
pub(crate) fn to_json(section: &Section, numbers: &[&str]) -> Map<String, Value> {
    let value = |key: &str, text: &str| match text.parse::<i64>() {
        Ok(number) if numbers.contains(&key) => json!(number),
        _ => json!(text),
    };
    let props = section
        .props
        .iter()
        .map(|(key, text)| (key.clone(), value(key, text)));
    let kind = ("type".to_owned(), json!(section.kind));
    props.chain([kind]).collect()
}

/// The digest of the file that holds the sections.
pub(crate) fn digest(sections: &Sections) -> String {
    digest_of(&format!("{sections:?}"))
}

/// A property string as an object of texts: `keep-last=3` is `{"keep-last": "3"}`.
pub(crate) fn properties(text: &str) -> Value {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect::<Map<_, _>>()
        .into()
}
