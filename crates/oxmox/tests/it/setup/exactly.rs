//! What a person's files held before setup is there again after it was taken back, byte for byte, unless somebody else has
//! written them since.

use sim::worlds::ROOT_PASSWORD;

use super::Place;
use crate::cli::Ran;

pub(super) const CONFIG: &str = ".config/oxmox/config.toml";
const CURSOR: &str = ".cursor/mcp.json";
const ZED: &str = ".config/zed/settings.json";

/// A cluster that somebody has configured by hand.
pub(super) const OLD: &str =
    "[clusters.old]\nhosts = [\"elsewhere\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n";

/// `setup` under this name, with these words besides.
pub(super) async fn setup(place: &Place, name: &str, more: &[&str]) {
    let words = [
        "--level=read",
        "--secret-store=file",
        "--yes",
        "--name",
        name,
    ];
    place.setup(&[&words, more].concat()).await.exits(0);
}

pub(super) async fn undo(place: &Place, name: &str) -> Ran {
    let words = ["--undo", "--yes", "--password-stdin", "--name", name];
    place.told(&words, ROOT_PASSWORD).await.exits(0)
}

/// Files as people and programs write them.
fn originals() -> Vec<[(&'static str, &'static str); 3]> {
    vec![
        [
            (CONFIG, "# mine\r\nmode = \"ask\"   # always\r\n"),
            (
                CURSOR,
                "{\"a\":1,\"mcpServers\":{\"b\":{\"command\":\"x\"}}}",
            ),
            (ZED, "// Zed\n{\n    \"theme\": \"One\", // dark\n}\n\n"),
        ],
        [
            (CONFIG, "\n\n"),
            (CURSOR, "\u{feff}{\r\n\t\"mcpServers\": { }\r\n}"),
            (ZED, "{ }"),
        ],
        [
            (
                CONFIG,
                "[clusters]\n\n  [clusters.lab]\n  hosts = [ 'x' ]\n  token = 'a@pve!b'\n  token_secret_env = 'X'\n\n\n",
            ),
            (
                CURSOR,
                "{\"mcpServers\":{\"oxmox\":{\"command\" : \"/opt/mine\"},},}",
            ),
            (ZED, "  \n"),
        ],
    ]
}

/// Runs in any number, clusters that share all files, with entries that differ, taken back in any order.
#[tokio::test]
async fn whatever_was_run_and_in_whatever_order_it_is_taken_back() {
    for (files, order) in originals().into_iter().zip([
        ["first", "second", "third"],
        ["third", "second", "first"],
        ["second", "third", "first"],
    ]) {
        let place = Place::new().await;
        for (file, text) in files {
            place.write(file, text);
        }
        let before = place.files();
        setup(&place, "first", &["--client=cursor"]).await;
        setup(
            &place,
            "second",
            &["--client=cursor,zed", "--mode=read-only"],
        )
        .await;
        setup(&place, "first", &["--client=cursor,zed", "--toolsets=core"]).await;
        setup(&place, "third", &["--trust=ca"]).await;
        for name in order {
            assert!(place.text(CURSOR).contains("--toolsets"), "{name} needs it");
            assert!(place.text(CONFIG).contains(&format!("[clusters.{name}]")));
            let ran = undo(&place, name).await;
            assert!(!ran.stderr.contains("before-oxmox"), "{}", ran.stderr);
            assert!(!place.text(CONFIG).contains(&format!("[clusters.{name}]")));
        }
        for (file, text) in files {
            assert_eq!(place.text(file), text, "{file} after {order:?}");
        }
        assert_eq!(place.files_but_trail(), before);
    }
}

#[tokio::test]
async fn what_was_not_there_is_gone() {
    for order in [["first", "second"], ["second", "first"]] {
        let place = Place::new().await;
        setup(&place, "first", &["--client=cursor,zed"]).await;
        setup(&place, "second", &["--client=zed,vscode", "--mode=ask"]).await;
        for name in order {
            undo(&place, name).await;
        }
        assert_eq!(place.files_but_trail(), [""; 0]);
    }
}

/// A run that fails takes back what it did, and what the runs before it did can still be taken back.
#[tokio::test]
async fn after_a_run_that_failed() {
    let place = Place::new().await;
    let text = "{\"mcpServers\":{}}";
    place.write(CURSOR, text);
    setup(&place, "home", &["--client=cursor"]).await;
    let entered = place.text(CURSOR);
    place
        .sim
        .fault(sim::Fault::refuse(500, "got no lock").on("GET", "/version"));
    let words = [
        "--level=operate",
        "--name=home",
        "--secret-store=file",
        "--yes",
        "--client=cursor",
        "--mode=ask",
    ];
    place.setup(&words).await.exits(1);
    assert_eq!(place.text(CURSOR), entered);
    place.sim.clear_faults();
    undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), text);
    assert_eq!(place.files_but_trail(), [CURSOR]);
}

