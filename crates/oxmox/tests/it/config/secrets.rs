//! Secrets, from where they are kept.

use oxmox::config::Environment;
use pve::{Credentials, Error};
use secrecy::{ExposeSecret as _, SecretString};

use super::{CANARY, Written, only};
use crate::private;

/// The secret that a section leads to.
async fn secret(section: &str, dir: &Written) -> Result<SecretString, Error> {
    let text = format!("[clusters.lab]\nhosts = [\"pve1\"]\n{section}");
    std::fs::write(dir.path(), text).unwrap();
    let config = dir.load().unwrap();
    let environment = Environment::from([("SECRET", CANARY)]);
    let settings = only(&config).settings(&environment);
    let secret = match settings.credentials {
        Credentials::Token { secret, .. } => secret,
        Credentials::Password { password, .. } => password,
        Credentials::Ticket { .. } => panic!("no configuration holds a ticket"),
    };
    secret.get().await
}

#[tokio::test]
async fn a_secret_is_fetched_from_where_it_is_kept() {
    let dir = Written::new("");
    let file = dir.dir.path().join("secret");
    private::write(&file, format!("{CANARY}\nsecond line\n"));
    let token = "token = \"root@pam!ox\"\n";
    for way in [
        "token_secret_file = \"secret\"".to_owned(),
        "token_secret_env = \"SECRET\"".to_owned(),
        format!("token_secret_command = [\"echo\", \"{CANARY}\"]"),
    ] {
        let secret = secret(&format!("{token}{way}\n"), &dir).await;
        assert_eq!(secret.unwrap().expose_secret(), CANARY, "{way}");
    }
    let secret = secret("user = \"root@pam\"\npassword_file = \"secret\"\n", &dir).await;
    assert_eq!(secret.unwrap().expose_secret(), CANARY);
}

#[tokio::test]
async fn a_secret_that_is_not_there_is_told_by_its_place() {
    let dir = Written::new("");
    for (way, why) in [
        ("token_secret_file = \"absent\"", "cannot be read"),
        ("token_secret_env = \"ABSENT\"", "ABSENT is not set"),
        ("token_secret_command = [\"false\"]", "false failed"),
        ("token_secret_command = [\"true\"]", "is empty"),
        (
            "token_secret_command = [\"oxmox-no-such-program\"]",
            "cannot be run",
        ),
        ("token_secret_command = []", "the command is empty"),
    ] {
        let secret = secret(&format!("token = \"root@pam!ox\"\n{way}\n"), &dir).await;
        let Error::Secret { what: told, hint } = secret.unwrap_err() else {
            panic!("{way}");
        };
        assert!(!hint.is_empty(), "{way}");
        assert!(
            told.contains("the token secret of cluster lab") && told.contains(why),
            "{told}"
        );
    }
}

/// The error for a secret that cannot be read, and its hint.
async fn refused(way: &str, dir: &Written) -> (String, String) {
    let secret = secret(&format!("token = \"root@pam!ox\"\n{way}\n"), dir).await;
    let Error::Secret { what, hint } = secret.unwrap_err() else {
        panic!("{way}");
    };
    (what, hint)
}

#[cfg(unix)]
#[tokio::test]
async fn a_secret_in_the_place_of_its_file_is_not_repeated() {
    let dir = Written::new("");
    let secret_itself = "01234567-89ab-CDEF-0123-456789abcdef";
    let place = format!("token_secret_file = \"{secret_itself}\"");
    let (told, hint) = refused(&place, &dir).await;
    let says =
        "the token secret of cluster lab: token_secret_file holds what looks like the secret";
    assert!(told.starts_with(says), "{told}");
    assert!(hint.contains("oxmox secret set"), "{hint}");
    assert!(!format!("{told} {hint}").contains(secret_itself), "{told}");
    // A file that is there may be called anything.
    private::write(dir.dir.path().join(secret_itself), CANARY);
    let found = secret(&format!("token = \"root@pam!ox\"\n{place}\n"), &dir).await;
    assert_eq!(found.unwrap().expose_secret(), CANARY);
}

/// Whoever mistakes what a key is for writes the secret where the name of its variable or of a program belongs.
#[tokio::test]
async fn a_secret_in_the_place_of_a_variable_or_a_program_is_not_repeated() {
    let dir = Written::new("");
    let uuid = "01234567-89ab-CDEF-0123-456789abcdef";
    for (way, secret_itself, why) in [
        (
            format!("token_secret_env = \"{uuid}\""),
            uuid,
            "the environment variable that token_secret_env names is not set",
        ),
        (
            "token_secret_env = \"hunter2\"".to_owned(),
            "hunter2",
            "the environment variable that token_secret_env names is not set",
        ),
        (
            format!("token_secret_command = [\"{uuid}\"]"),
            uuid,
            "… cannot be run",
        ),
    ] {
        let (told, hint) = refused(&way, &dir).await;
        assert!(told.contains(why), "{told}");
        assert!(
            !format!("{told} {hint}").contains(secret_itself),
            "{told} {hint}"
        );
    }
}

