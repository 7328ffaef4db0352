//! What a cluster's section says of that cluster alone.

use std::time::Duration;

use oxmox::config::{Config, Environment, Overrides};
use tools::policy::Mode;
use tools::spec::Risk;

use super::{Written, cluster, only, refused};

#[test]
fn its_preferences_arrive() {
    let written = Written::new(&cluster(
        "default_node = \"pve2\"\ndefault_storage = \"nas\"\nmode = \"read-only\"\ntags = [\"prod\"]\ntimeout = 3\n",
    ));
    let config = written.load().unwrap();
    let prefers = &only(&config).prefers;
    assert_eq!(prefers.node.as_ref().unwrap().as_str(), "pve2");
    assert_eq!(prefers.storage.as_ref().unwrap().as_str(), "nas");
    assert_eq!(prefers.mode, Some(Mode::ReadOnly));
    assert_eq!(prefers.tags, ["prod"]);
    assert_eq!(prefers.timeout, Duration::from_secs(3));
    assert_eq!(
        config.most(),
        Risk::Read,
        "there is nothing else that could be changed"
    );
    let usual = Written::new(&cluster("")).load().unwrap();
    assert_eq!(only(&usual).prefers.timeout, Duration::from_secs(10));
    for (wrong, why) in [
        ("timeout = 0\n", "1 to 600"),
        ("default_node = \"a b\"\n", "line 5"),
        ("mode = \"careful\"\n", "careful"),
    ] {
        let told = refused(&cluster(wrong));
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

#[test]
fn its_mode_goes_no_further_than_was_said_nearer() {
    let of = |all: &str, own: &str, flag: Option<Mode>| {
        let written = Written::new(&format!(
            "mode = \"{all}\"\n{}",
            cluster(&format!("mode = \"{own}\"\n"))
        ));
        let overrides = Overrides {
            file: Some(written.path()),
            mode: flag,
            ..Overrides::default()
        };
        let environment = Environment::from([("HOME", "/home/ox")]);
        Config::load(&overrides, &environment)
            .unwrap()
            .mode_of("lab")
    };
    assert_eq!(of("ask", "trusted", None), Mode::Trusted);
    assert_eq!(of("trusted", "ask", None), Mode::Ask);
    assert_eq!(
        of("trusted", "read-only", Some(Mode::Trusted)),
        Mode::ReadOnly
    );
    assert_eq!(of("read-only", "trusted", None), Mode::ReadOnly);
    assert_eq!(of("ask", "trusted", Some(Mode::Ask)), Mode::Ask);
    assert_eq!(of("ask", "trusted", Some(Mode::ReadOnly)), Mode::ReadOnly);
}

#[test]
fn rules_name_clusters_by_their_tags() {
    let other = "[clusters.branch]\nhosts = [\"pve9\"]\ntoken = \"root@pam!oxmox\"\ntoken_secret_env = \"SECRET\"\ntags = [\"prod\", \"far\"]\n";
    let rules = |rule: &str| {
        format!(
            "{}{other}[[rules]]\n{rule}verdict = \"deny\"\n",
            cluster("tags = [\"prod\"]\n")
        )
    };
    let named = |rule: &str| -> Vec<String> {
        let policy = Written::new(&rules(rule)).load().unwrap().policy();
        assert!(policy.rules.iter().all(|rule| rule.cluster_tag.is_none()));
        policy
            .rules
            .into_iter()
            .filter_map(|rule| rule.cluster)
            .collect()
    };
    assert_eq!(named("cluster_tag = \"prod\"\n"), ["branch", "lab"]);
    assert_eq!(named("cluster_tag = \"far\"\n"), ["branch"]);
    assert_eq!(
        named("cluster_tag = \"prod\"\ncluster = \"lab\"\n"),
        ["lab"]
    );
    let told = refused(&rules("cluster_tag = \"prot\"\n"));
    assert!(
        told.contains("no cluster has the tag prot") && told.contains("did you mean prod?"),
        "{told}"
    );
    let told = refused(&rules("cluster_tag = \"far\"\ncluster = \"lab\"\n"));
    assert!(told.contains("lab has not the tag far"), "{told}");
}
