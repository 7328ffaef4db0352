//! Logins, tokens and rights.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sim::world::factor::Factor;
use sim::worlds::{ROOT_PASSWORD, homelab};
use sim::{Clock, Sim};

use crate::client::Client;

const ALMOST_TWO_HOURS: Duration = Duration::from_secs(2 * 3600 - 1);

async fn login(sim: &Sim) -> (String, String) {
    let form = format!("username=root@pam&password={ROOT_PASSWORD}");
    let reply = Client::anonymous(sim).post("/access/ticket", &form).await;
    let text = |key: &str| reply.data()[key].as_str().expect("a text").to_owned();
    (text("ticket"), text("CSRFPreventionToken"))
}

#[tokio::test]
async fn a_ticket_reads_and_with_its_csrf_token_writes() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (ticket, csrf) = login(&sim).await;
    let client = Client::anonymous(&sim).header("cookie", &format!("PVEAuthCookie={ticket}"));
    assert_eq!(client.get("/version").await.status, 200);
    let refused = client.post("/nodes/pve1/qemu/105/status/start", "").await;
    assert_eq!(refused.reason, "Permission denied - invalid csrf token");
    assert_eq!((refused.status, refused.body), (401, "".into()));
    let client = client.header("csrfpreventiontoken", &csrf);
    client
        .post("/nodes/pve1/qemu/105/status/start", "")
        .await
        .upid();
}

#[tokio::test]
async fn a_ticket_ends_after_two_hours() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let (ticket, _) = login(&sim).await;
    let client = Client::anonymous(&sim).header("cookie", &format!("PVEAuthCookie={ticket}"));
    sim.advance(ALMOST_TWO_HOURS);
    assert_eq!(client.get("/version").await.status, 200);
    sim.advance(Duration::from_secs(1));
    assert_eq!(
        client.get("/version").await.reason,
        "Authentication failed!"
    );
}

#[tokio::test]
async fn a_granted_token_can_do_exactly_that() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        world.add_token("eve@pve!t", "secret");
        world.grant("eve@pve", "/vms/105", &["VM.PowerMgmt"]);
    });
    let client = Client::anonymous(&sim).token("eve@pve!t", "secret");
    client
        .post("/nodes/pve1/qemu/105/status/start", "")
        .await
        .upid();
    let refused = client.get("/nodes/pve1/qemu/105/config").await;
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (403, "Permission check failed (/vms/105, VM.Audit)")
    );
    assert_eq!(
        client.get("/cluster/resources?type=vm").await.data(),
        &serde_json::json!([])
    );
}

#[tokio::test]
async fn a_separated_token_needs_rights_of_its_own() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client =
        Client::anonymous(&sim).token("bob@pve!separate", "b0b00000-0000-4000-8000-000000000002");
    assert_eq!(client.get("/nodes/pve1/qemu/105/config").await.status, 403);
    sim.world(|world| world.grant("bob@pve!separate", "/vms", &["VM.Audit", "VM.Allocate"]));
    assert_eq!(client.get("/nodes/pve1/qemu/105/config").await.status, 200);
    let rights = client.get("/access/permissions?path=/vms/105").await;
    assert_eq!(
        rights.data(),
        &serde_json::json!({ "/vms/105": { "VM.Audit": 1 } })
    );
}

#[tokio::test]
async fn rights_on_a_pool_reach_its_guests() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        world.add_token("eve@pve!t", "secret");
        world.grant("eve@pve", "/pool/prod", &["VM.Audit"]);
    });
    let client = Client::anonymous(&sim).token("eve@pve!t", "secret");
    let guests = client.get("/cluster/resources?type=vm").await;
    let ids: Vec<u64> = guests
        .data()
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|guest| guest["vmid"].as_u64())
        .collect();
    assert_eq!(ids, [100, 101, 202]);
}

