//! read_proxmox_api: what it shows, what it leaves to others, what it refuses.

use serde_json::json;
use sim::Fault;

use crate::house::House;

const SCHEMA: &str = "/pve-docs/api-viewer/apidoc.js";

async fn read(house: &House, args: serde_json::Value) -> Result<tools::tool::Rendered, String> {
    let answer = house.call("read_proxmox_api", &args.to_string()).await;
    answer.map_err(|fault| fault.to_string())
}

#[tokio::test]
async fn lists_and_objects_are_shown() {
    let house = House::new().await;
    let jobs = read(
        &house,
        json!({"path": "/cluster/backup", "fields": ["id", "schedule"]}),
    )
    .await
    .unwrap();
    assert!(jobs.text.starts_with("id"), "{}", jobs.text);
    assert!(
        jobs.data["rows"][0]["schedule"].is_string(),
        "{:?}",
        jobs.data
    );
    let dns = read(&house, json!({"path": "nodes/pve1/dns/"}))
        .await
        .unwrap();
    assert!(dns.data["data"]["dns1"].is_string(), "{:?}", dns.data);
    let version = read(&house, json!({"path": "/api2/json/version", "params": {}}))
        .await
        .unwrap();
    assert_eq!(version.data["data"]["version"], "9.1.8");
    let next = read(&house, json!({"path": "/cluster/nextid"}))
        .await
        .unwrap();
    assert!(next.data["value"].is_string());
}

#[tokio::test]
async fn parameters_are_checked_before_anything_is_asked() {
    let house = House::new().await;
    for (args, says) in [
        (
            json!({"path": "/nodes/pve1/tasks", "params": {"limt": 5}}),
            "limt: there is no such parameter; there is limit",
        ),
        (
            json!({"path": "/nodes/pve1/tasks", "params": {"limit": -1}}),
            "limit: must be at least 0",
        ),
        (
            json!({"path": "/cluster/nextid", "params": {"vmid": 7}}),
            "vmid: must be at least 100",
        ),
        (
            json!({"path": "/nodes/pve1/qemu/7/config"}),
            "vmid: must be at least 100",
        ),
        (
            json!({"path": "/cluster/bakcup"}),
            "there is /cluster/backup",
        ),
        (json!({"path": "/nodes/pve9/dns"}), "there is no node pve9"),
        (
            json!({"path": "/cluster/firewall/rules/0/x"}),
            "has no path",
        ),
        (
            json!({"path": "/nodes/pve1/startall"}),
            "does not take GET, only POST",
        ),
    ] {
        house.sim.clear_requests();
        let said = read(&house, args.clone()).await.unwrap_err();
        assert!(said.contains(says), "{args}: {said}");
        let asked = house.sim.requests();
        let allowed = ["/cluster/resources", "/version", SCHEMA];
        assert!(
            asked.iter().all(|it| allowed.contains(&it.path.as_str())),
            "{args}: {asked:?}"
        );
    }
}

#[tokio::test]
async fn a_path_cannot_mean_something_else() {
    let house = House::new().await;
    for path in [
        "/nodes/pve1/../../access/users",
        "/nodes/pve1/%2e%2e/dns",
        "/cluster/backup?x=1",
        "/cluster/backup#x",
        "/cluster//backup",
        "/cluster/back\nup",
        "/cluster/back%0aup",
        "/cluster%2Fbackup",
        "/cluster\\backup",
    ] {
        house.sim.clear_requests();
        let said = read(&house, json!({"path": path})).await.unwrap_err();
        assert!(said.contains("path"), "{path:?}: {said}");
        assert!(
            house
                .sim
                .requests()
                .iter()
                .all(|it| !it.path.contains("access") && !it.path.contains("backup"))
        );
    }
}

#[tokio::test]
async fn what_is_more_than_a_look_is_refused_with_what_does_it() {
    let house = House::new().await;
    for (path, says) in [
        (
            "/nodes/pve1/qemu/106/agent/get-users",
            "write_proxmox_api with method GET",
        ),
        (
            "/nodes/pve1/qemu/106/agent/file-read",
            "run_proxmox_vm_command",
        ),
        (
            "/nodes/pve1/query-url-metadata",
            "write_proxmox_api with method GET",
        ),
        ("/nodes/pve1/scan/nfs", "connect to another host"),
        ("/nodes/pve1/qemu/105/vncwebsocket", "capture_vm_screen"),
    ] {
        let said = read(&house, json!({"path": path})).await.unwrap_err();
        assert!(said.contains(says), "{path}: {said}");
    }
    let log = json!({"path": "/nodes/pve1/tasks", "params": {"download": 1}});
    assert!(
        read(&house, log)
            .await
            .unwrap_err()
            .contains("no answer that can be shown")
    );
}

#[tokio::test]
async fn without_a_schema_reads_go_on_and_say_so() {
    let house = House::new().await;
    house
        .sim
        .fault(Fault::refuse(404, "not here").on("GET", SCHEMA));
    let dns = read(&house, json!({"path": "/nodes/pve1/dns"}))
        .await
        .unwrap();
    assert!(
        dns.text.contains("read unchecked") && dns.data["data"]["dns1"].is_string(),
        "{}",
        dns.text
    );
    // PVE decodes a path before it splits it: an encoded slash must not hide what it is.
    for path in [
        "/nodes/pve1/qemu/106/agent/get-users",
        "/nodes/pve1/qemu/106%2Fagent%2Fget-users",
        "/nodes/pve1/qemu/106/agent/get-users/",
        "/nodes/pve1/scan/nfs/",
        "/nodes/pve1//scan%2Fnfs",
    ] {
        let said = read(&house, json!({"path": path})).await.unwrap_err();
        assert!(
            said.contains("write_proxmox_api with method GET"),
            "{path}: {said}"
        );
    }
    let said = read(&house, json!({"path": "/nodes/pve1/../dns"}))
        .await
        .unwrap_err();
    assert!(said.contains(".."), "{said}");
}

#[tokio::test]
async fn secrets_are_blanked_in_fields_and_in_text() {
    let house = House::new().await;
    house.set(105, "cipassword", "canary-1");
    house.set(105, "ciuser", "me");
    for path in [
        "/nodes/pve1/qemu/105/cloudinit/dump",
        "/nodes/pve1/qemu/105/config",
    ] {
        let args = json!({"path": path, "params": if path.ends_with("dump") { json!({"type": "user"}) } else { json!({}) }});
        let answer = read(&house, args).await.unwrap();
        assert!(
            answer.text.contains("ciuser") || answer.text.contains("me"),
            "{}",
            answer.text
        );
        assert!(
            !format!("{}{:?}", answer.text, answer.data).contains("canary-1"),
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_refusal_names_the_privileges() {
    let house = House::new().await;
    let answer = house
        .call_with(
            ("/vms/105", &["VM.Audit"]),
            "read_proxmox_api",
            r#"{"path": "/nodes/pve1/dns"}"#,
        )
        .await;
    let said = answer.unwrap_err().to_string();
    assert!(said.contains("Sys.Audit on /nodes/pve1"), "{said}");
}
