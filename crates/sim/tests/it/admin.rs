//! Users, rules, pools, jobs, HA and firewall are changed.

use std::time::Duration;

use serde_json::{Value, json};
use sim::worlds::homelab;
use sim::{Clock, Sim, World};

use crate::client::{Client, Reply};

async fn manual(world: World) -> (Sim, Client) {
    let sim = Sim::builder(world).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

async fn put(client: &Client, path: &str, form: &str) -> Reply {
    let target = format!("/api2/json{path}");
    client.send("PUT", &target, form).await.expect("an answer")
}

async fn delete(client: &Client, path: &str) -> Reply {
    let target = format!("/api2/json{path}");
    client.send("DELETE", &target, "").await.expect("an answer")
}

#[tokio::test]
async fn who_may_allocate_hands_out_no_more_than_he_has() {
    let mut world = homelab();
    world.grant("carol@pve", "/vms/105", &["VM.Allocate", "VM.Audit"]);
    world.add_token("carol@pve!t", "secret");
    let (sim, _) = manual(world).await;
    let carol = Client::anonymous(&sim).token("carol@pve!t", "secret");
    let rule = "path=/vms/105&users=bob@pve&roles=";
    let more = put(&carol, "/access/acl", &format!("{rule}PVEVMAdmin")).await;
    assert_eq!(more.status, 500);
    assert!(
        more.reason.starts_with("ACL update failed: 400 Parameter"),
        "{}",
        more.reason
    );
    let elsewhere = put(
        &carol,
        "/access/acl",
        "path=/vms/100&users=bob@pve&roles=NoAccess",
    )
    .await;
    assert_eq!(
        elsewhere.reason,
        "Permission check failed (/vms/100, Permissions.Modify|VM.Allocate)"
    );
    let own = "granted-carol-pve--vms-105";
    put(&carol, "/access/acl", &format!("{rule}{own}"))
        .await
        .data();
}

#[tokio::test]
async fn a_token_is_told_once_and_has_what_its_rules_give() {
    let (sim, root) = manual(homelab()).await;
    let made = root
        .post("/access/users/bob@pve/token/ci", "comment=builds")
        .await;
    let secret = made.data()["value"].as_str().expect("a secret").to_owned();
    let ci = Client::anonymous(&sim).token("bob@pve!ci", &secret);
    assert_eq!(
        *ci.get("/cluster/resources?type=vm").await.data(),
        json!([])
    );
    let rule = "path=/vms/105&roles=PowerUser&tokens=bob@pve!ci";
    put(&root, "/access/acl", rule).await.data();
    let seen = ci.get("/cluster/resources?type=vm").await;
    assert_eq!(seen.data()[0]["vmid"], 105);
    delete(&root, "/access/users/bob@pve/token/ci").await.data();
    assert_eq!(ci.get("/version").await.status, 401);
    let rules = root.get("/access/acl").await;
    let left = rules.data().as_array().expect("rules").iter();
    assert!(left.clone().all(|rule| rule["type"] != "token"), "{left:?}");
}

#[tokio::test]
async fn pools_nest_and_a_refused_change_changes_nothing() {
    let (_sim, client) = manual(homelab()).await;
    client.post("/pools", "poolid=lab/web").await.data();
    let deep = client.post("/pools", "poolid=a/b/c/d").await;
    assert_eq!(
        deep.body["errors"]["poolid"],
        "invalid format - pool name 'a/b/c/d' nested too deeply (max levels = 3)\n"
    );
    let half = put(&client, "/pools", "poolid=lab/web&vms=104,100").await;
    assert_eq!(
        half.reason,
        "update pools failed: VM 100 belongs already to pool 'prod' and 'allow-move' is not set"
    );
    let pool = client.get("/pools?poolid=lab/web").await;
    assert_eq!(pool.data()[0]["members"], json!([]));
    let full = delete(&client, "/pools?poolid=lab").await;
    assert_eq!(
        full.reason,
        "delete pool failed: pool 'lab' is not empty (contains pool 'lab/web')"
    );
}

#[tokio::test]
async fn a_backup_job_chooses_guests_in_one_way() {
    let (_sim, client) = manual(homelab()).await;
    let path = "/cluster/backup/backup-weekly";
    put(&client, path, "pool=lab").await.data();
    let job = client.get(path).await;
    assert_eq!(job.data()["pool"], "lab");
    assert_eq!(job.data()["vmid"], Value::Null);
    put(&client, path, "delete=pool&vmid=105").await.data();
    let neither = put(&client, path, "delete=vmid").await;
    assert_eq!(neither.reason, "400 Parameter verification failed.");
    assert_eq!(
        neither.body["message"],
        "400 Parameter verification failed.\nvmid: property is missing\n"
    );
    let jobs = client.get("/cluster/backup").await;
    let weekly = &jobs.data()[1];
    // The world begins on Sunday at 7; the job runs on Sundays at 3.
    assert_eq!(weekly["next-run"], 1_794_726_000 - 4 * 3600 + 7 * 86_400);
}

#[tokio::test]
async fn ha_brings_a_guest_to_the_state_it_was_asked_for() {
    let (sim, client) = manual(homelab()).await;
    let status = async || {
        let answer = client.get("/cluster/ha/status/current").await;
        let entries = answer.data().as_array().expect("entries").clone();
        let service = entries.into_iter().find(|entry| entry["sid"] == "vm:102");
        service.expect("vm:102")["state"].clone()
    };
    assert_eq!(status().await, "started");
    put(&client, "/cluster/ha/resources/102", "state=stopped")
        .await
        .data();
    assert_eq!(status().await, "request_stop");
    sim.advance(Duration::from_secs(30));
    assert_eq!(status().await, "stopped");
    put(&client, "/cluster/ha/resources/vm:102", "state=started")
        .await
        .data();
    sim.advance(Duration::from_secs(30));
    assert_eq!(status().await, "started");
    delete(&client, "/cluster/ha/resources/vm:102").await.data();
    assert_eq!(*client.get("/cluster/ha/rules").await.data(), json!([]));
}

#[tokio::test]
async fn ha_moves_a_guest_with_its_ram_or_by_a_restart() {
    let (sim, client) = manual(homelab()).await;
    let place = async || {
        let guests = client.get("/cluster/resources?type=vm").await;
        let guests = guests.data().as_array().expect("guests").clone();
        let guest = guests.into_iter().find(|guest| guest["vmid"] == 102);
        let guest = guest.expect("guest 102");
        (
            guest["node"].clone(),
            guest["status"].clone(),
            guest["uptime"].clone(),
        )
    };
    let (_, _, before) = place().await;
    let path = "/cluster/ha/resources/vm:102";
    let asked = client.post(&format!("{path}/migrate"), "node=pve1").await;
    assert_eq!(
        *asked.data(),
        json!({ "sid": "vm:102", "requested-node": "pve1" })
    );
    sim.advance(Duration::from_mins(5));
    let (node, status, uptime) = place().await;
    assert_eq!((node, status), (json!("pve1"), json!("running")));
    assert!(uptime.as_u64() > before.as_u64());
    client
        .post(&format!("{path}/relocate"), "node=pve2")
        .await
        .data();
    sim.advance(Duration::from_mins(5));
    let (node, status, uptime) = place().await;
    assert_eq!((node, status), (json!("pve2"), json!("running")));
    assert!(uptime.as_u64() < Some(300), "it was started anew: {uptime}");
}

#[tokio::test]
async fn rules_of_ha_must_be_possible() {
    let (_sim, client) = manual(homelab()).await;
    let again = "rule=second&type=node-affinity&resources=vm:102&nodes=pve1";
    let again = client.post("/cluster/ha/rules", again).await;
    assert_eq!(
        again.reason,
        "create ha rule failed: Rule 'second' is invalid."
    );
    let unknown = "rule=second&type=node-affinity&resources=vm:102&nodes=pve9";
    let unknown = client.post("/cluster/ha/rules", unknown).await;
    assert_eq!(
        unknown.reason,
        "create ha rule failed: cannot use non-existent node(s) pve9."
    );
    let unmanaged = "rule=second&type=resource-affinity&affinity=positive&resources=vm:102,vm:100";
    let unmanaged = client.post("/cluster/ha/rules", unmanaged).await;
    assert_eq!(
        unmanaged.reason,
        "create ha rule failed: cannot use unmanaged resource(s) vm:100."
    );
}

#[tokio::test]
async fn firewall_macros_are_those_of_pve() {
    let (_sim, client) = manual(homelab()).await;
    let macros = client.get("/cluster/firewall/macros").await;
    let macros = macros.data().as_array().expect("a list");
    assert_eq!(macros.len(), 86);
    for name in ["DHCPv6", "NeighborDiscovery"] {
        assert!(macros.iter().any(|one| one["macro"] == name), "{name}");
    }
}

#[tokio::test]
async fn firewall_rules_keep_their_order() {
    let (_sim, client) = manual(homelab()).await;
    let path = "/nodes/pve1/qemu/100/firewall/rules";
    let portless = client.post(path, "type=in&action=ACCEPT&dport=22").await;
    assert_eq!(
        portless.body["errors"]["proto"],
        "missing property - 'dport' requires this property"
    );
    client
        .post(path, "type=in&action=DROP&macro=ssh&source=10.0.0.0/8")
        .await
        .data();
    let shown = client.get(path).await;
    let first = &shown.data()[0];
    assert_eq!(
        (&first["macro"], &first["ipversion"]),
        (&json!("SSH"), &json!(4))
    );
    put(&client, &format!("{path}/0"), "moveto=3").await.data();
    let shown = client.get(path).await;
    assert_eq!(shown.data()[2]["action"], "DROP");
    let stale = format!(
        "comment=x&digest={}",
        first["digest"].as_str().expect("a digest")
    );
    let stale = put(&client, &format!("{path}/0"), &stale).await;
    assert_eq!(
        stale.reason,
        "detected modified configuration - file changed by other user? Try again."
    );
}
