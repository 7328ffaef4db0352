//! Fields of the wrong type, or with values beyond reason.

use pve::{Reader, Resource, TaskSummary, connect};
use serde_json::{Map, Value, json};

use crate::server::{Server, data, token_settings};

/// What may stand in any field.
fn wrong() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(-1.5e300),
        json!(1.5e308),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{202e}"),
        json!("-0"),
        json!("1e999"),
        json!("9".repeat(400)),
        json!("x".repeat(1 << 16)),
        json!("../../etc"),
        json!([]),
        json!([[1], {"a": 2}]),
        json!({}),
        json!({"vmid": {"vmid": 1}}),
    ]
}

async fn reader_of(list: Value) -> Reader {
    let server = Server::start(move |_| data(&list.to_string())).await;
    connect(token_settings(vec![server.pinned()])).unwrap().0
}

/// Rows that are each wrong in one field, by that field.
fn rows(whole: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut rows = Vec::new();
    for field in whole.keys() {
        for value in wrong() {
            let mut row = whole.clone();
            row.insert(field.clone(), value);
            rows.push((field.clone(), Value::Object(row)));
        }
    }
    rows
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other}"),
    }
}

/// All fields of a resource: none that the type has is missing here.
fn resource() -> Map<String, Value> {
    let whole = json!({
        "type": "qemu", "id": "qemu/100", "node": "pve1", "status": "running", "vmid": 100, "name": "web",
        "template": 0, "tags": "a;b", "lock": "backup", "pool": "p", "hastate": "started", "storage": "local",
        "plugintype": "dir", "content": "iso", "shared": 1, "sdn": "zone", "cpu": 0.5, "maxcpu": 4, "mem": 1,
        "maxmem": 2, "disk": 3, "maxdisk": 4, "uptime": 5, "netin": 6, "netout": 7,
    });
    let read: Resource = serde_json::from_value(whole.clone()).unwrap();
    let fields = object(serde_json::to_value(read).unwrap());
    let empty: Vec<_> = fields.iter().filter(|(_, value)| value.is_null()).collect();
    assert!(empty.is_empty(), "{empty:?}");
    object(whole)
}

#[tokio::test]
async fn a_wrong_field_costs_a_resource_no_more_than_that_field() {
    let whole = resource();
    let right: Resource = serde_json::from_value(Value::Object(whole.clone())).unwrap();
    let right = object(serde_json::to_value(right).unwrap());
    let rows = rows(&whole);
    let sent = rows.iter().map(|(_, row)| row.clone()).collect();
    let reader = reader_of(sent).await;
    let read = reader.resources().await.unwrap();
    // An entry that does not say what it is, in a word, is none.
    let says = |row: &Value| {
        !matches!(
            row["type"],
            Value::Null | Value::Array(_) | Value::Object(_)
        )
    };
    let kept: Vec<_> = rows.iter().filter(|(_, row)| says(row)).collect();
    assert_eq!(read.len(), kept.len());
    for ((wrong, sent), read) in kept.into_iter().zip(&read) {
        let read = object(serde_json::to_value(read).unwrap());
        for (name, value) in &read {
            assert!(name == wrong || *value == right[name], "{name} of {sent}");
        }
    }
    // Whatever names it is given, a guest's path has the parts that it should.
    let guests = reader.guests().await.unwrap();
    assert!(guests.len() > read.len() / 2, "{}", guests.len());
    for path in guests.iter().map(|guest| guest.at.path("config")) {
        assert_eq!(path.split('/').count(), 6, "{path}");
        assert!(!path.contains(".."), "{path}");
    }
}

#[tokio::test]
async fn a_wrong_field_costs_a_cluster_no_more_than_one_node() {
    let whole = object(json!({
        "type": "node", "name": "pve1", "online": 1, "local": 0, "ip": "10.0.0.1", "quorate": 1,
    }));
    let rows = rows(&whole);
    let names_none = |(field, _): &&(String, Value)| field != "type" && field != "name";
    let right = rows.iter().filter(names_none).count();
    let nodes: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
    // Nor does a cluster whose name is none pass for a node that is in no cluster, and needs no votes.
    for name in wrong() {
        let mut list = nodes.clone();
        list.push(json!({"type": "cluster", "name": name, "quorate": 0}));
        let status = reader_of(list.into()).await.cluster_status().await.unwrap();
        let named = status.nodes.iter().filter(|node| node.name == "pve1");
        assert_eq!(named.count(), right);
        assert!(status.name.is_some() && !status.quorate, "{name}");
    }
}

#[tokio::test]
async fn a_wrong_field_costs_a_task_no_more_than_that_field() {
    let whole = object(json!({
        "upid": "UPID:pve1:00000A12:000754C6:6AFA0702:qmstart:100:root@pam!mcp:", "starttime": 1, "endtime": 2,
        "status": "OK", "user": "root@pam",
    }));
    let rows = rows(&whole);
    let count = rows.len();
    let reader = reader_of(rows.into_iter().map(|(_, row)| row).collect()).await;
    let node = "pve1".parse().unwrap();
    let read: Vec<TaskSummary> = reader
        .find_task(&node, "qmstart", None, None)
        .await
        .unwrap();
    assert_eq!(
        read.len(),
        count - wrong().len(),
        "without a task id it is no task"
    );
    for task in read {
        let _ = (task.end(), task.upid.vmid());
    }
}
