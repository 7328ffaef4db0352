//! Sections of config files as the API shows them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::call::{Call, Given};
use crate::error::ApiError;
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

/// What a call sent, as the properties of a section. `except` names what is no property.
pub(crate) fn sent(call: &Call, except: &[&str]) -> BTreeMap<String, String> {
    let text = |given: &Given| match given {
        Given::Text(text) => Some(text.clone()),
        Given::List(items) => Some(items.join(",")),
        Given::Hash | Given::Null => None,
    };
    let props = call
        .params
        .iter()
        .filter(|(name, _)| !except.contains(name));
    props
        .filter_map(|(name, given)| Some((name.to_owned(), text(given)?)))
        .collect()
}

/// Fails if the call was made for another version of the file.
pub(crate) fn check_digest(sections: &Sections, call: &Call) -> Result<(), ApiError> {
    match call.text("digest") {
        Some(sent) if sent != digest(sections) => Err(ApiError::fail(
            "detected modified configuration - file changed by other user? Try again.",
        )),
        _ => Ok(()),
    }
}

/// Removes the properties that the parameter `delete` lists. `optional` are those that may go.
pub(crate) fn delete_sent(
    section: &mut Section,
    call: &Call,
    optional: &[&str],
) -> Result<(), String> {
    for key in call.params.list("delete") {
        if !optional.contains(&key) {
            return Err(format!("no such option '{key}'"));
        }
        section.props.remove(key);
    }
    Ok(())
}
