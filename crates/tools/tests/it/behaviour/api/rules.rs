//! Firewall rules by the API: known by their place, which moves with what comes before them.

use serde_json::{Value, json};
use tools::tool::Rendered;

use super::knowing;
use crate::house::{House, Meanwhile, Person, call, done};

const TOOL: &str = "write_proxmox_api";
const RULES: &str = "/nodes/pve1/qemu/105/firewall/rules";

async fn write(house: &House, args: &Value) -> Rendered {
    let done = house.agreed(TOOL, &args.to_string()).await;
    done.unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

fn add(port: &str) -> Value {
    json!({"method": "POST", "path": RULES, "params": {"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": port, "enable": 1}})
}

fn delete(place: usize) -> Value {
    json!({"method": "DELETE", "path": format!("{RULES}/{place}")})
}

async fn ports(house: &House) -> Vec<String> {
    let args = json!({ "path": RULES }).to_string();
    let rows = house.call("read_proxmox_api", &args).await.unwrap();
    let rows = rows.data["rows"].as_array().cloned().unwrap_or_default();
    let port = |row: &Value| pve::lenient::as_text(&row["dport"]).unwrap_or_default();
    rows.iter().map(port).collect()
}

#[tokio::test]
async fn a_new_rule_comes_first_whatever_place_it_is_given() {
    let house = House::new().await;
    for port in ["1", "2", "3", "4"] {
        write(&house, &add(port)).await;
    }
    let mut args = add("443");
    args["params"]["pos"] = json!(3);
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    assert!(shown.text.contains("PVE ignores pos"), "{}", shown.text);
    let made = write(&house, &args).await;
    assert_eq!(made.data["status"], "applied", "{}", made.text);
    assert_eq!(ports(&house).await, ["443", "4", "3", "2", "1"]);
    let undo = made.data["undo"]["arguments"].clone();
    assert_eq!(undo["path"], format!("{RULES}/0"));
    let gone = write(&house, &undo).await;
    assert!(gone.text.contains("there is one less"), "{}", gone.text);
    assert_eq!(ports(&house).await, ["4", "3", "2", "1"]);
}

#[tokio::test]
async fn a_rule_is_not_deleted_if_others_came_before_it_meanwhile() {
    let house = House::new().await;
    for port in ["22", "443"] {
        write(&house, &add(port)).await;
    }
    let shown = house.preview(TOOL, &delete(1).to_string()).await.unwrap();
    assert!(shown.text.contains("\"dport\":\"22\""), "{}", shown.text);
    let meanwhile = Meanwhile(|| {
        house.sim.world(|world| {
            let of_guest = sim::world::firewall::Scope::Guest(105);
            let rules = &mut world.firewalls.get_mut(&of_guest).unwrap().rules;
            let copy = rules[0].clone();
            rules.insert(0, copy);
        });
    });
    let args = delete(1).to_string();
    let asked = house.ask(TOOL, &args, &meanwhile).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    let changed = "changed since the last preview: what is listed";
    assert!(asked.text.contains(changed), "{}", asked.text);
    assert_eq!(ports(&house).await, ["443", "443", "22"]);
}

#[tokio::test]
async fn the_digest_of_the_list_is_sent_with_a_deletion() {
    let house = House::new().await;
    write(&house, &add("22")).await;
    write(&house, &delete(0)).await;
    let sent = house.sim.requests();
    let gone = sent.iter().find(|it| it.method == "DELETE").unwrap();
    assert!(gone.params.text("digest").is_some(), "{:?}", gone.params);
}

#[tokio::test]
async fn a_null_keeps_no_digest_from_being_sent() {
    let house = House::new().await;
    write(&house, &add("22")).await;
    let args = json!({"method": "PUT", "path": format!("{RULES}/0"), "params": {"comment": "ssh", "digest": null}});
    write(&house, &args).await;
    let sent = house.sim.requests();
    let put = sent.iter().find(|it| it.method == "PUT").unwrap();
    assert!(put.params.text("digest").is_some(), "{:?}", put.params);
}

/// create_vm_firewall_rule puts a rule in force; one with a parameter that it does not have is sent as it is written.
#[tokio::test]
async fn whether_a_new_rule_is_in_force_is_shown() {
    let house = House::new().await;
    let mut args = add("443");
    args["params"].as_object_mut().unwrap().remove("enable");
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    assert!(shown.text.contains("enable=1"), "{}", shown.text);
    args["params"]["pos"] = json!(0);
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    assert!(shown.text.contains("send enable: 1"), "{}", shown.text);
    assert!(!shown.text.contains("enable=1"), "{}", shown.text);
}

#[tokio::test]
async fn an_id_that_pve_makes_is_no_path() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let below = "/cluster/sdn/vnets/{vnet}/subnets/{subnet}";
    let engine = knowing(&house, dir.path(), &[("DELETE", below, json!({}))]).await;
    let args = json!({"method": "POST", "path": "/cluster/sdn/vnets/blue/subnets", "params": {"subnet": "10.77.0.0/24", "type": "subnet", "dhcp-dns-server": "10.77.0.1"}});
    let call = call(TOOL, &args.to_string());
    let made = done(engine.call(call, &Person::saying_yes()).await).unwrap();
    assert_eq!(made.data["status"], "applied", "{}", made.text);
    assert!(made.text.contains("it is listed"), "{}", made.text);
    assert!(made.data.get("undo").is_none(), "{:?}", made.data);
}