/// A right on one VLAN shows the bridge; a right to audit the node does not.
#[tokio::test]
async fn bridges_are_for_those_who_may_use_them() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        world.add_token("eve@pve!t", "secret");
        world.grant("eve@pve", "/nodes", &["Sys.Audit"]);
    });
    let client = Client::anonymous(&sim).token("eve@pve!t", "secret");
    let bridges = "/nodes/pve1/network?type=any_bridge";
    assert_eq!(client.get(bridges).await.data(), &serde_json::json!([]));
    sim.world(|world| world.grant("eve@pve", "/sdn/zones/localnetwork/vmbr0/20", &["SDN.Use"]));
    assert_eq!(client.get(bridges).await.data()[0]["iface"], "vmbr0");
}

/// PVE lists a node's storages to whoever may allocate space there, but a cluster's resources only to auditors.
#[tokio::test]
async fn allocating_space_shows_a_storage_on_its_node_and_not_among_the_resources() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        world.add_token("eve@pve!t", "secret");
        world.grant("eve@pve", "/storage/nas", &["Datastore.AllocateSpace"]);
    });
    let client = Client::anonymous(&sim).token("eve@pve!t", "secret");
    let names = |rows: &serde_json::Value| -> Vec<String> {
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["storage"].as_str().expect("a name").to_owned())
            .collect()
    };
    let on_node = client.get("/nodes/pve1/storage").await;
    assert_eq!(names(on_node.data()), ["nas"]);
    let resources = "/cluster/resources?type=storage";
    assert_eq!(names(client.get(resources).await.data()), [""; 0]);
    sim.world(|world| world.grant("eve@pve", "/storage/nas", &["Datastore.Audit"]));
    assert!(names(client.get(resources).await.data()).contains(&"nas".to_owned()));
}

#[tokio::test]
async fn a_second_factor_is_asked_for_and_opens_only_then() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").expect("root");
        root.factors = vec![Factor::totp(*b"12345678901234567890")];
    });
    let client = Client::anonymous(&sim);
    let form = format!("username=root@pam&password={ROOT_PASSWORD}");
    let half = client.post("/access/ticket", &form).await.data().clone();
    assert_eq!((&half["NeedTFA"], &half["cap"]), (&json!(1), &json!(null)));
    let ticket = half["ticket"].as_str().expect("a ticket").to_owned();
    assert!(
        ticket.starts_with("PVE:!tfa!%7B%22totp%22%3Atrue%7D:"),
        "{ticket}"
    );
    let with_half = Client::anonymous(&sim).header("cookie", &format!("PVEAuthCookie={ticket}"));
    assert_eq!(with_half.get("/version").await.status, 401);

    let code = sim.world(|world| {
        let factor = &world.access.users["root@pam"].factors[0];
        factor.code(world.now).expect("a code")
    });
    let challenge = utf8_percent_encode(&ticket, NON_ALPHANUMERIC).to_string();
    let answer =
        |code: &str| format!("username=root@pam&password=totp:{code}&tfa-challenge={challenge}");
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let refused = client.post("/access/ticket", &answer(wrong)).await;
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (401, "authentication failure")
    );
    let whole = client
        .post("/access/ticket", &answer(&code))
        .await
        .data()
        .clone();
    assert!(
        whole["ticket"]
            .as_str()
            .expect("a ticket")
            .starts_with("PVE:root@pam:")
    );
    assert!(whole["NeedTFA"].is_null() && whole["cap"].is_object());
    assert_eq!(
        client.post("/access/ticket", &answer(&code)).await.status,
        401,
        "used"
    );
}

#[tokio::test]
async fn each_version_has_its_privileges() {
    for (version, known, unknown) in [
        ("8.4.1", "VM.Monitor", "VM.GuestAgent.Audit"),
        ("9.1.8", "VM.GuestAgent.Audit", "VM.Monitor"),
    ] {
        let mut world = homelab();
        world.version = version.to_owned();
        let sim = Sim::start(world).await.expect("starts");
        let client = Client::root(&sim);
        let role = client
            .get("/access/roles/Administrator")
            .await
            .data()
            .clone();
        assert_eq!(
            (&role[known], &role[unknown]),
            (&json!(1), &json!(null)),
            "{version}"
        );
        let made = client
            .post("/access/roles", &format!("roleid=a&privs={known}"))
            .await;
        assert_eq!(made.status, 200);
        let refused = client
            .post("/access/roles", &format!("roleid=b&privs={unknown}"))
            .await;
        assert_eq!(refused.status, 400, "{version}");
    }
}
