//! A file out of a backup: whole or not at all, and for nobody's eyes here.

use serde_json::json;
use sim::Fault;
use tokio::sync::Notify;
use tools::engine::{Asked, Progress, Question, State, Talk};
use tools::policy::{Mode, Policy, Rule, Verdict};
use tools::spec::Risk;

use crate::house::{CALLER, Furnish, House, Person};

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

/// Whoever waits is told how much of it is there, and at the end all of it.
#[tokio::test]
async fn how_far_it_is_is_told_as_a_share_of_the_file() {
    let house = House::in_mode(Mode::Trusted).await;
    let person = Person::saying_yes();
    house
        .ask(GET, &args("/root.pxar.didx/etc/hosts"), &person)
        .await
        .unwrap();
    let told = person.progress.lock().unwrap();
    let shares: Vec<_> = told.iter().filter_map(|it| it.fraction).collect();
    assert!(shares.is_sorted() && shares[0] >= 0.0, "{shares:?}");
    assert_eq!(shares.last(), Some(&1.0), "{shares:?}");
}

/// Of a file that was coming when the process died nothing is left to the next one.
#[tokio::test]
async fn what_came_before_the_process_died_is_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::furnished(Furnish {
        state: State::Dir(dir.path().to_owned()),
        ..Furnish::default()
    })
    .await;
    house.engine.store().await.unwrap();
    let downloads = dir.path().join("downloads");
    std::fs::create_dir_all(&downloads).unwrap();
    std::fs::write(downloads.join("part-1800000000-hosts"), "ho").unwrap();
    std::fs::write(downloads.join("1800000000-hosts"), "hosts").unwrap();
    house.engine.close_left_open().await.unwrap();
    assert_eq!(files(dir.path()), 1, "what was whole is kept");
}

#[tokio::test]
async fn what_is_no_file_there_is_told_with_where_to_look() {
    let house = House::in_mode(Mode::Trusted).await;
    for (path, said) in [
        ("/root.pxar.didx/etc", "is no file"),
        (
            "/root.pxar.didx/etc/shadow",
            "list_file_restore with filepath \"/root.pxar.didx/etc\"",
        ),
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
    let engine = house.kept_in(dir.path(), trusting());
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

/// A preview leaves no trace of who looked, so that it tells no names.
#[tokio::test]
async fn a_preview_names_nothing_that_is_in_the_backup() {
    let house = House::in_mode(Mode::Trusted).await;
    let wrong = args("/root.pxar.didx/etc/shadow");
    let asked = json!({"tool": GET, "arguments": crate::house::object(&wrong)});
    let asked = asked.to_string();
    let faults = [
        house.preview(GET, &wrong).await,
        house.call("preview_proxmox_change", &asked).await,
    ];
    for fault in faults.map(Result::unwrap_err) {
        assert!(fault.message.contains("there is no file"), "{fault}");
        assert!(!fault.to_string().contains("hosts"), "{fault}");
    }
}

/// An empty file is whole before anything came.
#[tokio::test]
async fn an_empty_file_that_pve_refuses_is_not_there() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.kept_in(dir.path(), trusting());
    let path = "/root.pxar.didx/home/demo/.keep";
    for (fault, status) in [
        (
            Some(Fault::refuse(403, "Permission check failed")),
            "failed",
        ),
        (Some(Fault::drop_before()), "unknown"),
        (None, "applied"),
    ] {
        house.sim.clear_faults();
        if let Some(fault) = fault {
            house.sim.fault(fault.on("GET", "*/file-restore/download"));
        }
        let call = crate::house::call(GET, &args(path));
        let told = crate::house::done(engine.call(call, &crate::house::Nobody).await);
        let (told, said) = match told {
            Ok(answer) => (answer.data["status"].clone(), answer.text),
            Err(fault) => (json!("failed"), fault.to_string()),
        };
        assert_eq!(told, status, "{said}");
        assert_eq!(
            files(dir.path()),
            usize::from(status == "applied"),
            "{said}"
        );
    }
}

fn trusting() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

/// Somebody who does something as soon as it is told that the work has begun.
struct Once<F>(F);

impl<F: Fn() + Send + Sync> Talk for Once<F> {
    fn progress(&self, _: Progress) {
        (self.0)();
    }

    fn ask<'a>(&'a self, _: &'a Question) -> futures_util::future::BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }
}

fn assert_stopped(told: &Result<tools::tool::Rendered, tools::fault::Fault>, because: &str) {
    let fault = told.as_ref().unwrap_err();
    let said = fault.to_string();
    assert!(said.contains(because), "{said}");
    assert!(said.contains("0 B of 187 B came"), "{said}");
}

#[tokio::test]
async fn the_kill_switch_stops_it_on_its_way() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let switch = dir.path().join("frozen");
    let policy = Policy {
        freeze: Some(switch.clone()),
        ..trusting()
    };
    let engine = house.kept_in(dir.path(), policy);
    let call = crate::house::call(GET, &args("/root.pxar.didx/etc/hosts"));
    let talk = Once(|| std::fs::write(&switch, "").unwrap());
    let told = crate::house::done(engine.call(call, &talk).await);
    assert_stopped(&told, "oxmox is frozen");
    assert_eq!(files(dir.path()), 0);
}

#[tokio::test]
async fn whoever_cancels_it_stops_it_on_its_way() {
    let house = House::in_mode(Mode::Trusted).await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.kept_in(dir.path(), trusting());
    // It does not wait for a first byte.
    let late = sim::Fault::delay(std::time::Duration::from_hours(1));
    house.sim.fault(late.on("GET", "*/file-restore/download"));
    let begun = Notify::new();
    let talk = Once(|| begun.notify_one());
    let call = crate::house::call(GET, &args("/root.pxar.didx/etc/hosts"));
    let cancelling = async {
        begun.notified().await;
        let plans = engine.at_work_for(CALLER).await;
        engine.cancel(&plans[0], CALLER).await.unwrap();
    };
    let (told, ()) = tokio::join!(engine.call(call, &talk), cancelling);
    assert_stopped(&crate::house::done(told), "cancelled by test");
    assert_eq!(files(dir.path()), 0);
}

/// What is read can be handed out, and reading neither interrupts nor destroys.
#[tokio::test]
async fn a_rule_about_grants_holds_for_a_guest_that_is_only_read() {
    for (vmid, risk, denied) in [
        ("202", Risk::Grant, true),
        ("203", Risk::Grant, false),
        ("202", Risk::Destroy, false),
    ] {
        let rule = Rule {
            vmid: Some(vmid.to_owned()),
            risk: Some(risk),
            verdict: Some(Verdict::Deny),
            ..Rule::default()
        };
        let house = House::furnished(Furnish {
            policy: Policy {
                rules: vec![rule],
                ..trusting()
            },
            ..Furnish::default()
        })
        .await;
        let told = house.call(GET, &args("/root.pxar.didx/etc/hosts")).await;
        let said = told.map_or_else(|fault| fault.to_string(), |answer| answer.text);
        let is_denied = said.contains("a rule in the configuration");
        assert_eq!(is_denied, denied, "{vmid} {risk:?}: {said}");
    }
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
