//! `docs/simulator.md` lists the modelled routes; here it is compared with the tables, and written anew on request. What the
//! replay found is held there in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sim::api::TABLES;

use crate::reference;

/// Parts of the API, longest first: a path belongs to the first that it begins with.
const BRANCHES: &[&str] = &[
    "/nodes/{node}/qemu/{vmid}/firewall",
    "/nodes/{node}/lxc/{vmid}/firewall",
    "/nodes/{node}/qemu/{vmid}/agent",
    "/nodes/{node}/qemu",
    "/nodes/{node}/lxc",
    "/nodes/{node}/storage",
    "/nodes/{node}/firewall",
    "/nodes/{node}/tasks",
    "/nodes/{node}/ceph",
    "/nodes/{node}/disks",
    "/nodes",
    "/cluster/firewall",
    "/cluster/ha",
    "/cluster/sdn",
    "/cluster/ceph",
    "/cluster/notifications",
    "/cluster",
    "/access",
    "/pools",
    "/storage",
    "/",
];

type Methods = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_document_lists_what_is_modelled() {
    let Some(text) = reference::read("pve-api/apidoc-9.1.json") else {
        return;
    };
    let schema: Vec<Value> = serde_json::from_str(&text).expect("a schema");
    holds("routes", &section(&schema));
}

/// `docs/simulator.md` has this between the marks of this name. It is put there where somebody asks for it.
pub(crate) fn holds(block: &str, content: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulator.md");
    let document = std::fs::read_to_string(&file).expect("docs/simulator.md");
    let (begin, end) = (
        format!("<!-- {block} begin -->\n"),
        format!("<!-- {block} end -->"),
    );
    let (before, rest) = document.split_once(&begin).expect("the block begins");
    let (_, after) = rest.split_once(&end).expect("the block ends");
    let expected = format!("{before}{begin}{content}{end}{after}");
    if std::env::var_os("OXMOX_WRITE_DOCS").is_some() {
        std::fs::write(&file, expected).expect("docs/simulator.md can be written");
        return;
    }
    assert!(
        document == expected,
        "docs/simulator.md is behind in its {block}: run `OXMOX_WRITE_DOCS=1 cargo test -p oxmox-sim --test it`"
    );
}

fn branch(path: &str) -> &'static str {
    let below = |branch: &str| {
        let rest = path.strip_prefix(branch);
        branch == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let found = BRANCHES.iter().find(|branch| below(branch));
    found.copied().unwrap_or("/")
}

fn section(schema: &[Value]) -> String {
    let mut modelled: BTreeMap<&str, Methods> = BTreeMap::new();
    for route in TABLES.iter().copied().flatten() {
        let paths = modelled.entry(branch(route.path)).or_default();
        let methods = paths.entry(route.path.to_owned()).or_default();
        methods.insert(route.method.to_owned());
    }
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in schema {
        *all.entry(branch(entry["path"].as_str().unwrap_or_default()))
            .or_default() += 1;
    }
    let count = |branch: &str| -> usize {
        let paths = modelled.get(branch).into_iter().flatten();
        // The root of the API is no method of the schema.
        let real = paths.filter(|(path, _)| *path != "/");
        real.map(|(_, methods)| methods.len()).sum()
    };
    let mut out = String::from("\n| branch | modelled | not modelled |\n|---|---:|---:|\n");
    let (mut here, mut total) = (0, 0);
    let mut names: Vec<&str> = all.keys().copied().collect();
    names.sort_unstable();
    for name in &names {
        let (known, real) = (count(name), all[name]);
        (here, total) = (here + known, total + real);
        let _ = writeln!(out, "| `{name}` | {known} | {} |", real - known);
    }
    let _ = writeln!(out, "| all | {here} | {} |", total - here);
    for name in &names {
        if let Some(paths) = modelled.get(name) {
            let _ = writeln!(out, "\n### `{name}`\n");
            list(&mut out, paths);
        }
    }
    out.push_str("\n### Not modelled\n\nThese answer 501.\n\n");
    for name in &names {
        list(&mut out, &missing(schema, name, modelled.get(name)));
    }
    out.push('\n');
    out
}

/// What the schema has in a branch and the simulator does not.
fn missing(schema: &[Value], name: &str, modelled: Option<&Methods>) -> Methods {
    let mut missing = Methods::new();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for entry in schema {
        let (path, method) = (word(&entry["path"]), word(&entry["method"]));
        let known = modelled.and_then(|paths| paths.get(&path));
        if branch(&path) == name && !known.is_some_and(|methods| methods.contains(&method)) {
            missing.entry(path).or_default().insert(method);
        }
    }
    missing
}

fn list(out: &mut String, paths: &Methods) {
    for (path, methods) in paths {
        let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
        let _ = writeln!(out, "- `{path}` {}", methods.join(" "));
    }
}
