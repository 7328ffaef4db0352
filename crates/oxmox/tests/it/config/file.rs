//! What the file says, what stands above it, and what is wrong with it.

use std::path::{Path, PathBuf};

use oxmox::config::{Config, Environment, Login, Overrides};
use pve::Trust;
use tools::policy::{Confirm, Mode};
use tools::spec::Toolset;

use super::{CANARY, PIN, Written, cluster, refused};

#[test]
fn everything_in_a_file_arrives() {
    let written = Written::new(&format!(
        r#"
        mode = "trusted"
        toolsets = ["core"]
        state_dir = "~/oxmox"
        confirm = "person"
        upload_from = ["~/images", "here", "/srv/iso"]

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
    assert_eq!(config.confirm, Confirm::Person);
    let here = written.dir.path().join("here");
    let dirs = [Path::new("/home/ox/images"), &here, Path::new("/srv/iso")];
    assert_eq!(config.upload_from, dirs);
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
fn removed_key_names_what_replaces_it() {
    for value in ["true", "false"] {
        let told = refused(&format!("allow_model_confirm = {value}\n"));
        assert!(told.contains("`allow_model_confirm` was removed"), "{told}");
        assert!(told.contains("confirm = \"person\""), "{told}");
    }
    let told = refused("confirm = \"model\"\n");
    assert!(told.contains("client") && told.contains("person"), "{told}");
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
        cluster(&format!("token_secret_command = \"echo {CANARY}\"\n")),
        cluster(&format!("timeout = \"{CANARY}, expected {CANARY}\"\n")),
    ] {
        let told = refused(&text);
        assert!(!told.contains(CANARY), "{told}");
    }
    let told = refused(&cluster("password_file = 4815162342\n"));
    assert!(!told.contains("4815162342"), "{told}");
    assert!(told.contains("invalid type: integer, expected"), "{told}");
}

/// What PVE makes for a secret is known by its form, also where it stands in for a name.
#[test]
fn a_secret_that_stands_where_a_word_belongs_is_not_shown() {
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    for text in [
        format!("mode = \"{uuid}\"\n"),
        cluster(&format!("{uuid} = 1\n")),
        cluster(&format!("default_node = \"={uuid}\"\n")),
        cluster(&format!("hosts = [\"root@pam!x={uuid}\"]\n")),
    ] {
        let told = refused(&text);
        assert!(told.contains("line ") && !told.contains(uuid), "{told}");
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
fn what_a_proxy_in_front_speaks_is_said_together_with_its_name() {
    let behind = "[http]\nbehind_proxy = true\n";
    for public in ["", "public_url = \"http://ox.example\"\n"] {
        let said = refused(&format!("{behind}{public}"));
        assert!(said.contains("https://"), "{said}");
    }
    let public = "public_url = \"https://ox.example\"\n";
    let config = Written::new(&format!("{behind}{public}")).load().unwrap();
    assert!(config.http.behind_proxy);
}

#[test]
fn the_trail_is_copied_to_where_the_system_logs_unless_said_otherwise() {
    let to = |text: &str| Written::new(text).load().unwrap().audit_copy;
    assert_eq!(to(""), None);
    let syslog = "audit_copy = \"syslog\"\n";
    assert_eq!(to(syslog).as_deref(), Some(Path::new("/dev/log")));
    let elsewhere = format!("{syslog}audit_copy_socket = \"/run/log\"\n");
    assert_eq!(to(&elsewhere).as_deref(), Some(Path::new("/run/log")));
    let said = refused("audit_copy_socket = \"/run/log\"\n");
    assert!(said.contains("audit_copy = \"syslog\""), "{said}");
    let said = refused("audit_copy = \"journal\"\n");
    assert!(said.contains("syslog"), "{said}");
}
