//! Flags, environment and file into one configuration, and every way to get one of them wrong.

use std::path::{Path, PathBuf};

use oxmox::config::{ClusterConfig, Config, Environment, Login, Overrides};
use pve::{Credentials, Trust};
use tempfile::TempDir;
use tools::fault::Fault;
use tools::policy::Mode;
use tools::spec::Toolset;

const PIN: &str = "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB";
const CANARY: &str = "canary-8d2c";

/// A configuration file in a directory of its own.
struct Written {
    dir: TempDir,
}

impl Written {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), text).unwrap();
        Self { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }

    fn load(&self) -> Result<Config, Fault> {
        let overrides = Overrides {
            file: Some(self.path()),
            ..Overrides::default()
        };
        Config::load(&overrides, &Environment::from([("HOME", "/home/ox")]))
    }
}

#[track_caller]
fn refused(text: &str) -> String {
    let fault = Written::new(text).load().unwrap_err();
    fault.to_string()
}

fn cluster(more: &str) -> String {
    format!(
        "[clusters.lab]\nhosts = [\"pve1\"]\ntoken = \"root@pam!oxmox\"\ntoken_secret_env = \"SECRET\"\n{more}"
    )
}

fn of_environment<const N: usize>(more: [(&str, &str); N]) -> Result<Config, Fault> {
    let mut pairs = vec![("HOME", "/home/ox"), ("PROXMOX_HOST", "pve1")];
    pairs.extend(more);
    Config::load(&Overrides::default(), &Environment::from_iter(pairs))
}

fn only(config: &Config) -> &ClusterConfig {
    let [only] = config.clusters.as_slice() else {
        panic!("{config:#?}")
    };
    only
}

#[test]
fn everything_in_a_file_arrives() {
    let written = Written::new(&format!(
        r#"
        mode = "trusted"
        toolsets = ["core"]
        state_dir = "~/oxmox"
        allow_model_confirm = true

        [clusters.home]
        hosts = ["pve1:8007", {{ host = "pve2", pin = "{PIN}" }}]
        ca_file = "ca.pem"
        user = "me@pve"
        password_command = ["pass", "show", "pve"]

        [clusters.lab]
        hosts = ["10.0.0.1"]
        pin = "{PIN}"
        token = "root@pam!oxmox"
        token_secret_file = "secret"

        [[rules]]
        tag = "prod"
        verdict = "deny"
        "#
    ));
    let config = written.load().unwrap();
    assert_eq!(config.mode, Mode::Trusted);
    assert_eq!(config.toolsets, [Toolset::Core]);
    assert_eq!(config.state_dir, Path::new("/home/ox/oxmox"));
    assert!(config.allow_model_confirm);
    assert_eq!(config.rules[0].tag.as_deref(), Some("prod"));
    let [home, lab] = config.clusters.as_slice() else {
        panic!("{config:#?}")
    };
    let hosts: Vec<_> = home.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["pve1:8007", "pve2:8006"]);
    assert_eq!(home.hosts[0].pin, None);
    assert_eq!(home.hosts[1].pin, Some(PIN.parse().unwrap()));
    assert_eq!(home.trust, Trust::CaFile(written.dir.path().join("ca.pem")));
    assert!(matches!(&home.login, Login::Password { user, .. } if user == "me@pve"));
    assert_eq!(lab.hosts[0].pin, Some(PIN.parse().unwrap()));
    assert_eq!(lab.trust, Trust::System);
    assert!(matches!(&lab.login, Login::Token { name, .. } if name == "oxmox"));
}

#[test]
fn an_unknown_key_names_the_near_one_and_its_line() {
    let told = refused("mode = \"ask\"\ntoolset = [\"core\"]\n");
    assert!(told.contains("line 2: unknown field `toolset`"), "{told}");
    assert!(told.contains("did you mean `toolsets`?"), "{told}");
    let told = refused(&cluster("host = \"pve2\"\n"));
    assert!(told.contains("did you mean `hosts`?"), "{told}");
    let told = refused("[[rules]]\ntags = \"prod\"\nverdict = \"deny\"\n");
    assert!(told.contains("did you mean `tag`?"), "{told}");
}

#[test]
fn a_secret_in_the_file_is_refused_unread() {
    for key in ["token_secret", "password"] {
        let told = refused(&cluster(&format!("{key} = \"{CANARY}\"\n")));
        assert!(told.contains("does not belong into the file"), "{told}");
        assert!(told.contains(&format!("{key}_file")), "{told}");
        assert!(!told.contains(CANARY), "{told}");
    }
}

#[test]
fn an_error_never_shows_the_line_itself() {
    for text in [
        format!("secret = \"{CANARY}\"\n"),
        format!("mode = ask # {CANARY}\n"),
        cluster(&format!("token_value = \"{CANARY}\"\n")),
    ] {
        let told = refused(&text);
        assert!(!told.contains(CANARY), "{told}");
    }
}

