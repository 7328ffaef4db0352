//! The file with the certificate of a cluster's authority: setup's as a whole, and still a person's where they had or have
//! written it.

use super::Place;
use super::exactly::{CONFIG, OLD, setup, undo};

const FILE: &str = ".config/oxmox/home-ca.pem";

#[tokio::test]
async fn a_certificate_that_was_there() {
    let place = Place::new().await;
    place.write(FILE, "mine\n");
    setup(&place, "home", &["--trust=ca"]).await;
    assert_ne!(place.text(FILE), "mine\n");
    // Not asked any more, and still somebody's.
    setup(&place, "home", &["--trust=pins"]).await;
    undo(&place, "home").await;
    assert_eq!(place.text(FILE), "mine\n");
    assert_eq!(place.files_but_trail(), [FILE]);
}

/// It is replaced whole, so that what a person put into it would be gone.
#[tokio::test]
async fn a_certificate_that_somebody_edited_since() {
    let place = Place::new().await;
    setup(&place, "home", &["--trust=ca"]).await;
    let pem = place.text(FILE);
    let edited = format!("{pem}# and one of mine\n");
    place.write(FILE, &edited);
    setup(&place, "home", &["--trust=ca"]).await;
    assert_eq!(place.text(FILE), pem);
    assert_eq!(place.text(&format!("{FILE}.before-oxmox")), edited);
    undo(&place, "home").await.says("stays: ");
    assert_eq!(place.text(FILE), edited);
    assert_eq!(place.files_but_trail(), [FILE]);
}

/// The same without a run in between, with several, and with one that asks that file no more.
#[tokio::test]
async fn a_certificate_that_somebody_edited_is_named_and_is_as_they_left_it() {
    for runs in [
        &[][..],
        &["--trust=ca", "--trust=ca"],
        &["--trust=ca", "--trust=pins"],
    ] {
        let place = Place::new().await;
        place.write(FILE, "mine\n");
        setup(&place, "home", &["--trust=ca"]).await;
        let mut edited = place.text(FILE) + "# 0\n";
        place.write(FILE, &edited);
        let mut copies = vec![format!("{FILE}.before-oxmox")];
        for (number, trust) in runs.iter().enumerate() {
            if number > 0 {
                copies.push(format!("{FILE}.before-oxmox-setup"));
                edited = place.text(FILE) + "# again\n";
                place.write(FILE, &edited);
            }
            setup(&place, "home", &[trust]).await;
        }
        let ran = undo(&place, "home").await;
        assert!(!ran.stderr.contains("all of it"), "{}", ran.stderr);
        assert_eq!(place.text(FILE), edited, "{runs:?}");
        // What they made of it at last is back; what was there earlier is still in the copies, which are named.
        let mut ran = ran.says(&format!("{FILE}: it is as somebody else left it"));
        for copy in &copies {
            ran = ran.says(&format!("{copy}: what"));
        }
        let mut files = vec![FILE.to_owned()];
        files.extend(copies);
        assert_eq!(place.files_but_trail(), files);
    }
}

/// Nothing else would vouch for the nodes of a cluster that somebody lets go by the same certificate.
#[tokio::test]
async fn a_certificate_that_another_cluster_goes_by() {
    let place = Place::new().await;
    setup(&place, "home", &["--trust=ca"]).await;
    let pem = place.text(FILE);
    // As people write it; `cluster add` writes all of the path.
    for named in ["~/.config/oxmox/home-ca.pem", "home-ca.pem"] {
        let other = format!(
            "\n[clusters.site]\nhosts = [\"x\"]\nca_file = \"{named}\"\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n"
        );
        let config = place.text(CONFIG);
        place.write(CONFIG, &(config + &other));
        for trust in ["--trust=pins", "--trust=ca"] {
            setup(&place, "home", &[trust]).await;
            assert_eq!(place.text(FILE), pem, "{trust}, {named}");
        }
        let ran = undo(&place, "home").await;
        ran.says("home-ca.pem, for site")
            .says("but for what is named above");
        assert_eq!(place.text(FILE), pem, "{named}");
        std::fs::remove_file(place.home(FILE)).unwrap();
        std::fs::remove_file(place.home(CONFIG)).unwrap();
        setup(&place, "home", &["--trust=ca"]).await;
    }
}

/// The same where the file held something else before setup: that is in a copy, and comes back for nobody now.
#[tokio::test]
async fn a_certificate_that_another_cluster_goes_by_is_not_replaced() {
    let place = Place::new().await;
    place.write(FILE, "mine\n");
    setup(&place, "home", &["--trust=ca"]).await;
    let pem = place.text(FILE);
    assert_ne!(pem, "mine\n");
    let site = OLD.replace("old", "site");
    let site = format!("\n{site}ca_file = \"home-ca.pem\"\n");
    place.write(CONFIG, &(place.text(CONFIG) + &site));
    let copy = format!("{FILE}.before-oxmox");
    let ran = undo(&place, "home").await;
    ran.says("home-ca.pem, for site")
        .says(&format!("{copy}: what"))
        .says("that file stays for site")
        .says("but for what is named above");
    assert_eq!(place.text(FILE), pem);
    assert_eq!(place.text(&copy), "mine\n");
}

