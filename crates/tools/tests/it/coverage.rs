//! How much of PVE's API can be reached, and by what: counted over the schema of 9.2 and written down in docs/COVERAGE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use pve::Method;
use serde_json::Value;
use tools::registry;
use tools::tool::Tool;

use crate::schemas::schema;

/// Methods that have a tool of their own: as many as another server had tools, and no fewer.
const LEAST_NAMED: usize = 285;
/// Methods that are left to another way, or to people.
const MOST_LEFT: usize = 45;

/// A verb, and a path with `*` for what varies.
type Place = (String, String);

#[tokio::test]
async fn the_document_says_what_is_covered() {
    let Some(methods) = schema("9.2") else {
        return;
    };
    let named = named(&methods).await;
    let left = left(&methods);
    assert!(named.len() >= LEAST_NAMED, "{} methods", named.len());
    assert!(left.values().map(Vec::len).sum::<usize>() <= MOST_LEFT);
    let text = document(&methods, &named, &left);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COVERAGE.md");
    if std::env::var_os("OXMOX_WRITE_DOCS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == text,
        "docs/COVERAGE.md is behind: run `OXMOX_WRITE_DOCS=1 cargo test -p oxmox-tools --test it coverage`"
    );
}

/// The methods that a tool of their own reads or sends. What is read only to plan a change does not count.
async fn named(methods: &[Value]) -> BTreeSet<Place> {
    let places: Vec<Place> = methods.iter().map(place).collect();
    let mut named = BTreeSet::new();
    let mut add = |verb: &str, path: &str| {
        named.extend(places.iter().find(|place| fits(place, verb, path)).cloned());
    };
    for tool in registry::all().filter(|tool| !is_generic(*tool)) {
        for method in tool.methods() {
            add(method.method.as_str(), &method.path);
        }
    }
    for asked in crate::requests::all().await {
        let tool = registry::all().find(|tool| tool.spec().name == asked.tool);
        if tool.is_some_and(|tool| tool.methods().is_empty() && !is_generic(tool)) {
            add(&asked.verb, &asked.path);
        }
    }
    named
}

/// Tools that are about any method or any tool.
fn is_generic(tool: &dyn Tool) -> bool {
    let name = tool.spec().name;
    tool.relays() || name.ends_with("_proxmox_api") || name == "preview_proxmox_change"
}

/// The methods that read_proxmox_api and write_proxmox_api leave to another way, by what that is.
fn left(methods: &[Value]) -> BTreeMap<&'static str, Vec<String>> {
    let mut left: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for method in methods {
        let verb = match text(&method["method"]) {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            _ => Method::Delete,
        };
        let path = text(&method["path"]);
        if let Some(instead) = tools::area::left_to(verb, path) {
            left.entry(instead)
                .or_default()
                .push(format!("{verb} {path}"));
        }
    }
    left
}

fn document(
    methods: &[Value],
    named: &BTreeSet<Place>,
    left: &BTreeMap<&'static str, Vec<String>>,
) -> String {
    let mut areas: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for method in methods {
        let counts = areas.entry(area(text(&method["path"]))).or_default();
        counts.0 += 1;
        counts.1 += usize::from(named.contains(&place(method)));
    }
    let all = methods.len();
    let unreachable: usize = left.values().map(Vec::len).sum();
    let mut out = String::from("# What of the API is covered\n\n");
    let _ = writeln!(
        out,
        "Written by a test over the schema of PVE 9.2, which has {all} methods. `read_proxmox_api` and `write_proxmox_api` \
reach {} of them; {} also have a tool of their own.\n",
        all - unreachable,
        named.len()
    );
    out.push_str("| area | methods | with a tool of their own |\n|---|---:|---:|\n");
    for (area, (all, named)) in &areas {
        let _ = writeln!(out, "| `{area}` | {all} | {named} |");
    }
    let _ = writeln!(
        out,
        "\n## Left to another way\n\n`read_proxmox_api` and `write_proxmox_api` refuse {unreachable} methods and say what does it instead.\n"
    );
    for (instead, methods) in left {
        let _ = writeln!(out, "- {instead}:");
        for method in methods {
            let _ = writeln!(out, "  - `{method}`");
        }
    }
    out
}

/// The part of the tree that a path lies in.
fn area(path: &str) -> &'static str {
    const AREAS: &[&str] = &[
        "/nodes/{node}/qemu",
        "/nodes/{node}/lxc",
        "/nodes/{node}/storage",
        "/nodes/{node}/ceph",
        "/nodes/{node}/disks",
        "/nodes",
        "/cluster/ha",
        "/cluster/sdn",
        "/cluster/firewall",
        "/cluster/notifications",
        "/cluster",
        "/access",
        "/storage",
        "/pools",
        "/version",
    ];
    let found = AREAS.iter().find(|area| path.starts_with(**area));
    found.copied().unwrap_or("/")
}

fn place(method: &Value) -> Place {
    let path = text(&method["path"]);
    let part = |part: &str| if part.starts_with('{') { "*" } else { part }.to_owned();
    let path: Vec<_> = path.split('/').map(part).collect();
    (text(&method["method"]).to_owned(), path.join("/"))
}

/// Whether a template, or a path with its words filled in, is of that place.
fn fits((verb, path): &Place, sent: &str, at: &str) -> bool {
    let parts = path.split('/');
    verb == sent
        && parts.clone().count() == at.split('/').count()
        && parts
            .zip(at.split('/'))
            .all(|(part, word)| part == "*" || part == word)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
