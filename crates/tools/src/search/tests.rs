use std::path::PathBuf;

use proptest::prelude::*;
use pve::Method as Verb;
use serde_json::Value;

use super::*;

/// A small API, by verb, path and description.
const API: &[(Verb, &str, &str)] = &[
    (Verb::Get, "/access/users", "User index."),
    (Verb::Post, "/access/users", "Create new user."),
    (Verb::Delete, "/access/users/{userid}", "Delete user."),
    (Verb::Get, "/nodes/{node}/qemu/{vmid}", "Directory index"),
    (
        Verb::Get,
        "/nodes/{node}/qemu/{vmid}/status",
        "Directory index",
    ),
    (
        Verb::Get,
        "/nodes/{node}/qemu/{vmid}/status/current",
        "Get virtual machine status.",
    ),
    (
        Verb::Post,
        "/nodes/{node}/qemu/{vmid}/status/start",
        "Start virtual machine.",
    ),
    (
        Verb::Post,
        "/nodes/{node}/lxc/{vmid}/status/start",
        "Start the container.",
    ),
    (
        Verb::Post,
        "/nodes/{node}/lxc/{vmid}/firewall/rules",
        "Create new rule.",
    ),
    (
        Verb::Post,
        "/nodes/{node}/qemu/{vmid}/firewall/rules",
        "Create new rule.",
    ),
    (
        Verb::Get,
        "/access/tfa",
        "List TFA configurations of users.",
    ),
    (
        Verb::Get,
        "/nodes/{node}/qemu/{vmid}/cloudinit",
        "Get the cloudinit configuration.",
    ),
];

fn index() -> Index {
    let methods: Vec<_> = API
        .iter()
        .map(|(verb, path, description)| ApiMethod {
            verb: *verb,
            path,
            name: "",
            description,
            parameters: Vec::new(),
        })
        .collect();
    Index::new(super::methods(&methods))
}

fn best(request: &str) -> String {
    let index = index();
    let hits = index.find(request, 1);
    let Some(hit) = hits.first() else {
        return "nothing".to_owned();
    };
    let (verb, path, _) = API[hit.document];
    format!("{verb:?} {path}")
}

#[test]
fn words_of_the_method_find_it() {
    assert_eq!(best("create user"), "Post /access/users");
    assert_eq!(best("deleting a user"), "Delete /access/users/{userid}");
    assert_eq!(best("list users"), "Get /access/users");
}

#[test]
fn what_people_say_finds_it() {
    assert_eq!(
        best("boot up ct 100"),
        "Post /nodes/{node}/lxc/{vmid}/status/start"
    );
    assert_eq!(best("who can log in?"), "Get /access/users");
    assert_eq!(best("which 2fa is there"), "Get /access/tfa");
    assert_eq!(
        best("open a port on the container"),
        "Post /nodes/{node}/lxc/{vmid}/firewall/rules"
    );
    assert_eq!(
        best("is vm 100 running?"),
        "Get /nodes/{node}/qemu/{vmid}/status/current"
    );
}

#[test]
fn verbs_are_understood_in_parts() {
    assert_eq!(
        best("turn container 100 on"),
        "Post /nodes/{node}/lxc/{vmid}/status/start"
    );
}

#[test]
fn courtesy_and_questions_tell_what_is_wanted() {
    assert_eq!(best("could you please add a user?"), "Post /access/users");
    assert_eq!(best("i need a user"), "Post /access/users");
    assert_eq!(best("i want to see the users"), "Get /access/users");
    assert_eq!(
        best("she left, remove the user"),
        "Delete /access/users/{userid}"
    );
}

#[test]
fn a_named_area_is_kept_to() {
    let index = index();
    let found = index.find("start the firewall of vm 100", 3);
    assert!(API[found[0].document].1.contains("firewall"), "{found:?}");
}

#[test]
fn slips_of_the_finger_are_forgiven() {
    assert_eq!(
        best("strat the contaner"),
        "Post /nodes/{node}/lxc/{vmid}/status/start"
    );
    assert_eq!(
        best("add a firewal rul to container 5"),
        "Post /nodes/{node}/lxc/{vmid}/firewall/rules"
    );
    assert_eq!(
        best("show cloud-init of vm 100"),
        "Get /nodes/{node}/qemu/{vmid}/cloudinit"
    );
}

#[test]
fn paths_that_only_lead_on_come_last() {
    let index = index();
    let found = index.find("show vm status", API.len());
    let position = |wanted: &str| found.iter().position(|hit| API[hit.document].1 == wanted);
    assert!(
        position("/nodes/{node}/qemu/{vmid}/status/current")
            < position("/nodes/{node}/qemu/{vmid}/status")
    );
}

#[test]
fn nothing_is_found_for_nothing() {
    for request in ["", " ", "the", "?!", "\u{202e}", "xqzjv"] {
        assert_eq!(index().find(request, 3), [], "{request:?}");
    }
    assert_eq!(index().find("start vm", 0), []);
    assert_eq!(Index::new([]).find("start vm", 3), []);
}

#[test]
fn the_same_request_finds_the_same_every_time() {
    let first = index().find("strat vm and turn on firewal of container", 10);
    for _ in 0..5 {
        assert_eq!(
            index().find("strat vm and turn on firewal of container", 10),
            first
        );
    }
}

#[test]
fn an_endless_request_is_read_to_its_bound() {
    let index = index();
    let long = format!("start vm {}", "strat zzzzzzzz ".repeat(10_000));
    assert!(!index.find(&long, 3).is_empty());
    assert!(index.explain(&long).len() < 20_000);
}

proptest! {
    #[test]
    fn no_request_panics(request in "\\PC{0,200}", limit in 0_usize..20) {
        let index = index();
        let hits = index.find(&request, limit);
        prop_assert!(hits.len() <= limit);
        prop_assert!(hits.iter().all(|hit| hit.document < API.len() && hit.score.is_finite()));
        prop_assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }

    #[test]
    fn no_document_panics(text in "\\PC{0,200}", request in "\\PC{0,40}") {
        let documents = [Document::default().with(Field::Subject, text.clone()).within(1.0, text), Document::default()];
        prop_assert!(Index::new(documents).find(&request, 3).len() <= 2);
    }
}

/// The methods of PVE 9.2, where the reference data lies beside the repository.
fn schema() -> Option<Vec<Value>> {
    let root = std::env::var_os("OXMOX_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("pve-api/apidoc-9.2.json")) else {
        eprintln!("skipped: the schemas of PVE are not beside this repository");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn every_line_of_everyday_words_is_for_a_path_that_exists() {
    let Some(api) = schema() else { return };
    let methods: Vec<(Verb, &str)> = api
        .iter()
        .map(|method| {
            (
                everyday::verb(method["method"].as_str().unwrap()).unwrap(),
                method["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(everyday::unused(&methods), Vec::<String>::new());
}

#[test]
fn every_meaning_is_a_word_of_some_method() {
    let Some(api) = schema() else { return };
    let methods: Vec<ApiMethod<'_>> = api
        .iter()
        .map(|method| ApiMethod {
            verb: Verb::Get,
            path: method["path"].as_str().unwrap(),
            name: method["name"].as_str().unwrap_or_default(),
            description: method["description"].as_str().unwrap_or_default(),
            parameters: method["parameters"]["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| (name.as_str(), ""))
                .collect(),
        })
        .collect();
    let index = Index::new(super::methods(&methods));
    let unknown: Vec<_> = vocabulary::Vocabulary::get()
        .meanings()
        .filter(|stem| !index.knows(stem))
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
}
