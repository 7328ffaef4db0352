//! Ceph, where it is installed and where it is not.

use tools::policy::{Mode, Policy};

use crate::house::{Furnish, House};

fn flags(house: &House) -> Vec<String> {
    house.sim.world(|world| {
        let ceph = world.ceph.as_ref().unwrap();
        ceph.flags.iter().cloned().collect()
    })
}

#[tokio::test]
async fn where_it_is_not_installed_pve_says_so() {
    let mut furnish = Furnish::default();
    furnish.world.ceph = None;
    let house = House::furnished(furnish).await;
    for (tool, args) in [
        ("get_ceph_status_cluster", "{}"),
        ("get_ceph_metadata", "{}"),
        ("list_ceph_osds", r#"{"node": "pve1"}"#),
        ("set_ceph_flags", r#"{"flag": "noout", "value": true}"#),
        ("create_ceph_pool", r#"{"node": "pve1", "name": "x"}"#),
    ] {
        let said = house.agreed(tool, args).await.unwrap_err().to_string();
        assert!(said.contains("binary not installed"), "{tool}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn each_disk_in_service_is_a_row() {
    let house = House::new().await;
    house.sim.set_online("pve3", false);
    let answer = house.call("list_ceph_osds", r#"{"node": "pve1"}"#).await;
    let rows = answer.unwrap().data["rows"].clone();
    let told: Vec<_> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} {}", row["name"], row["host"], row["status"]))
        .collect();
    assert_eq!(
        told,
        [
            r#""osd.0" "pve1" "up""#,
            r#""osd.1" "pve2" "up""#,
            r#""osd.2" "pve3" "down""#
        ]
    );
}

#[tokio::test]
async fn a_flag_is_set_shows_in_the_health_and_goes_back() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"flag": "noout", "value": true}"#;
    let answer = house.call("set_ceph_flags", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(flags(&house), ["noout"]);
    let health = house.call("get_ceph_status_cluster", "{}").await.unwrap();
    assert!(health.text.contains("noout flag(s) set"), "{}", health.text);
    let undo = &answer.data["undo"];
    let tool = undo["tool"].as_str().unwrap();
    let back = house.call(tool, &undo["arguments"].to_string()).await;
    assert_eq!(back.unwrap().data["status"], "applied");
    assert_eq!(flags(&house), [""; 0]);
}

#[tokio::test]
async fn to_stop_all_access_somebody_has_to_agree() {
    let house = House::new().await;
    let args = r#"{"flag": "pause", "value": true}"#;
    let _ = house.call("set_ceph_flags", args).await;
    assert_eq!(flags(&house), [""; 0]);
    house.agreed("set_ceph_flags", args).await.unwrap();
    assert_eq!(flags(&house), ["pauserd", "pausewr"]);
}

#[tokio::test]
async fn a_disk_becomes_an_osd_for_root_alone() {
    let house = House::logged_in(Mode::Trusted).await;
    for (args, because) in [
        (r#"{"node": "pve3", "dev": "/dev/sda"}"#, "is in use (LVM)"),
        (r#"{"node": "pve3", "dev": "/dev/sdx"}"#, "there is no disk"),
        (
            r#"{"node": "pve3", "dev": "/dev/sdb", "db_dev": "/dev/sdb"}"#,
            "is named twice",
        ),
        (
            r#"{"node": "pve1", "dev": "/dev/nvme9", "db_dev": "/dev/sda"}"#,
            "there is no disk",
        ),
    ] {
        let said = house.agreed("create_ceph_osd", args).await.unwrap_err();
        assert!(said.to_string().contains(because), "{args}: {said}");
    }
    assert_eq!(house.writes(), ["POST /access/ticket"]);
    house.sim.world(|world| {
        world.grant("bob@pve", "/", &["Sys.Audit", "Sys.Modify"]);
    });
    let policy = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    let args = r#"{"node": "pve3", "dev": "/dev/sdb", "db_dev": "/dev/nvme0n1"}"#;
    let engine = house.with_password("bob@pve", "bob-simulated", policy);
    let call = crate::house::call("create_ceph_osd", args);
    let said = crate::house::done(engine.call(call, &crate::house::Nobody).await).unwrap_err();
    assert!(said.to_string().contains("only root@pam"), "{said}");
    let answer = house.agreed("create_ceph_osd", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let devices: Vec<String> = house.sim.world(|world| {
        let ceph = world.ceph.as_ref().unwrap();
        let osds = ceph.osds.values();
        osds.map(|osd| format!("{}:{}", osd.host, osd.device))
            .collect()
    });
    assert_eq!(devices[3..], ["pve3:sdb"]);
}

/// A disk has a path, and a link to it that says what is printed on it.
#[tokio::test]
async fn a_disk_is_known_by_each_of_its_names() {
    let house = House::logged_in(Mode::Trusted).await;
    let cluster = &house.engine.clusters()[0];
    let disks = cluster.pve.list("/nodes/pve3/disks/list").await;
    let disks: Vec<serde_json::Value> = disks.unwrap();
    let link = |path: &str| {
        let row = disks.iter().find(|row| row["devpath"] == path).unwrap();
        row["by_id_link"].as_str().unwrap().to_owned()
    };
    let osd = |dev: &str, db: &str, wal: &str| {
        serde_json::json!({"node": "pve3", "dev": dev, "db_dev": db, "wal_dev": wal}).to_string()
    };
    let (sdb, nvme) = (link("/dev/sdb"), link("/dev/nvme0n1"));
    for args in [
        osd(&sdb, "/dev/sdb", "/dev/nvme0n1"),
        osd("/dev/sdb", &sdb, "/dev/nvme0n1"),
        osd("/dev/sdb", "/dev/nvme0n1", &nvme),
    ] {
        let said = house.agreed("create_ceph_osd", &args).await.unwrap_err();
        assert!(said.message.contains("is named twice"), "{args}: {said}");
    }
    let args = serde_json::json!({"node": "pve3", "dev": sdb, "db_dev": nvme});
    let answer = house.agreed("create_ceph_osd", &args.to_string()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}