/// Only what is ours goes, and what was made for it; the copy is named with why it is still there.
#[tokio::test]
async fn what_somebody_else_wrote_meanwhile_stays() {
    let place = Place::new().await;
    place.write(CURSOR, "{\n  \"a\": 1\n}\n");
    place.write(CONFIG, "mode = \"ask\"\n");
    setup(&place, "home", &["--client=cursor,zed"]).await;
    let theirs = place
        .text(CURSOR)
        .replace("\"a\": 1", "\"a\": 2 /* mine */");
    place.write(CURSOR, &theirs);
    let theirs = place
        .text(ZED)
        .replace("\"oxmox\"", "\"other\": {},\n    \"oxmox\"");
    place.write(ZED, &theirs);
    let theirs = place
        .text(CONFIG)
        .replace("mode = \"ask\"", "# mine\nmode = \"ask\"");
    place.write(CONFIG, &theirs);
    // Another run in between changes nothing about that.
    setup(&place, "home", &["--client=cursor", "--mode=ask"]).await;
    let ran = undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), "{\n  \"a\": 2 /* mine */\n}\n");
    assert_eq!(place.text(CONFIG), "# mine\nmode = \"ask\"\n");
    let zed = "{\n  \"context_servers\": {\n    \"other\": {}\n  }\n}\n";
    assert_eq!(place.text(ZED), zed);
    let copies = [
        format!("{CONFIG}.before-oxmox"),
        format!("{CURSOR}.before-oxmox"),
    ];
    for copy in &copies {
        let mut lines = ran.stderr.lines();
        let named = lines.find(|line| line.contains("stays: ") && line.contains(copy));
        let named = named.unwrap_or_else(|| panic!("{copy} is not named: {}", ran.stderr));
        assert!(named.contains("somebody else has changed"), "{named}");
    }
    let [config, cursor] = copies;
    assert_eq!(
        place.files_but_trail(),
        [CONFIG, &config, ZED, CURSOR, &cursor]
    );
}

/// Somebody made of it what it was: then the copy tells nothing that the file does not.
#[tokio::test]
async fn a_copy_of_what_is_there_again_goes() {
    let place = Place::new().await;
    let text = "{\n  \"a\": 1\n}\n";
    place.write(CURSOR, text);
    setup(&place, "home", &["--client=cursor"]).await;
    let entered = place.text(CURSOR);
    place.write(CURSOR, &format!("{entered}\n"));
    setup(&place, "home", &["--client=cursor", "--mode=ask"]).await;
    place.write(CURSOR, text);
    undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), text);
    assert_eq!(place.files_but_trail(), [CURSOR]);
}

/// A copy that another command made first is neither taken for setup's own, nor lost.
#[tokio::test]
async fn a_copy_that_was_there_already() {
    let place = Place::new().await;
    let (first, second) = ("{\"first\": 1}", "{\"second\": 2}");
    let copy = format!("{CURSOR}.before-oxmox");
    place.write(&copy, first);
    place.write(CURSOR, second);
    setup(&place, "home", &["--client=cursor"]).await;
    assert_eq!(place.text(&copy), first);
    undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), second);
    assert_eq!(place.files_but_trail(), [CURSOR, &copy]);
}

/// Killed when all files were put back, and before it was written down that they are.
#[tokio::test]
async fn an_undo_that_was_killed_at_its_end() {
    let place = Place::new().await;
    let pem = ".config/oxmox/home-ca.pem";
    let files = [(CONFIG, "mode = \"ask\"\r\n"), (pem, "mine\n")];
    for (file, text) in files {
        place.write(file, text);
    }
    setup(&place, "home", &["--trust=ca"]).await;
    let written = |name: &str| place.home("state/setup").join(name);
    let kept = ["home.json", "written"].map(|name| (name, std::fs::read(written(name)).unwrap()));
    undo(&place, "home").await;
    std::fs::create_dir_all(place.home("state/setup")).unwrap();
    for (name, text) in &kept {
        std::fs::write(written(name), text).unwrap();
    }
    // Without the journal, nothing is left to take back, and nothing to know.
    std::fs::remove_file(written("home.json")).unwrap();
    place.undo().await.exits(1).says("nothing to take back");
    assert!(!written("written").exists());
    for (name, text) in &kept {
        std::fs::write(written(name), text).unwrap();
    }
    // First with what is left of it, then with what a setup makes of that.
    for is_set_up_again in [false, true] {
        if is_set_up_again {
            std::fs::create_dir_all(place.home("state/setup")).unwrap();
            std::fs::write(written("written"), &kept[1].1).unwrap();
            setup(&place, "home", &["--trust=ca"]).await;
        }
        undo(&place, "home").await;
        for (file, text) in files {
            assert_eq!(place.text(file), text);
        }
        let mut files = place.files_but_trail();
        files.retain(|file| file != "state/setup");
        assert_eq!(files, [CONFIG, pem]);
    }
}

