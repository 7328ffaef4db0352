//! Nodes whose names PVE would not have taken. Only a server that is broken, or none of PVE's, tells of them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sim::Fault;

use super::{Pass, corpus, marks, pass_over};
use crate::house::{House, Person};

/// What a list that names nodes says of a node.
type Rows = fn(usize, &str) -> Vec<Value>;

/// The lists from which nodes are known.
const LISTS: &[(&str, Rows)] = &[
    ("/nodes", |_, name| vec![node(name)]),
    ("/cluster/status", |number, name| {
        let id = format!("node/{name}");
        vec![json!({
            "type": "node", "id": id, "name": name, "nodeid": 100 + number, "online": 1, "local": 0,
            "ip": "192.168.1.99", "level": "",
        })]
    }),
    ("/cluster/resources", |number, name| {
        let vmid = 7000 + number;
        vec![
            node(name),
            json!({
                "type": "qemu", "id": format!("qemu/{vmid}"), "vmid": vmid, "node": name, "name": "stray",
                "status": "running", "template": 0, "maxcpu": 1, "cpu": 0, "mem": 0, "maxmem": 1, "uptime": 1,
            }),
            json!({
                "type": "storage", "id": format!("storage/{name}/local"), "storage": "local", "node": name,
                "status": "available", "plugintype": "dir", "content": "iso", "shared": 0, "disk": 0, "maxdisk": 1,
            }),
        ]
    }),
];

fn node(name: &str) -> Value {
    json!({
        "type": "node", "id": format!("node/{name}"), "node": name, "status": "online", "level": "", "cpu": 0.5,
        "maxcpu": 4, "mem": 1, "maxmem": 2, "disk": 1, "maxdisk": 2, "uptime": 3,
    })
}

/// A house whose cluster tells of these nodes, too.
async fn house_with(names: &[String]) -> House {
    let house = super::asking().await;
    let pve = &house.engine.clusters()[0].pve;
    for (path, rows) in LISTS {
        let mut list: Vec<Value> = pve.list(*path).await.unwrap();
        let more = names.iter().enumerate();
        list.extend(more.flat_map(|(number, name)| rows(number, name)));
        house.sim.fault(Fault::answer("GET", path, list));
    }
    house
}

/// Such a node costs its own row, where it has one, and neither an answer nor a request.
#[tokio::test]
async fn a_node_of_a_hostile_name_is_data() {
    let names = corpus::singly();
    let with = |names: Vec<String>| async move {
        let house = house_with(&names).await;
        pass_over(&house, Person::saying_no).await
    };
    let (hostile, without): (Pass, Pass) = (with(names).await, with(Vec::new()).await);
    let tools: BTreeSet<_> = hostile.told.iter().map(|(_, tool)| tool).collect();
    eprintln!(
        "{} names, {} calls, {} answers, {} pairs of name and tool, told by {tools:?}",
        corpus::CORPUS.len(),
        hostile.asked.len(),
        hostile.answered.len(),
        hostile.told.len(),
    );
    // What is said without these nodes as well, a guest of the demo says.
    let is_theirs = |it: &&String| !without.wrong.contains(it);
    let wrong: Vec<_> = hostile.wrong.iter().filter(is_theirs).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let is_told = !hostile.told.is_empty();
    assert!(is_told || !super::super::all_of_them());
    let lost: Vec<_> = without.answered.difference(&hostile.answered).collect();
    assert!(lost.is_empty(), "these answer no more: {lost:#?}");
    for (whose, asked) in &hostile.asked {
        let differ: Vec<_> = asked.symmetric_difference(&without.asked[whose]).collect();
        assert!(
            differ.is_empty(),
            "{whose} asks for something else: {differ:#?}"
        );
    }
}

/// Whoever asks for such a list as it is gets it so, name by name.
#[tokio::test]
async fn a_list_of_such_nodes_tells_their_names_as_data() {
    let house = house_with(&corpus::singly()).await;
    let mut told = BTreeSet::new();
    let mut calls = 0;
    for (path, _) in LISTS {
        let mut cursor = Value::Null;
        loop {
            let args = json!({"path": path, "limit": 20, "cursor": cursor}).to_string();
            let answer = house.call("read_proxmox_api", &args).await;
            let answer = answer.unwrap_or_else(|fault| panic!("{args}: {fault}"));
            let data = Value::Object(answer.data.clone());
            told.extend(marks::told(&data));
            calls += 1;
            let wrong = super::wrong(Ok(answer), &Person::saying_no());
            assert!(wrong.is_empty(), "{args}: {wrong:#?}");
            cursor = data["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
    }
    eprintln!("{} names in {calls} pages", told.len());
    assert_eq!(told.len(), corpus::CORPUS.len(), "{told:?}");
}