#[test]
fn what_cannot_work_is_refused_at_start() {
    for (text, why) in [
        (
            "[clusters.lab]\ntoken = \"root@pam!x\"\ntoken_secret_env = \"S\"\n",
            "no hosts",
        ),
        ("[clusters.lab]\nhosts = [\"a b\"]\n", "is not a host"),
        (
            "[clusters.lab]\nhosts = [\"pve1\"]\n",
            "either `token` or `user`",
        ),
        (
            "[clusters.lab]\nhosts = [\"pve1\"]\ntoken = \"root@pam\"\ntoken_secret_env = \"S\"\n",
            "root@pam!oxmox",
        ),
        (
            "[clusters.lab]\nhosts = [\"pve1\"]\nuser = \"root\"\npassword_env = \"S\"\n",
            "it has a realm",
        ),
        (
            "[clusters.lab]\nhosts = [\"pve1\"]\nuser = \"root@pam\"\n",
            "no way to its secret",
        ),
        ("[[rules]]\ntag = \"prod\"\n", "a rule needs a verdict"),
        (
            "[[rules]]\nvmid = \"x\"\nverdict = \"deny\"\n",
            "neither an id",
        ),
        (
            "[[rules]]\ntool = \"delete_proxmox\"\nverdict = \"deny\"\n",
            "did you mean delete_proxmox_vm?",
        ),
        (
            "[[rules]]\ncluster = \"lab\"\nverdict = \"deny\"\n",
            "there is no cluster lab",
        ),
        ("toolsets = [\"cor\"]\n", "there is no toolset cor"),
        ("mode = \"careful\"\n", "careful"),
    ] {
        let told = refused(text);
        assert!(told.contains(why), "{text}: {told}");
    }
    let told = refused(&cluster("token_secret_file = \"x\"\n"));
    assert!(told.contains("more than one way"), "{told}");
    let told = refused(
        &cluster(&format!("pin = \"{PIN}\"\n")).replace("[\"pve1\"]", "[\"pve1\", \"pve2\"]"),
    );
    assert!(told.contains("each node has its own certificate"), "{told}");
}

#[test]
fn the_nearer_word_wins() {
    let written = Written::new("mode = \"trusted\"\nstate_dir = \"/from/file\"\n");
    let state_dir = |flag: Option<&str>, variable: &str| {
        let overrides = Overrides {
            file: Some(written.path()),
            state_dir: flag.map(PathBuf::from),
            ..Overrides::default()
        };
        let environment = Environment::from([("HOME", "/home/ox"), ("OXMOX_STATE_DIR", variable)]);
        Config::load(&overrides, &environment).unwrap().state_dir
    };
    assert_eq!(
        state_dir(Some("/from/flag"), "/from/env"),
        Path::new("/from/flag")
    );
    assert_eq!(state_dir(None, "/from/env"), Path::new("/from/env"));
    assert_eq!(state_dir(None, ""), Path::new("/from/file"));
    let overrides = Overrides {
        file: Some(written.path()),
        mode: Some(Mode::Ask),
        ..Overrides::default()
    };
    let environment = Environment::from([("HOME", "/home/ox")]);
    assert_eq!(
        Config::load(&overrides, &environment).unwrap().mode,
        Mode::Ask
    );
}

#[test]
fn read_only_wins_wherever_it_is_said() {
    let environment = Environment::from([("HOME", "/home/ox")]);
    let load = |in_file: &str, flag: Mode| {
        let written = Written::new(&format!("mode = \"{in_file}\"\n"));
        let overrides = Overrides {
            file: Some(written.path()),
            mode: Some(flag),
            ..Overrides::default()
        };
        Config::load(&overrides, &environment).unwrap()
    };
    for flag in [Mode::Trusted, Mode::Ask] {
        let config = load("read-only", flag);
        assert_eq!(config.mode, Mode::ReadOnly);
        let [warning] = config.warnings.as_slice() else {
            panic!("{:?}", config.warnings)
        };
        assert!(warning.contains("read-only"), "{warning}");
    }
    for in_file in ["trusted", "read-only"] {
        let config = load(in_file, Mode::ReadOnly);
        assert_eq!(config.mode, Mode::ReadOnly);
        assert!(config.warnings.is_empty());
    }
}

#[test]
fn a_named_file_must_be_there_and_the_default_one_need_not() {
    let overrides = Overrides {
        file: Some("/nowhere/config.toml".into()),
        ..Overrides::default()
    };
    let environment = Environment::from([("HOME", "/nowhere")]);
    let fault = Config::load(&overrides, &environment).unwrap_err();
    assert!(fault.message.contains("cannot be read"), "{fault}");
    let config = Config::load(&Overrides::default(), &environment).unwrap();
    assert!(config.clusters.is_empty());
    assert_eq!(config.mode, Mode::Ask);
    assert_eq!(config.state_dir, Path::new("/nowhere/.local/state/oxmox"));
}

