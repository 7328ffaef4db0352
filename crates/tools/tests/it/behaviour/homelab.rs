//! One tool for a guest's power, and the community's scripts.

use crate::house::House;

#[tokio::test]
async fn it_starts_stops_and_resumes() {
    let house = House::new().await;
    let answer = house
        .call(
            "manage_proxmox_vm",
            r#"{"vmid": 105, "action": "start", "node": "pve1", "vm_type": "qemu"}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.runs(105));
    for (action, running) in [("suspend", true), ("resume", true), ("stop", false)] {
        let args = format!(r#"{{"vmid": 105, "action": "{action}"}}"#);
        let answer = house.agreed("manage_proxmox_vm", &args).await.unwrap();
        assert_eq!(
            answer.data["status"], "applied",
            "{action}: {}",
            answer.text
        );
        assert_eq!(house.runs(105), running, "{action}");
    }
    let fault = house
        .call("manage_proxmox_vm", r#"{"vmid": 200, "action": "reset"}"#)
        .await
        .unwrap_err();
    assert!(fault.to_string().contains("container"), "{fault}");
}

#[tokio::test]
async fn scripts_are_found_and_described() {
    let house = House::new().await;
    let found = house
        .call("search_proxmox_scripts", r#"{"query": "Notes"}"#)
        .await
        .unwrap();
    assert_eq!(found.data["scripts"][0]["path"], "ct/notes.sh");
    let found = house
        .call(
            "search_proxmox_scripts",
            r#"{"query": "router", "category": "vm", "include_metadata": true}"#,
        )
        .await
        .unwrap();
    let needs = &found.data["scripts"][0]["needs"];
    assert_eq!(needs, "2 cores, 512 MiB, 4 GB");
    let info = house
        .call("get_proxmox_script_info", r#"{"script_name": "notes.sh"}"#)
        .await
        .unwrap();
    assert_eq!(info.data["installs_with"], "install/notes-install.sh");
    let fetches = info.data["fetches_from"].to_string();
    assert!(fetches.contains("downloads.example.org"), "{fetches}");
    let fault = house
        .call("get_proxmox_script_info", r#"{"script_name": "note"}"#)
        .await
        .unwrap_err();
    assert!(fault.to_string().contains("did you mean notes?"), "{fault}");
}

#[tokio::test]
async fn a_link_out_of_the_clone_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ct")).unwrap();
    std::fs::write(dir.path().join("ct/here.sh"), "APP=\"Here\"\n").unwrap();
    std::fs::write(dir.path().join("secret"), "APP=\"Secret\"\n").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("ct/there.sh")).unwrap();
    let house = House::new().await;
    let context = tools::context::Context {
        scripts: Some(dir.path().into()),
        ..house.context()
    };
    let tool = tools::registry::all()
        .find(|tool| tool.spec().name == "get_proxmox_script_info")
        .unwrap();
    for (name, found) in [("here", true), ("there", false), ("../secret", false)] {
        let args = crate::house::object(&format!(r#"{{"script_name": "{name}"}}"#));
        assert_eq!(tool.run(args, &context).await.is_ok(), found, "{name}");
    }
}

#[tokio::test]
async fn without_a_clone_it_says_how_to_get_one() {
    let house = House::new().await;
    let context = tools::context::Context {
        scripts: None,
        ..house.context()
    };
    let tool = tools::registry::all()
        .find(|tool| tool.spec().name == "search_proxmox_scripts")
        .unwrap();
    let args = crate::house::object(r#"{"query": "notes"}"#);
    let Err(fault) = tool.run(args, &context).await else {
        panic!("there is no clone");
    };
    assert!(fault.to_string().contains("community_scripts"), "{fault}");
}
