//! Any path of the API, by the cluster's own schema.

mod blind;
mod graver;
mod guests;
mod reading;
mod routed;
mod rules;
mod schema;
mod searching;
mod secrets;
mod sent;
mod writing;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::engine::Engine;

use crate::house::House;

/// An engine whose cluster tells of these methods, too.
async fn knowing(house: &House, dir: &Path, methods: &[(&str, &str, Value)]) -> Arc<Engine> {
    house.beside(dir).clusters()[0].schema().await.unwrap();
    let mut files = std::fs::read_dir(dir.join("schema")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let nodes = methods.iter().map(|(verb, path, properties)| {
        let method = json!({
            "method": verb, "allowtoken": 1, "parameters": {"properties": properties},
            "permissions": {"check": ["perm", "/", ["Sys.Modify"]]}, "returns": {"type": "object"},
        });
        let info = serde_json::Map::from_iter([((*verb).to_owned(), method)]);
        format!(",{}", json!({"path": path, "info": info}))
    });
    // What is told last holds.
    let more = format!("{}];\n\nlet", nodes.collect::<String>());
    let text = text.replacen("];\n\nlet", &more, 1);
    std::fs::write(&file, text).unwrap();
    house.beside(dir)
}