#[test]
fn the_usual_variables_describe_a_cluster() {
    let config = of_environment([
        ("PROXMOX_PORT", "443"),
        ("PROXMOX_USER", "me@pve"),
        ("PROXMOX_TOKEN_NAME", "ox"),
        ("PROXMOX_TOKEN_VALUE", CANARY),
        ("PROXMOX_FINGERPRINT", PIN),
        ("PROXMOX_CA_FILE", "/ca.pem"),
        ("PROXMOX_VERIFY_SSL", "False"),
    ])
    .unwrap();
    let cluster = only(&config);
    assert_eq!(cluster.name, "default");
    assert_eq!(cluster.hosts[0].to_string(), "pve1:443");
    assert_eq!(cluster.hosts[0].pin, Some(PIN.parse().unwrap()));
    assert_eq!(cluster.trust, Trust::CaFile("/ca.pem".into()));
    assert!(config.warnings[0].contains("never turns the check of certificates off"));
    assert!(!format!("{config:?}").contains(CANARY));
    let settings = cluster
        .settings(&Environment::default(), &mut Vec::new())
        .unwrap();
    assert_eq!(settings.credentials.id(), "me@pve!ox");
    assert!(!format!("{settings:?}").contains(CANARY));
}

#[test]
fn a_tokens_full_name_is_understood_and_a_password_too() {
    let config = of_environment([
        ("PROXMOX_TOKEN_NAME", "root@pam!ox"),
        ("PROXMOX_TOKEN_VALUE", CANARY),
    ])
    .unwrap();
    assert!(matches!(&only(&config).login, Login::Token { user, .. } if user == "root@pam"));
    let config =
        of_environment([("PROXMOX_USER", "root@pam"), ("PROXMOX_PASSWORD", CANARY)]).unwrap();
    assert!(matches!(&only(&config).login, Login::Password { .. }));
    assert!(config.warnings.is_empty());
}

#[test]
fn a_secret_in_the_wrong_variable_is_not_quoted() {
    let whole = format!("root@pam!oxmox={CANARY}");
    let (half, address) = (
        format!("oxmox={CANARY}"),
        format!("https://root:{CANARY}@pve1"),
    );
    let sound = [
        ("PROXMOX_USER", "root@pam"),
        ("PROXMOX_TOKEN_NAME", "oxmox"),
        ("PROXMOX_TOKEN_VALUE", "x"),
    ];
    for (name, value, why) in [
        ("PROXMOX_USER", whole.as_str(), "a whole token"),
        ("PROXMOX_TOKEN_NAME", &whole, "a whole token"),
        ("PROXMOX_TOKEN_NAME", &half, "a whole token"),
        ("PROXMOX_USER", CANARY, "the name of an API token"),
        ("PROXMOX_HOST", &address, "PROXMOX_HOST"),
        ("PROXMOX_HOST", &whole, "PROXMOX_HOST"),
        ("PROXMOX_PORT", CANARY, "PROXMOX_PORT"),
        ("PROXMOX_FINGERPRINT", CANARY, "PROXMOX_FINGERPRINT"),
    ] {
        let pairs = [("HOME", "/home/ox"), ("PROXMOX_HOST", "pve1")]
            .into_iter()
            .chain(sound)
            .chain([(name, value)]);
        let environment: Environment = pairs.collect();
        let fault = Config::load(&Overrides::default(), &environment).unwrap_err();
        let told = format!("{fault} {fault:?}");
        assert!(!told.contains(CANARY) && told.contains(why), "{told}");
    }
    for user in [whole.as_str(), CANARY] {
        let fault = of_environment([("PROXMOX_USER", user), ("PROXMOX_PASSWORD", "x")]);
        let told = format!("{:?}", fault.unwrap_err());
        assert!(!told.contains(CANARY), "{told}");
    }
    let told = refused(&cluster("").replace("root@pam!oxmox", &whole));
    assert!(
        !told.contains(CANARY) && told.contains("a whole token"),
        "{told}"
    );
}

#[test]
fn half_an_environment_says_what_is_missing() {
    let told = of_environment([]).unwrap_err().to_string();
    assert!(told.contains("PROXMOX_USER is not"), "{told}");
    let told = of_environment([("PROXMOX_USER", "root@pam"), ("PROXMOX_TOKEN_NAME", "ox")]);
    assert!(
        told.unwrap_err()
            .message
            .contains("PROXMOX_TOKEN_VALUE is not")
    );
}

#[test]
fn the_demo_reaches_nothing_that_is_configured() {
    let environment = Environment::from([
        ("HOME", "/home/ox"),
        ("PROXMOX_HOST", "pve1"),
        ("OXMOX_STATE_DIR", "/state"),
        ("OXMOX_CONFIG", "/nowhere"),
    ]);
    let config = Config::demo(&Overrides::default(), &environment).unwrap();
    assert!(config.clusters.is_empty());
    assert_eq!(config.state_dir, Path::new("/state/demo"));
    assert_eq!(config.freeze_file(), Path::new("/state/demo/frozen"));
}

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
