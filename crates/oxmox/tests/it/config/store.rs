//! The database that replicas share: where it may be named, and where its password may be.

use oxmox::config::{Config, Environment, Overrides};
use secrecy::ExposeSecret as _;
use tools::engine::State;
use tools::store::Shared;

use super::{CANARY, Written};

const URL: &str = "postgres://ox@db.example/ox";

fn load(written: &Written, flag: Option<&str>, variables: &[(&str, &str)]) -> Config {
    try_load(written, flag, variables).unwrap()
}

fn try_load(
    written: &Written,
    flag: Option<&str>,
    variables: &[(&str, &str)],
) -> Result<Config, tools::fault::Fault> {
    let overrides = Overrides {
        file: Some(written.path()),
        state_dir: Some("/state".into()),
        store: flag.map(ToOwned::to_owned),
        ..Overrides::default()
    };
    Config::load(&overrides, &variables.iter().copied().collect())
}

fn shared(config: &Config, variables: &[(&str, &str)]) -> Shared {
    let environment: Environment = variables.iter().copied().collect();
    match config.state(&environment).unwrap() {
        State::Shared(shared, dir) => {
            assert_eq!(dir, std::path::Path::new("/state"));
            shared
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_one_the_state_directory_holds_everything() {
    let config = load(&Written::new(""), None, &[]);
    let state = config.state(&Environment::default());
    assert!(matches!(state.unwrap(), State::Dir(_)));
    assert!(!config.has_shared_store());
}

#[test]
fn the_nearest_word_on_where_it_is_wins() {
    let written = Written::new("store = \"postgres://in-file/ox\"\n");
    let variable = [("OXMOX_STORE", "postgres://in-environment/ox")];
    for (flag, variables, expected) in [
        (None, &[][..], "postgres://in-file/ox"),
        (None, &variable, "postgres://in-environment/ox"),
        (Some(URL), &variable, URL),
    ] {
        let found = shared(&load(&written, flag, variables), variables);
        assert_eq!(found.url.expose_secret(), expected);
    }
}

#[test]
fn its_password_comes_from_where_secrets_are() {
    let written = Written::new(&format!(
        "store = \"{URL}\"\nstore_password_file = \"secret\"\nstore_ca_file = \"ca.pem\"\n"
    ));
    crate::private::write(written.dir.path().join("secret"), format!("{CANARY}\n"));
    let config = load(&written, None, &[]);
    let found = shared(&config, &[]);
    assert_eq!(found.password.as_ref().unwrap().expose_secret(), CANARY);
    assert_eq!(found.ca_file, Some(written.dir.path().join("ca.pem")));
    assert!(!format!("{config:?} {found:?}").contains(CANARY));
    assert!(
        config
            .own_paths()
            .contains(&written.dir.path().join("secret"))
    );

    let written = Written::new(&format!("store = \"{URL}\"\nstore_password_env = \"PG\"\n"));
    let variables = [("PG", CANARY)];
    let found = shared(&load(&written, None, &variables), &variables);
    assert_eq!(found.password.unwrap().expose_secret(), CANARY);

    let written = Written::new(&format!(
        "store = \"{URL}\"\nstore_password_command = [\"echo\", \"{CANARY}\"]\n"
    ));
    let found = shared(&load(&written, None, &[]), &[]);
    assert_eq!(found.password.unwrap().expose_secret(), CANARY);

    let variables = [("OXMOX_STORE", URL), ("OXMOX_STORE_PASSWORD", CANARY)];
    let found = shared(&load(&Written::new(""), None, &variables), &variables);
    assert_eq!(found.password.unwrap().expose_secret(), CANARY);
}

#[test]
fn a_password_that_others_could_read_is_refused() {
    let with_password = format!("postgres://ox:{CANARY}@db.example/ox");
    let as_parameter = format!("postgres://db.example/ox?user=ox&password={CANARY}");
    for url in [&with_password, &as_parameter] {
        let on_command_line = try_load(&Written::new(""), Some(url), &[]);
        let in_file = try_load(&Written::new(&format!("store = \"{url}\"")), None, &[]);
        for (refused, place) in [(on_command_line, "--store"), (in_file, "store")] {
            let fault = refused.unwrap_err();
            assert!(fault.message.contains(place), "{fault}");
            assert!(fault.to_string().contains("store_password_file"), "{fault}");
            assert!(!fault.to_string().contains(CANARY), "{fault}");
        }
        // The environment of a process is its owner's.
        load(&Written::new(""), None, &[("OXMOX_STORE", url)]);
    }
    let text = format!("store = \"{URL}\"\nstore_password = \"{CANARY}\"\n");
    let fault = try_load(&Written::new(&text), None, &[]).unwrap_err();
    assert!(fault.message.contains("store_password"), "{fault}");
    assert!(!fault.to_string().contains(CANARY), "{fault}");
}

#[test]
fn what_leads_to_no_store_is_refused() {
    for (text, says) in [
        ("store = \"mysql://db/ox\"", "none of PostgreSQL's"),
        ("store = \"oxmox.db\"", "none of PostgreSQL's"),
        ("store_password_env = \"PG\"", "no store"),
        (
            "store = \"postgres://db/ox\"\nstore_password_env = \"A\"\nstore_password_file = \"b\"",
            "more than one way",
        ),
    ] {
        let fault = try_load(&Written::new(text), None, &[]).unwrap_err();
        assert!(fault.message.contains(says), "{text}: {fault}");
    }
}

/// Nothing that is configured can break the demo.
#[test]
fn the_demo_has_none() {
    let overrides = Overrides {
        state_dir: Some("/state".into()),
        ..Overrides::default()
    };
    let environment = Environment::from([("OXMOX_STORE", "mysql://x")]);
    assert!(
        !Config::demo(&overrides, &environment)
            .unwrap()
            .has_shared_store()
    );
}
