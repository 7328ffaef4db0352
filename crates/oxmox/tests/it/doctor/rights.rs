//! What a token that may do little can do, and the line that lets it do more.

use sim::Sim;

use super::{Clinic, findings, homelab_sim, of_sim};

const TOKEN: &str = "carl@pve!ci";
const SECRET: &str = "carls-secret";

async fn with_rights(path: &str, privileges: &[&str]) -> Sim {
    let sim = homelab_sim().await;
    sim.world(|world| {
        world.add_token(TOKEN, SECRET);
        world.grant("carl@pve", path, privileges);
    });
    sim
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_without_a_right_are_named_with_the_line_that_allows_them() {
    let sim = with_rights("/vms", &["VM.Audit", "VM.PowerMgmt"]).await;
    let clinic = Clinic::new();
    clinic.configure(&[of_sim("lab", &sim, TOKEN)], SECRET);
    // Few rights are what somebody meant; it is no failure.
    let report = clinic.doctor(&["--json"]).exits(0).json();
    let found = findings(&report, "privileges")[0];
    let detail = &found["detail"];
    let can: Vec<_> = detail["can"].as_array().unwrap().iter().collect();
    for tool in [
        "list_proxmox_resources",
        "start_proxmox_vm",
        "get_proxmox_vm_status",
    ] {
        assert!(can.iter().any(|one| *one == tool), "{tool}: {found:#}");
    }
    let lacks = |tool: &str| {
        let cannot = detail["cannot"].as_array().unwrap();
        let one = cannot.iter().find(|one| one["tool"] == tool);
        one.unwrap_or_else(|| panic!("{tool}: {found:#}"))["lacks"].to_string()
    };
    assert_eq!(
        lacks("snapshot_proxmox_vm"),
        r#"["VM.Snapshot on /vms/VMID"]"#
    );
    assert!(lacks("backup_proxmox_vm").contains("Datastore.AllocateSpace on /storage/STORAGE"));
    let line = detail["allow"].as_str().unwrap();
    assert!(
        line.contains("pveum role add oxmox-more-vms --privs "),
        "{line}"
    );
    assert!(
        line.contains("pveum acl modify /vms --roles oxmox-more-vms --tokens 'carl@pve!ci'"),
        "{line}"
    );
    assert!(
        line.contains("VM.Snapshot") && !line.contains("VM.Audit"),
        "{line}"
    );
    // The world runs a PVE 9, which has no VM.Monitor.
    assert!(
        line.contains("VM.GuestAgent.Unrestricted") && !line.contains("VM.Monitor"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_right_at_all_is_a_problem() {
    let sim = with_rights("/vms", &[]).await;
    let clinic = Clinic::new();
    clinic.configure(&[of_sim("lab", &sim, TOKEN)], SECRET);
    clinic
        .doctor(&[])
        .exits(1)
        .prints("there is no right anywhere")
        .prints("hint: to allow all of them, on a node: pveum role add");
}
