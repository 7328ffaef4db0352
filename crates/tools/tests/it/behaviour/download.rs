//! A file out of a backup: whole or not at all, and for nobody's eyes here.

use serde_json::json;
use sim::Fault;
use tools::policy::Mode;

use crate::house::House;

const GET: &str = "download_file_restore";

fn args(path: &str) -> String {
    let volume = "vault:backup/ct/202/2026-11-15T01:00:04Z";
    json!({"node": "pve1", "storage": "vault", "volume": volume, "filepath": path}).to_string()
}

fn files(dir: &std::path::Path) -> usize {
    std::fs::read_dir(dir.join("downloads")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_file_is_kept_for_its_owner_and_not_shown() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(GET, &args("/root.pxar.didx/etc/hosts"))
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let path = answer.data["steps"][0]["result"]["path"].as_str().unwrap();
    let content = std::fs::read_to_string(path).unwrap();
    assert_eq!(content.len(), 187);
    assert!(content.starts_with("hosts\nhosts\n"));
    assert!(!answer.text.contains("hosts\nhosts"), "{}", answer.text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_is_no_file_there_is_told_with_what_is() {
    let house = House::in_mode(Mode::Trusted).await;
    for (path, said) in [
        ("/root.pxar.didx/etc", "is no file"),
        ("/root.pxar.didx/etc/shadow", "there are hostname and hosts"),
        ("/root.pxar.didx", "is no file"),
    ] {
        let fault = house.call(GET, &args(path)).await.unwrap_err();
        assert!(fault.to_string().contains(said), "{path}: {fault}");
    }
    let wrong = args("/x").replace("backup/ct/202", "iso");
    let fault = house.call(GET, &wrong).await.unwrap_err();
    assert!(fault.message.contains("is no backup"), "{fault}");
}

/// PVE's answer ends the same way whether all of it came or not.
#[tokio::test]
async fn a_file_that_is_not_whole_is_not_kept() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let trusting = tools::policy::Policy {
        mode: Mode::Trusted,
        ..tools::policy::Policy::default()
    };
    let engine = house.kept_in(dir.path(), trusting);
    let get = || crate::house::call(GET, &args("/root.pxar.didx/etc/hosts"));
    let path = "*/file-restore/download";
    for (data, said) in [
        (json!("short"), "PVE ended it too early"),
        (json!("x".repeat(500)), "it is longer than the backup says"),
    ] {
        house.sim.fault(Fault::answer("GET", path, data));
        let told = crate::house::done(engine.call(get(), &crate::house::Nobody).await);
        let told = told.map_or_else(|fault| fault.to_string(), |answer| answer.text);
        assert!(told.contains(said), "{told}");
        assert_eq!(files(dir.path()), 0);
        house.sim.clear_faults();
    }
    crate::house::done(engine.call(get(), &crate::house::Nobody).await).unwrap();
    assert_eq!(files(dir.path()), 1);
}

/// The name of a file may be as long as a path's part may be, and ours has more in it.
#[tokio::test]
async fn a_long_name_is_cut_and_the_file_kept() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let trusting = tools::policy::Policy {
        mode: Mode::Trusted,
        ..tools::policy::Policy::default()
    };
    let engine = house.kept_in(dir.path(), trusting);
    let path = format!("/root.pxar.didx/etc/{}.conf", "a".repeat(250));
    let listed = json!([{
        "text": "a", "type": "f", "size": 16, "mtime": 1,
        "filepath": base64(&path),
    }]);
    house
        .sim
        .fault(Fault::answer("GET", "*/file-restore/list", listed));
    house.sim.fault(Fault::answer(
        "GET",
        "*/file-restore/download",
        json!("12345"),
    ));
    let call = crate::house::call(GET, &args(&path));
    let answer = crate::house::done(engine.call(call, &crate::house::Nobody).await).unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let kept = answer.data["steps"][0]["result"]["path"].as_str().unwrap();
    assert!(kept.ends_with("aaa.conf"), "{kept}");
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// One answer gives one advice.
#[tokio::test]
async fn what_broke_off_may_be_asked_for_again_and_what_is_too_long_not() {
    let house = House::in_mode(Mode::Trusted).await;
    let path = "*/file-restore/download";
    house.sim.fault(Fault::drop_before().on("GET", path));
    let answer = house
        .call(GET, &args("/root.pxar.didx/etc/hosts"))
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("make the same call again"),
        "{}",
        answer.text
    );
    assert!(
        !answer.text.contains("do not send it again"),
        "{}",
        answer.text
    );
    house.sim.clear_faults();
    house
        .sim
        .fault(Fault::answer("GET", path, json!("x".repeat(500))));
    let fault = house
        .call(GET, &args("/root.pxar.didx/etc/hosts"))
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("it is longer than the backup says"),
        "{fault}"
    );
    assert!(!fault.to_string().contains("same call"), "{fault}");
}

#[tokio::test]
async fn a_path_that_is_none_from_the_root_is_told_with_where_paths_are() {
    let house = House::in_mode(Mode::Trusted).await;
    for (path, said) in [
        ("root.pxar.didx/etc/hosts", "does not begin with /"),
        ("/root.pxar.didx/etc/../etc/hosts", "has . or .. in it"),
        ("/root.pxar.didx/./etc", "has . or .. in it"),
    ] {
        for tool in [GET, "list_file_restore"] {
            let fault = house.call(tool, &args(path)).await.unwrap_err();
            assert_eq!(fault.kind, tools::fault::Kind::BadInput, "{fault}");
            assert!(fault.message.contains(said), "{fault}");
            assert!(
                fault
                    .hint
                    .unwrap()
                    .contains("list_file_restore has the paths")
            );
        }
    }
}
