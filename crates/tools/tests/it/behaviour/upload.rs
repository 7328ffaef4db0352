//! A file of this machine on its way to a storage: sent once, as it was shown, and read back.

use serde_json::json;
use tools::engine::Talk;
use tools::fault::{Fault, Kind};
use tools::policy::{Mode, Policy};
use tools::tool::Rendered;

use crate::house::{Furnish, House, Meanwhile, Person, shelf};

const UPLOAD: &str = "upload_to_storage";
const UPLOADED: &str = "POST /nodes/pve1/storage/nas/upload";

/// A file of a test's own.
struct Image {
    path: std::path::PathBuf,
}

impl Image {
    fn new(test: &str, bytes: usize) -> Self {
        let path = shelf().join(format!("{test}.iso"));
        std::fs::write(&path, vec![1; bytes]).unwrap();
        Self { path }
    }

    fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    fn args_at(&self, node: &str) -> String {
        let args =
            json!({"node": node, "storage": "nas", "content": "iso", "filename": self.name()});
        args.to_string()
    }

    fn args(&self) -> String {
        self.args_at("pve1")
    }

    fn size_on(&self, house: &House) -> Option<u64> {
        let volid = format!("nas:iso/{}", self.name());
        house
            .sim
            .world(|world| world.volume("pve1", &volid).map(|volume| volume.size))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A house in which a person is asked before each upload.
async fn asking() -> House {
    let rules = json!([{"tool": UPLOAD, "verdict": "ask"}]);
    let policy = Policy {
        rules: serde_json::from_value(rules).unwrap(),
        ..Policy::default()
    };
    House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await
}

async fn said(house: &House, image: &Image, talk: &dyn Talk) -> String {
    match house.ask(UPLOAD, &image.args(), talk).await {
        Ok(answer) => answer.text,
        Err(fault) => fault.to_string(),
    }
}

#[tokio::test]
async fn the_bytes_arrive_and_the_way_is_told() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("arrives", 3 << 20);
    let person = Person::saying_yes();
    let answer = house.ask(UPLOAD, &image.args(), &person).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let read_back = "is there with 3145728 bytes";
    assert!(answer.text.contains(read_back), "{}", answer.text);
    assert_eq!(image.size_on(&house), Some(3 << 20));
    let told = person.progress.lock().unwrap();
    let shares: Vec<_> = told
        .iter()
        .filter(|it| it.message.contains("of 3.0 MiB"))
        .collect();
    assert!(shares.len() > 3, "{told:?}");
    assert!(
        shares
            .iter()
            .any(|it| it.fraction.is_some_and(|share| share > 0.5))
    );
}

/// What a node fetches itself is told by the lines of its task.
#[tokio::test]
async fn a_download_tells_how_far_it_is() {
    let house = House::in_mode(Mode::Trusted).await;
    let person = Person::saying_yes();
    let args = json!({"node": "pve1", "storage": "nas", "content": "iso", "filename": "a.iso", "url": "https://example.org/a.iso"});
    let answer = house
        .ask("download_url_to_storage", &args.to_string(), &person)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let told = person.progress.lock().unwrap();
    let shares: Vec<_> = told.iter().filter_map(|it| it.fraction).collect();
    assert!(shares.len() > 1 && shares.is_sorted(), "{told:?}");
    assert!(
        shares.iter().any(|share| (0.1..0.9).contains(share)),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_preview_shows_file_sum_and_room() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("shown", 1_000);
    let shown = house.preview(UPLOAD, &image.args()).await.unwrap().text;
    for part in [
        "nas:iso/shown.iso",
        "1000 B",
        "SHA-256 ",
        "free there",
        "checksum-algorithm=sha256 checksum=",
        "filename=shown.iso",
        image.path.to_str().unwrap(),
        "undo: delete_storage_volume",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_shown_is_not_sent() {
    let house = asking().await;
    let image = Image::new("changed", 1_000);
    let talk = Meanwhile(|| std::fs::write(&image.path, vec![2; 1_000]).unwrap());
    let told = said(&house, &image, &talk).await;
    assert!(told.contains("has changed since it was planned"), "{told}");
    assert_eq!(house.writes(), [""; 0]);
    let talk = Meanwhile(|| drop(std::fs::remove_file(&image.path)));
    let told = said(&house, &image, &talk).await;
    assert!(
        told.contains("there is no file") || told.contains("cannot be read"),
        "{told}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_is_taken_is_never_overwritten() {
    let house = asking().await;
    let image = Image::new("taken", 1_000);
    let talk = Meanwhile(|| {
        house.sim.world(|world| {
            let mut other = world
                .volumes
                .iter()
                .find(|it| it.content == "iso")
                .unwrap()
                .clone();
            other.volid = "nas:iso/taken.iso".to_owned();
            other.node = None;
            world.volumes.push(other);
        });
    });
    let told = said(&house, &image, &talk).await;
    assert!(told.contains("the ISO images on nas"), "{told}");
    let fault = house.call(UPLOAD, &image.args()).await.unwrap_err();
    assert!(fault.message.contains("PVE would overwrite it"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_connection_lost_half_way_is_unknown_and_not_tried_again() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("cut", 8 << 20);
    house
        .sim
        .fault(sim::Fault::drop_during().on("POST", "*/upload"));
    let answer = house.call(UPLOAD, &image.args()).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("was not sent again"),
        "{}",
        answer.text
    );
    let next = answer.data["next"].as_str().unwrap();
    assert!(next.contains("list_storage_content"), "{next}");
    assert!(next.contains("nas:iso/cut.iso is there"), "{next}");
    assert_eq!(house.writes(), [""; 0], "nothing was carried out");
    assert_eq!(image.size_on(&house), None);
}

/// Whichever node a file is for, the one that is asked runs the task.
#[tokio::test]
async fn a_lost_answer_is_found_at_the_node_that_was_asked() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("elsewhere", 1_000);
    house
        .sim
        .fault(sim::Fault::drop_after().on("POST", "*/upload"));
    let answer = house.call(UPLOAD, &image.args_at("pve2")).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let task = answer.data["steps"][0]["task"].as_str().unwrap();
    assert!(task.starts_with("UPID:pve1:"), "{task}");
    assert_eq!(house.writes().len(), 1);
}

#[tokio::test]
async fn another_checksum_fails_it_in_pves_words() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("mismatch", 1_000);
    let exit = "checksum mismatch: got 'a' != expect 'b'";
    house.sim.fault(sim::Fault::fail_task(
        "imgcopy",
        "calculating checksum...",
        exit,
    ));
    let fault = house.call(UPLOAD, &image.args()).await.unwrap_err();
    assert!(fault.message.contains(exit), "{fault}");
    assert_eq!(image.size_on(&house), None);
    assert_eq!(house.writes(), [UPLOADED]);
}

fn fill_up(house: &House, left: u64) {
    house.sim.world(|world| {
        let used = world.used_space("pve1", "nas");
        world.storages.get_mut("nas").unwrap().capacity = used + left;
    });
}

#[tokio::test]
async fn a_storage_that_is_full_takes_nothing() {
    let house = asking().await;
    let image = Image::new("full", 5_000);
    let talk = Meanwhile(|| fill_up(&house, 10));
    let told = said(&house, &image, &talk).await;
    assert!(told.contains("No space left on device"), "{told}");
    assert_eq!(house.writes(), [UPLOADED]);
    let fault = house.call(UPLOAD, &image.args()).await.unwrap_err();
    assert!(
        fault.message.contains("storage nas has 10 B free"),
        "{fault}"
    );
    assert_eq!(house.writes(), [UPLOADED], "known beforehand");
}

async fn with_rights(
    privileges: &[&str],
    image: &Image,
) -> (House, Result<Rendered, tools::fault::Fault>) {
    let house = House::new().await;
    let path = ("/storage/nas", privileges);
    let answer = house.call_with(path, UPLOAD, &image.args()).await;
    (house, answer)
}

#[tokio::test]
async fn without_the_privilege_no_byte_is_sent() {
    let image = Image::new("forbidden", 1_000);
    let (house, answer) = with_rights(&["Datastore.Audit"], &image).await;
    let fault = answer.unwrap_err();
    assert_eq!(fault.kind, Kind::Forbidden, "{fault}");
    let lacks = "lacks Datastore.AllocateTemplate on /storage/nas; nothing was sent";
    assert!(fault.message.contains(lacks), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    let enough = ["Datastore.Audit", "Datastore.AllocateTemplate"];
    let (_, answer) = with_rights(&enough, &image).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}

#[tokio::test]
async fn what_cannot_work_is_told_with_what_to_send() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("refused", 1_000);
    let args = |changes: serde_json::Value| {
        let mut args: serde_json::Value = serde_json::from_str(&image.args()).unwrap();
        for (name, value) in changes.as_object().unwrap() {
            args[name] = value.clone();
        }
        args.to_string()
    };
    for (changes, expected) in [
        (json!({"filename": "a b.iso"}), "send filename: \"a_b.iso\""),
        (json!({"filename": "a.txt"}), ".iso, .img"),
        (json!({"filename": "none.iso"}), "my-installer.iso"),
        (
            json!({"tmpfilename": "/etc/passwd"}),
            "there is no file /etc/passwd",
        ),
        (json!({"tmpfilename": "builds"}), "is a directory"),
        (
            json!({"storage": "tank"}),
            "those that take ISO images on pve1: local",
        ),
        (json!({"storage": "nowhere"}), "there is no storage nowhere"),
        (
            json!({"content": "import", "filename": "a.raw"}),
            "takes no images for import",
        ),
    ] {
        let args = args(changes);
        let fault = house.call(UPLOAD, &args).await.unwrap_err();
        assert!(fault.to_string().contains(expected), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// PVE writes over a file without a word, so two calls side by side must not both find the name free.
#[tokio::test]
async fn of_two_uploads_under_one_name_one_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let (one, other) = (Image::new("race1", 3_000), Image::new("race2", 5_000));
    let as_one = |image: &Image| {
        json!({"node": "pve1", "storage": "nas", "content": "iso", "filename": "race.iso", "tmpfilename": image.name()})
            .to_string()
    };
    let (one, other) = (as_one(&one), as_one(&other));
    let (first, second) = tokio::join!(house.call(UPLOAD, &one), house.call(UPLOAD, &other));
    let (done, refused): (Vec<_>, Vec<_>) = [first, second].into_iter().partition(Result::is_ok);
    assert_eq!((done.len(), refused.len()), (1, 1));
    let fault = refused.into_iter().next().unwrap().unwrap_err();
    is_taken(&fault, "nas:iso/race.iso");
    assert_eq!(house.writes(), [UPLOADED]);
    // When it is there, it is told as any file that is there.
    let fault = house.call(UPLOAD, &other).await.unwrap_err();
    assert!(fault.message.contains("is there already"), "{fault}");
}

/// Whoever comes second finds the other at it, or already done with it.
fn is_taken(fault: &Fault, volume: &str) {
    let at_it = format!("another call is just making volume {volume}");
    let is_at_it = fault.kind == Kind::Conflict && fault.message.contains(&at_it);
    assert!(
        is_at_it || fault.message.contains("is there already"),
        "{fault}"
    );
}

/// Nor may a node fetch what is being uploaded, be it by another node of a storage that all have.
#[tokio::test]
async fn an_upload_and_a_download_under_one_name_are_one() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("race3", 3_000);
    let args = json!({"node": "pve2", "storage": "nas", "content": "iso", "filename": image.name(), "url": "https://example.org/a.iso"}).to_string();
    let upload = image.args();
    let (first, second) = tokio::join!(
        house.call(UPLOAD, &upload),
        house.call("download_url_to_storage", &args)
    );
    let refused: Vec<_> = [first, second]
        .into_iter()
        .filter_map(Result::err)
        .collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    is_taken(&refused[0], "nas:iso/race3.iso");
    assert_eq!(house.writes().len(), 1);
}

/// A storage of one node alone is another one on every node.
#[tokio::test]
async fn one_name_on_the_own_storages_of_two_nodes_is_two() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("each", 3_000);
    let at = |node: &str| image.args_at(node).replace("nas", "local");
    let (here, there) = (at("pve1"), at("pve2"));
    let (first, second) = tokio::join!(house.call(UPLOAD, &here), house.call(UPLOAD, &there));
    for answer in [first, second] {
        let answer = answer.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    }
}

/// The preview, the call and whoever calls again need the checksum of the same file.
#[tokio::test]
async fn a_file_is_read_for_its_checksum_once() {
    let house = House::in_mode(Mode::Trusted).await;
    let image = Image::new("once", 3 << 20);
    let about = |person: &Person| {
        let told = person.progress.lock().unwrap();
        let of = told
            .iter()
            .filter(|it| it.message.contains("for its checksum"));
        of.count()
    };
    let preview = json!({"tool": UPLOAD, "arguments": crate::house::object(&image.args())});
    let (first, then) = (Person::saying_yes(), Person::saying_yes());
    house
        .ask("preview_proxmox_change", &preview.to_string(), &first)
        .await
        .unwrap();
    assert_eq!(about(&first), 3);
    let answer = house.ask(UPLOAD, &image.args(), &then).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(about(&then), 0);
}