/// Nor by a setup: whoever went by it before cannot be reached by the certificate of another cluster.
#[tokio::test]
async fn a_certificate_of_another_cluster_is_not_replaced() {
    let place = Place::new().await;
    place.write(FILE, "mine\n");
    let old = format!("{OLD}ca_file = \"home-ca.pem\"\n");
    place.write(CONFIG, &old);
    let words = [
        "--level=read",
        "--secret-store=file",
        "--yes",
        "--name=home",
        "--trust=ca",
    ];
    let ran = place.setup(&words).await.exits(0);
    ran.says("holds another certificate, which stays, for old");
    assert_eq!(place.text(FILE), "mine\n");
    let config = place.text(CONFIG);
    assert!(config.contains(place.sim.fingerprint()), "{config}");
    undo(&place, "home").await;
    assert_eq!(place.text(CONFIG), old);
    assert_eq!(place.files_but_trail(), [CONFIG, FILE]);
    // Under another name it has a file of its own.
    setup(&place, "other", &["--trust=ca"]).await;
    assert!(place.home(".config/oxmox/other-ca.pem").exists());
    assert_eq!(place.text(FILE), "mine\n");
}

/// Whoever pinned the authority by hand has the very file that setup would write.
#[tokio::test]
async fn a_certificate_that_was_there_and_is_the_same() {
    let place = Place::new().await;
    setup(&place, "home", &["--trust=ca"]).await;
    let pem = place.text(FILE);
    undo(&place, "home").await;
    place.write(FILE, &pem);
    setup(&place, "home", &["--trust=ca"]).await;
    undo(&place, "home").await;
    assert_eq!(place.text(FILE), pem);
}

/// One that setup has taken away again is not its own any more, whatever else is set up meanwhile.
#[tokio::test]
async fn a_certificate_that_somebody_put_there_after_setup_took_its_own_away() {
    for is_set_up_again in [false, true] {
        let place = Place::new().await;
        setup(&place, "home", &["--trust=ca"]).await;
        setup(&place, "home", &["--trust=pins"]).await;
        assert!(!place.home(FILE).exists());
        setup(&place, "other", &[]).await;
        place.write(FILE, "mine\n");
        if is_set_up_again {
            setup(&place, "home", &["--trust=ca"]).await;
            assert_ne!(place.text(FILE), "mine\n");
        }
        undo(&place, "home").await;
        assert_eq!(place.text(FILE), "mine\n", "{is_set_up_again}");
        undo(&place, "other").await;
        assert_eq!(place.files_but_trail(), [FILE]);
    }
}

/// The same of one that was there before setup, and that its owner has put back themselves.
#[tokio::test]
async fn a_certificate_that_somebody_has_put_back() {
    let place = Place::new().await;
    place.write(FILE, "mine\n");
    setup(&place, "home", &["--trust=ca"]).await;
    setup(&place, "home", &["--trust=pins"]).await;
    place.write(FILE, "mine\n");
    // It is asked no more, and not setup's to remove.
    setup(&place, "home", &["--trust=pins"]).await;
    assert_eq!(place.text(FILE), "mine\n");
    setup(&place, "other", &[]).await;
    for name in ["home", "other"] {
        undo(&place, name).await;
    }
    assert_eq!(place.text(FILE), "mine\n");
    assert_eq!(place.files_but_trail(), [FILE]);
}

/// What was written down of files may be removed: then the journal tells what the file held.
#[tokio::test]
async fn without_what_was_written_down() {
    for is_theirs in [false, true] {
        let place = Place::new().await;
        setup(&place, "home", &["--trust=ca"]).await;
        std::fs::remove_file(place.home("state/setup/written")).unwrap();
        if is_theirs {
            place.write(FILE, "mine\n");
        }
        let ran = undo(&place, "home").await;
        let left = place.files_but_trail();
        if is_theirs {
            ran.says(&format!("{FILE}: it is as somebody else left it"));
            assert_eq!(place.text(FILE), "mine\n");
            assert_eq!(left, [FILE]);
        } else {
            assert_eq!(left, [""; 0]);
        }
    }
}

/// One that is killed may have removed it, and not come to forget it.
#[tokio::test]
async fn a_certificate_that_is_gone_is_forgotten_though_there_is_nothing_to_do() {
    const JOURNAL: &str = "state/setup/home.json";
    let place = Place::new().await;
    setup(&place, "home", &["--trust=ca"]).await;
    setup(&place, "home", &["--trust=pins"]).await;
    let journal = place.text(JOURNAL);
    let named = format!("\"ca_file\": {:?}", place.home(FILE));
    place.write(JOURNAL, &journal.replace("\"ca_file\": null", &named));
    assert_ne!(place.text(JOURNAL), journal);
    setup(&place, "home", &["--trust=pins"]).await;
    assert_eq!(place.text(JOURNAL), journal);
}
