//! Retention by hours, days, weeks, months and years: what the preview says goes is what goes.

use serde_json::json;
use sim::Fault;
use sim::world::storage::Volume;
use tools::policy::Mode;

use crate::house::{Furnish, House};

const TOOL: &str = "backup_proxmox_vm";
const DAY: u64 = 86_400;

/// The demo world, in which container 200 has backups of these ages on nas.
async fn with_backups(ages: &[u64]) -> House {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let model = world.volumes.iter().find(|it| is_one(it)).unwrap().clone();
        world.volumes.retain(|volume| !is_one(volume));
        let now = world.now.secs();
        for age in ages {
            let taken = now - age;
            let name = jiff::Timestamp::from_second(i64::try_from(taken).unwrap())
                .unwrap()
                .strftime("nas:backup/vzdump-lxc-200-%Y_%m_%d-%H_%M_%S.tar.zst");
            world.volumes.push(Volume {
                volid: name.to_string(),
                created: sim::Time::from_secs(taken),
                protected: false,
                ..model.clone()
            });
        }
    });
    house
}

fn is_one(volume: &Volume) -> bool {
    volume.vmid == Some(200) && volume.content == "backup" && volume.volid.starts_with("nas:")
}

fn listed(house: &House) -> Vec<String> {
    let look = |world: &mut sim::World| {
        let found = world.volumes.iter().filter(|volume| is_one(volume));
        found.map(|volume| volume.volid.clone()).collect()
    };
    house.sim.world(look)
}

/// The backups that a preview names as going: surely, and perhaps.
fn doomed(preview: &tools::tool::Rendered) -> (Vec<String>, Vec<String>) {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let items = preview.data["affects"].as_array().unwrap().iter();
    let (perhaps, surely): (Vec<_>, Vec<_>) = items
        .filter(|item| item["effect"] == "destroyed")
        .partition(|item| text(&item["note"]).ends_with("may go"));
    let names = |items: Vec<&serde_json::Value>| items.iter().map(|it| text(&it["id"])).collect();
    (names(surely), names(perhaps))
}

#[tokio::test]
async fn exactly_what_the_preview_shows_goes() {
    let ages = [
        600,
        DAY,
        DAY + 1800,
        2 * DAY,
        6 * DAY,
        8 * DAY,
        15 * DAY,
        40 * DAY,
        400 * DAY,
    ];
    for rule in [
        "keep-daily=2",
        "keep-daily=7,keep-weekly=4",
        "keep-last=1,keep-monthly=3",
        "keep-hourly=2,keep-yearly=2",
        "keep-last=2,keep-hourly=1,keep-daily=1,keep-weekly=1,keep-monthly=1,keep-yearly=1",
        "keep-all=1",
    ] {
        for protected in [false, true] {
            let house = with_backups(&ages).await;
            let before = listed(&house);
            let args = format!(
                r#"{{"vmid": 200, "storage": "nas", "prune": "{rule}", "protected": {protected}}}"#
            );
            let preview = house.preview(TOOL, &args).await.unwrap();
            let (surely, perhaps) = doomed(&preview);
            let risk = if surely.len() + perhaps.len() > 0 {
                "destroy"
            } else {
                "change"
            };
            assert_eq!(preview.data["risk"], risk, "{}", preview.text);
            house.call(TOOL, &args).await.unwrap();
            let after = listed(&house);
            let gone: Vec<_> = before.iter().filter(|it| !after.contains(it)).collect();
            let says = format!("{rule} {protected}: gone {gone:?}\n{}", preview.text);
            assert!(surely.iter().all(|one| gone.contains(&one)), "{says}");
            let named = |one: &&&String| surely.contains(**one) || perhaps.contains(**one);
            assert_eq!(gone.iter().filter(named).count(), gone.len(), "{says}");
            assert_eq!(rule == "keep-all=1", gone.is_empty(), "{says}");
        }
    }
}

/// The backup of this morning stands for today, until the new one does.
#[tokio::test]
async fn the_new_backup_takes_the_place_of_todays() {
    let house = with_backups(&[60, 3 * DAY]).await;
    let args = r#"{"vmid": 200, "storage": "nas", "prune": "keep-daily=9"}"#;
    let preview = house.preview(TOOL, args).await.unwrap();
    let (surely, perhaps) = doomed(&preview);
    assert_eq!(surely.len() + perhaps.len(), 1, "{}", preview.text);
}

/// Without Sys.Audit the node does not tell its time zone: more may go, and the preview says so.
#[tokio::test]
async fn what_is_not_known_is_named_as_the_most_that_may_go() {
    let house = with_backups(&[6 * 3600, 3 * DAY]).await;
    let now = house.sim.world(|world| world.now.secs());
    house.later(i64::try_from(now).unwrap() - 1_800_000_000);
    let args = r#"{"vmid": 200, "storage": "nas", "prune": "keep-daily=9"}"#;
    let rights = [
        "VM.Audit",
        "VM.Backup",
        "Datastore.Audit",
        "Datastore.AllocateSpace",
        "Datastore.Allocate",
    ];
    let preview = house.call_with(("/", &rights), TOOL, args).await.unwrap();
    assert!(preview.text.contains("; may go)"), "{}", preview.text);
    assert!(
        preview.text.contains("at most 1 older backup"),
        "{}",
        preview.text
    );
    assert!(preview.text.contains("may go or stay"), "{}", preview.text);
}

/// PVE counts no protected backup, and lets one be made beyond the storage's rule.
#[tokio::test]
async fn a_protected_backup_counts_for_nothing() {
    let house = with_backups(&[DAY, 2 * DAY]).await;
    house.sim.world(|world| {
        let nas = world.storages.get_mut("nas").unwrap();
        let rule = "keep-last=2".to_owned();
        nas.props.insert("prune-backups".to_owned(), rule);
    });
    let args = r#"{"vmid": 200, "storage": "nas", "protected": true}"#;
    house.call(TOOL, args).await.unwrap();
    assert_eq!(listed(&house).len(), 3);
}

/// A backup waits while another one runs on its node, and may be of the next day by the time it is taken.
#[tokio::test]
async fn a_backup_that_may_have_to_wait_past_midnight_is_reckoned_with_on_both_days() {
    let args = r#"{"vmid": 200, "storage": "nas", "prune": "keep-daily=2"}"#;
    for (lock_wait, gone, may_go) in [(180, 1, 2), (0, 2, 0)] {
        let since_midnight = Furnish::default().world.now.secs() % DAY;
        let mornings = [10, 11, 12].map(|days| days * DAY + since_midnight - 8 * 3600);
        let house = with_backups(&mornings).await;
        let now = house.sim.world(|world| world.now.secs());
        let evening = now - mornings[0] + 13 * 3600 + 1800;
        let time = json!({"time": evening, "localtime": evening});
        house.sim.fault(Fault::answer("GET", "/nodes/*/time", time));
        let defaults = json!({"lockwait": lock_wait});
        house
            .sim
            .fault(Fault::answer("GET", "/nodes/*/vzdump/defaults", defaults));
        let preview = house.preview(TOOL, args).await.unwrap();
        let (surely, perhaps) = doomed(&preview);
        let found = (surely.len(), perhaps.len());
        assert_eq!(found, (gone, may_go), "{lock_wait}: {}", preview.text);
    }
}
