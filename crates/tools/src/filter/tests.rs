//! Which words hold for which guest, and that nothing a caller writes makes the parser stumble.

use proptest::prelude::*;
use pve::Resource;
use serde_json::json;

use super::Filter;

fn web() -> Resource {
    serde_json::from_value(json!({
        "type": "qemu", "id": "qemu/100", "vmid": 100, "name": "Web-01", "node": "pve1", "status": "running",
        "tags": "prod;web", "pool": "prod", "cpu": 0.85, "mem": 3_000_000_000_u64, "maxmem": 4_000_000_000_u64,
        "disk": 0, "maxdisk": 34_359_738_368_u64, "uptime": 700_000, "hastate": "started"
    }))
    .unwrap()
}

fn holds(filter: &str, resource: &Resource) -> bool {
    Filter::parse(filter)
        .unwrap_or_else(|fault| panic!("{filter}: {fault}"))
        .matches(resource)
}

#[test]
fn all_words_must_hold() {
    for filter in [
        "",
        "web",
        "WEB",
        "100",
        "tag:prod status:running",
        "name:we node:pve1 type:qemu pool:prod vmid:100",
        "type:vm",
        "web*",
        "name:*-0?",
        "tag:pro*",
        "tag:db,web",
        "node:pve2,pve1",
        "vmid:100-199",
        "vmid:50-60,90-110",
        "vmid>=100",
        "vmid<101",
        "cpu>80",
        "cpu>80%",
        "cpu:80-90",
        "mem>74.5 mem<=75",
        "uptime>1w",
        "uptime<9d",
        "size>=32G",
        "size<1TiB",
        "ha:started",
        "-tag:test",
        "!tag:test",
        "status!=stopped",
        "status=running",
        "-lock:*",
    ] {
        assert!(holds(filter, &web()), "{filter}");
    }
    for filter in [
        "db",
        "tag:pro",
        "status:stopped",
        "tag:prod node:pve2",
        "vmid:10",
        "-web",
        "-tag:prod",
        "vmid:101-199",
        "cpu>90",
        "disk>0",
        "disk<100",
        "name:web?",
        "status!=running",
        "lock:*",
        "created>2020-01-01",
    ] {
        assert!(!holds(filter, &web()), "{filter}");
    }
}

#[test]
fn a_template_has_a_status_of_its_own() {
    let template = Resource {
        template: true,
        status: Some("stopped".into()),
        ..web()
    };
    assert!(holds("status:template", &template));
    assert!(!holds("status:stopped", &template));
}

#[test]
fn what_is_not_known_is_within_no_bound() {
    let stopped = Resource {
        status: Some("stopped".into()),
        cpu: Some(0.0),
        mem: Some(0),
        uptime: Some(0),
        ..web()
    };
    for filter in ["cpu<5", "mem<5", "uptime<1h", "cpu>=0"] {
        assert!(!holds(filter, &stopped), "{filter}");
    }
    assert!(holds("-cpu>80", &stopped));
}

#[test]
fn what_is_wrong_says_what_is_right() {
    for (filter, message, hint) in [
        ("tags:prod", "no field \"tags\"", "did you mean tag:prod?"),
        (
            "colour:red",
            "no field \"colour\"",
            "the fields are name, id, tag",
        ),
        (":x", "no field \"\"", "the fields are"),
        (
            "cpu>lots",
            "\"lots\" is nothing that cpu",
            "cpu>80, in percent",
        ),
        ("cpu>-1", "\"-1\"", "cpu>80"),
        ("cpu>1e3", "\"1e3\"", "cpu>80"),
        ("vmid:200-100", "\"200-100\"", "vmid:100-199"),
        ("vmid:1.5", "\"1.5\"", "vmid:105"),
        ("uptime>7y", "\"7y\"", "uptime>7d"),
        ("created:2026-10-01", "2026-10-01", "created<2026-10-01"),
        ("created<yesterday", "yesterday", "created<2026-10-01"),
        ("name>5", "name is a text", "name:value"),
        ("tag:", "\"tag:\" has no value", "field:value"),
        ("-", "\"-\" has no value", "field:value"),
    ] {
        let fault = Filter::parse(filter).unwrap_err();
        assert!(fault.message.contains(message), "{filter}: {fault}");
        let said = fault.hint.unwrap();
        assert!(said.contains(hint), "{filter}: {said}");
    }
}

#[test]
fn many_wildcards_take_no_forever() {
    let long = Resource {
        name: Some("a".repeat(5_000).into()),
        ..web()
    };
    assert!(!holds(&format!("name:{}b", "a*".repeat(200)), &long));
}

#[test]
fn a_sign_behind_a_comma_is_a_letter() {
    for text in [",-", ",!x", "-,-x"] {
        let filter = Filter::parse(text).unwrap();
        assert_eq!(
            Filter::parse(&filter.to_string()).unwrap(),
            filter,
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_or_refused(text in "\\PC{0,60}") {
        if let Ok(filter) = Filter::parse(&text) {
            let shown = filter.to_string();
            prop_assert_eq!(Filter::parse(&shown).unwrap(), filter.clone());
            let _ = filter.matches(&web());
        }
    }

    #[test]
    fn what_looks_like_a_filter_is_read_as_it_is_shown(
        text in "([-!]?(name|tag|vmid|cpu|mem|uptime|size|created|type)?[:=<>]{0,2}[a-z0-9*?.,%-]{0,6} ?){0,4}"
    ) {
        if let Ok(filter) = Filter::parse(&text) {
            prop_assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
        }
    }

    #[test]
    fn a_word_and_its_opposite_never_agree(text in "(tag|status|vmid|cpu)[:>]([0-9]{1,3}|prod|running)") {
        if let Ok(filter) = Filter::parse(&text) {
            let opposite = Filter::parse(&format!("-{text}")).unwrap();
            prop_assert_ne!(filter.matches(&web()), opposite.matches(&web()));
        }
    }
}

#[test]
fn a_word_that_holds_for_nothing_is_told_with_what_there_is() {
    let all = [web()];
    let why = |filter: &str| {
        Filter::parse(filter)
            .unwrap()
            .in_vain(&all.iter())
            .join("\n")
    };
    for (filter, says) in [
        ("status:up", "no such status among them, but running"),
        ("node:pve9", "but pve1"),
        ("tag:web;prod", "but prod and web"),
        ("lock:backup", "none of them has a lock"),
        ("created<2026-12-01", "created is not known"),
        ("web OR db", "OR is looked for in names"),
    ] {
        assert!(why(filter).contains(says), "{filter}: {}", why(filter));
    }
    for filter in [
        "db",
        "name:db",
        "-status:up",
        "cpu>90",
        "node:pve1",
        "status:running vmid>500",
    ] {
        assert_eq!(why(filter), "", "{filter}");
    }
    let fault = Filter::parse("memory>8G").unwrap_err();
    let hint = fault.hint.unwrap();
    assert!(hint.contains("did you mean mem>90, in percent?"), "{hint}");
}
