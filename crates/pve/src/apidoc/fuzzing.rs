//! The door of the reader of schemas; see [`crate::fuzzing`].

use serde_json::{Map, Value};

use super::Schema;

/// What a node serves as its schema, and, after a zero byte, the parameters of a call. Every method that was read is found
/// by its own path, and checks whatever it is given.
pub fn apidoc(bytes: &[u8]) {
    let mut halves = bytes.splitn(2, |byte| *byte == 0);
    let document = halves.next().unwrap_or_default();
    let params: Map<String, Value> = halves
        .next()
        .and_then(|params| serde_json::from_slice(params).ok())
        .unwrap_or_default();
    let Ok(schema) = Schema::parse(document) else {
        return;
    };
    for method in schema.methods() {
        assert!(schema.method(method.verb, &method.path).is_some());
        if let Ok(found) = schema.find(method.verb, &method.path) {
            assert_eq!(
                found.check(&params).is_empty(),
                found.request(&params).is_ok()
            );
        }
    }
    let _ = schema.find(crate::Method::Get, &String::from_utf8_lossy(document));
}
