//! Secrets, from where they are kept.

use oxmox::config::Environment;
use pve::Credentials;
use tools::fault::Fault;

use super::{CANARY, Written, only};

/// The credentials that a section leads to, and the warnings on the way.
fn credentials(section: &str, dir: &Written) -> (Result<Credentials, Fault>, Vec<String>) {
    let text = format!("[clusters.lab]\nhosts = [\"pve1\"]\n{section}");
    std::fs::write(dir.path(), text).unwrap();
    let config = dir.load().unwrap();
    let environment = Environment::from([("SECRET", CANARY)]);
    let mut warnings = Vec::new();
    let settings = only(&config).settings(&environment, &mut warnings);
    (settings.map(|settings| settings.credentials), warnings)
}

fn secret(credentials: Credentials) -> String {
    use secrecy::ExposeSecret as _;
    match credentials {
        Credentials::Token { secret, .. } => secret.expose_secret().to_owned(),
        Credentials::Password { password, .. } => password.expose_secret().to_owned(),
        Credentials::Ticket { .. } => panic!("no configuration holds a ticket"),
    }
}

#[test]
fn a_secret_is_fetched_from_where_it_is_kept() {
    let dir = Written::new("");
    let file = dir.dir.path().join("secret");
    std::fs::write(&file, format!("{CANARY}\nsecond line\n")).unwrap();
    let token = "token = \"root@pam!ox\"\n";
    for way in [
        "token_secret_file = \"secret\"".to_owned(),
        "token_secret_env = \"SECRET\"".to_owned(),
        format!("token_secret_command = [\"echo\", \"{CANARY}\"]"),
    ] {
        let (credentials, _) = credentials(&format!("{token}{way}\n"), &dir);
        assert_eq!(secret(credentials.unwrap()), CANARY, "{way}");
    }
    let (credentials, _) = credentials("user = \"root@pam\"\npassword_file = \"secret\"\n", &dir);
    assert_eq!(secret(credentials.unwrap()), CANARY);
}

#[test]
fn a_secret_that_is_not_there_is_told_by_its_place() {
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
        let (credentials, _) = credentials(&format!("token = \"root@pam!ox\"\n{way}\n"), &dir);
        let told = credentials.unwrap_err().message;
        assert!(
            told.contains("the token secret of cluster lab") && told.contains(why),
            "{told}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_secret_file_that_others_may_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Written::new("");
    let file = dir.dir.path().join("secret");
    std::fs::write(&file, CANARY).unwrap();
    let section = "token = \"root@pam!ox\"\ntoken_secret_file = \"secret\"\n";
    for (mode, warned) in [(0o644, 1), (0o640, 1), (0o600, 0), (0o400, 0)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let (_, warnings) = credentials(section, &dir);
        assert_eq!(warnings.len(), warned, "{mode:o}: {warnings:?}");
        assert!(
            warnings
                .iter()
                .all(|text| text.contains("chmod 600") && !text.contains(CANARY))
        );
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