/// Nobody can tell whether it is there: neither that it is not is said, nor its name.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_cannot_be_reached_is_not_said_to_be_absent() {
    let dir = Written::new("");
    let name = "01234567-89ab-CDEF-0123-456789abcdef";
    std::os::unix::fs::symlink("loop", dir.dir.path().join("loop")).unwrap();
    let place = format!("token_secret_file = \"loop/{name}\"");
    let (told, hint) = refused(&place, &dir).await;
    assert!(told.contains("cannot be reached: "), "{told}");
    assert!(hint.contains("can be entered"), "{hint}");
    assert!(!format!("{told} {hint}").contains(name), "{told}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_a_regular_file_holds_a_secret() {
    let dir = Written::new("");
    let fifo = dir.dir.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(fifo).status();
    assert!(made.unwrap().success());
    std::fs::create_dir(dir.dir.path().join("folder")).unwrap();
    for (path, is) in [
        ("fifo", "is a pipe, and no regular file"),
        ("folder", "is a directory, and no regular file"),
        ("/dev/zero", "is a device, and no regular file"),
    ] {
        let way = format!("token_secret_file = {path:?}");
        let (told, hint) = refused(&way, &dir).await;
        assert!(told.contains(is), "{told}");
        assert!(hint.contains("name a regular file"), "{hint}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_secret_without_end_is_not_read_to_its_end() {
    let dir = Written::new("");
    let file = std::fs::File::create(dir.dir.path().join("long")).unwrap();
    private::restrict(dir.dir.path().join("long"));
    // With holes: it takes no room here.
    file.set_len(1 << 40).unwrap();
    for (way, says) in [
        (
            "token_secret_file = \"long\"",
            "long is longer than 64 KiB; a secret is one line",
        ),
        (
            "token_secret_command = [\"yes\", \"X\"]",
            "yes printed more than 64 KiB; a secret is one line",
        ),
    ] {
        let (told, ..) = refused(way, &dir).await;
        assert!(told.contains(says), "{told}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_or_a_secret_that_is_none_is_told_by_what_it_is() {
    let dir = Written::new("");
    for way in ["token_secret_command = []", "token_secret_command = [\"\"]"] {
        let (told, hint) = refused(way, &dir).await;
        assert!(told.contains("the command is empty"), "{told}");
        assert!(hint.contains("[\"pass\", \"show\""), "{hint}");
    }
    for (stray, name) in [
        ("\u{1b}", "U+001B"),
        ("\u{7}", "U+0007"),
        ("\u{feff}", "U+FEFF"),
    ] {
        private::write(dir.dir.path().join("stray"), format!("{stray}{CANARY}\n"));
        let (told, hint) = refused("token_secret_file = \"stray\"", &dir).await;
        let says = format!(
            "the token secret of cluster lab: it holds a character that cannot be seen ({name})"
        );
        assert_eq!(told, says);
        assert!(hint.contains("store the secret anew"), "{hint}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn secret_file_with_wrong_mode_is_refused_with_the_command_to_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Written::new("");
    let file = dir.dir.path().join("secret");
    std::fs::write(&file, CANARY).unwrap();
    let way = "token_secret_file = \"secret\"";
    let section = format!("token = \"root@pam!ox\"\n{way}\n");
    let command = format!("`chmod 600 {}`", file.display());
    for (mode, is_refused) in [(0o644, true), (0o640, true), (0o600, false), (0o400, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(
            secret(&section, &dir).await.is_err(),
            is_refused,
            "{mode:o}"
        );
        let start = dir.load().unwrap().check_private_files();
        assert_eq!(start.is_err(), is_refused, "{mode:o}");
        if is_refused {
            let (told, hint) = refused(way, &dir).await;
            assert!(!format!("{told}{hint}").contains(CANARY));
            assert_eq!(start.unwrap_err().hint.as_ref(), Some(&command));
        }
    }
}

/// A secret may lie anywhere; wherever it does, it is never sent.
#[tokio::test]
async fn the_file_of_a_secret_is_no_file_to_upload() {
    let (dir, wide) = (Written::new(""), tempfile::tempdir().unwrap());
    for name in ["token.iso", "password.iso", "other.iso"] {
        std::fs::write(wide.path().join(name), CANARY).unwrap();
    }
    let at = |name: &str| wide.path().join(name).display().to_string();
    let text = format!(
        "upload_from = [{:?}]\n\
         [clusters.lab]\nhosts = [\"pve1\"]\ntoken = \"root@pam!ox\"\ntoken_secret_file = {:?}\n\
         [clusters.work]\nhosts = [\"pve2\"]\nuser = \"root@pam\"\npassword_file = {:?}\n",
        wide.path().display().to_string(),
        at("token.iso"),
        at("password.iso"),
    );
    std::fs::write(dir.path(), text).unwrap();
    let config = dir.load().unwrap();
    let uploads = tools::uploads::Uploads::from_dirs(config.upload_from.clone());
    let uploads = uploads.but_not(config.own_paths());
    assert!(uploads.find("other.iso", None).await.is_ok());
    for name in ["token.iso", "password.iso"] {
        let fault = uploads.find(name, None).await.unwrap_err();
        assert!(fault.message.contains("there is no file"), "{fault}");
    }
}
