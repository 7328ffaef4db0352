//! search_proxmox_api: from words to a method, and what it takes.

use crate::house::House;

#[tokio::test]
async fn words_find_a_method_and_describe_it() {
    let house = House::new().await;
    let answer = house
        .call(
            "search_proxmox_api",
            r#"{"query": "add a firewall rule to a container"}"#,
        )
        .await
        .unwrap();
    assert_eq!(
        answer.data["best"]["method"], "POST /nodes/{node}/lxc/{vmid}/firewall/rules",
        "{}",
        answer.text
    );
    for part in [
        "action*",
        "in|out",
        "needs: VM.Config.Network on /vms/{vmid}",
        "call: create_container_firewall_rule",
    ] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
    let size = answer.text.len() + serde_json::to_string(&answer.data).unwrap().len();
    assert!(size < 6_000, "{size}");
}

#[tokio::test]
async fn a_named_method_is_described_outright() {
    let house = House::new().await;
    let ask = async |query: &str| {
        let args = serde_json::json!({ "query": query }).to_string();
        house.call("search_proxmox_api", &args).await
    };
    let raw = ask("PUT /nodes/pve1/config").await.unwrap();
    assert!(
        raw.text.contains("call: write_proxmox_api; a person"),
        "{}",
        raw.text
    );
    let dns = ask("put /nodes/pve1/dns").await.unwrap();
    assert_eq!(dns.data["best"]["method"], "PUT /nodes/{node}/dns");
    let config = ask("PUT /nodes/{node}/qemu/{vmid}/config").await.unwrap();
    assert!(
        config.text.contains("call: update_proxmox_vm"),
        "{}",
        config.text
    );
    let size = config.text.len() + serde_json::to_string(&config.data).unwrap().len();
    assert!(size < 7_000, "{size}");
    let near = ask("PUT /cluster/optoins").await.unwrap_err().to_string();
    assert!(near.contains("/cluster/options"), "{near}");
    assert!(ask("zzz qqq").await.is_err());
}