/// The same where somebody had written a file meanwhile: how that was once says nothing of what they put there later.
#[tokio::test]
async fn what_a_killed_undo_did_not_forget_is_of_no_use_later() {
    let place = Place::new().await;
    place.write(CURSOR, "{\n  \"a\": 1\n}\n");
    setup(&place, "home", &["--client=cursor"]).await;
    let edited = place.text(CURSOR).replace("\"a\": 1", "\"a\": 2");
    place.write(CURSOR, &edited);
    let written = "state/setup/written";
    let kept = place.text(written);
    undo(&place, "home").await;
    place.write(written, &kept);
    let theirs = "{\n  \"mcpServers\": {\n    \"oxmox\": { \"command\": \"/opt/mine\" }\n  }\n}\n";
    place.write(CURSOR, theirs);
    setup(&place, "home", &["--client=cursor"]).await;
    assert!(!place.text(CURSOR).contains("/opt/mine"));
    undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), theirs);
}

/// Ended when the configuration was back and its copy gone with that, and the client's file was still to come.
#[tokio::test]
async fn an_undo_that_was_ended_between_two_files() {
    let place = Place::new().await;
    place.write(CONFIG, OLD);
    setup(&place, "home", &["--client=cursor"]).await;
    let left = [CURSOR, "state/setup/home.json", "state/setup/written"];
    let left = left.map(|file| (file, place.text(file)));
    undo(&place, "home").await;
    for (file, text) in &left {
        place.write(file, text);
    }
    let ran = undo(&place, "home").await;
    assert!(!ran.stderr.contains("stays: "), "{}", ran.stderr);
    assert_eq!(place.text(CONFIG), OLD);
    assert!(!place.home(CURSOR).exists());
}

/// What was configured by hand is right as it is, so that setup only enters the client.
#[tokio::test]
async fn a_client_goes_where_the_configuration_was_not_changed() {
    let place = Place::new().await;
    let (user, name, secret) = sim::worlds::ROOT_TOKEN;
    let token = format!("{user}!{name}");
    place.write("secret", secret);
    crate::private::restrict(place.home("secret"));
    let file = place.home("secret").display().to_string();
    let config = format!(
        "{OLD}\n[clusters.home]\nhosts = [{{ host = \"{}\", pin = \"{}\" }}]\ntoken = \"{token}\"\ntoken_secret_file = \"{file}\"\n",
        place.sim.addr(),
        place.sim.fingerprint()
    );
    place.write(CONFIG, &config);
    let words = ["--name=home", "--client=cursor"];
    place.with_token(&token, &words, secret).await.exits(0);
    assert_eq!(place.text(CONFIG), config);
    assert!(place.text(CURSOR).contains("oxmox"));
    let ran = undo(&place, "home").await;
    assert!(!ran.stderr.contains("stays: "), "{}", ran.stderr);
    assert_eq!(place.files_but_trail(), [CONFIG, "secret"]);
}

/// What an oxmox wrote that did not write down how files were: only what is ours goes.
#[tokio::test]
async fn without_what_was_written_down() {
    let place = Place::new().await;
    let text = "{\n  \"a\": 1\n}\n";
    place.write(CURSOR, text);
    setup(&place, "home", &["--client=cursor"]).await;
    std::fs::remove_file(place.home("state/setup/written")).unwrap();
    setup(&place, "home", &["--client=cursor", "--mode=ask"]).await;
    undo(&place, "home").await;
    assert_eq!(place.text(CURSOR), text);
    assert_eq!(place.files_but_trail(), [CURSOR]);
}

#[cfg(unix)]
#[tokio::test]
async fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new().await;
    let text = "{\"mcpServers\":{}}";
    place.write("dotfiles/cursor.json", text);
    std::fs::create_dir(place.home(".cursor")).unwrap();
    symlink("../dotfiles/cursor.json", place.home(CURSOR)).unwrap();
    // At the end of this one nothing is yet.
    std::fs::create_dir_all(place.home(".config/zed")).unwrap();
    symlink("../../dotfiles/zed.json", place.home(ZED)).unwrap();
    let file = place.home("dotfiles/cursor.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    setup(&place, "home", &["--client=cursor,zed"]).await;
    assert!(place.text("dotfiles/zed.json").contains("oxmox"));
    undo(&place, "home").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    for link in [CURSOR, ZED] {
        assert!(place.home(link).symlink_metadata().unwrap().is_symlink());
    }
    assert_eq!(
        place.files_but_trail(),
        [ZED, CURSOR, "dotfiles/cursor.json"]
    );
}

/// What cannot be understood of one cluster is in the way of no other.
#[tokio::test]
async fn beside_a_journal_that_is_broken() {
    let place = Place::new().await;
    place.write("state/setup/other.json", "{");
    setup(&place, "home", &[]).await;
}
