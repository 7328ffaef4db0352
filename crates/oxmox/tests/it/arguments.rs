//! A tool's arguments on the command line: typed and read back, they are what a model would send.

use oxmox::cli::arguments::{object, quoted, words};
use oxmox::cli::call::{command, every_tool};
use serde_json::{Value, json};
use tools::fault::Fault;
use tools::registry::Described;
use tools::spec::Spec;
use tools::tool::Object;

fn tool(name: &str) -> (Described, &'static Spec) {
    let registry = every_tool();
    let tool = registry.find(name).unwrap();
    (registry.describe(tool).into_owned(), tool.spec())
}

fn read(tool: &Described, spec: &Spec, typed: &[String]) -> Result<Object, Fault> {
    let line = [tool.name.to_owned()].into_iter().chain(typed.to_vec());
    let matches = command(tool, spec).try_get_matches_from(line);
    object(
        tool,
        &matches.unwrap_or_else(|error| panic!("{typed:?}: {error}")),
    )
}

#[track_caller]
fn is_read(name: &str, typed: &[&str], wanted: &Value) {
    let (tool, spec) = tool(name);
    let typed: Vec<_> = typed.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(Value::Object(read(&tool, spec, &typed).unwrap()), *wanted);
}

#[test]
fn every_example_of_every_tool_round_trips() {
    let registry = every_tool();
    for tool in registry.tools() {
        let described = registry.describe(tool);
        for example in tool.spec().examples {
            let wanted: Object = serde_json::from_str(example.args).unwrap();
            let typed = words(&described, &wanted);
            let got = read(&described, tool.spec(), &typed).unwrap();
            assert_eq!(Value::Object(got), Value::Object(wanted), "{typed:?}");
        }
    }
}

#[test]
fn every_tools_command_is_sound() {
    let registry = every_tool();
    for tool in registry.tools() {
        command(&registry.describe(tool), tool.spec()).debug_assert();
    }
}

#[test]
fn both_spellings_of_a_name_are_taken() {
    let wanted = json!({"vmid": 105, "new_vmid": 300});
    is_read(
        "clone_proxmox_vm",
        &["--vmid", "105", "--new-vmid", "300"],
        &wanted,
    );
    is_read(
        "clone_proxmox_vm",
        &["--vmid=105", "--new_vmid=300"],
        &wanted,
    );
}

#[test]
fn flags_are_on_unless_said_otherwise() {
    let clone = "clone_proxmox_vm";
    is_read(clone, &["--start"], &json!({"start": true}));
    is_read(
        clone,
        &["--full=false", "--start"],
        &json!({"full": false, "start": true}),
    );
}

#[test]
fn lists_are_separated_by_commas_or_given_once_per_item() {
    let status = "get_proxmox_vm_status";
    let wanted = json!({"include": ["snapshots", "tasks"]});
    is_read(status, &["--include", "snapshots,tasks"], &wanted);
    is_read(
        status,
        &["--include", "snapshots", "--include", "tasks"],
        &wanted,
    );
    is_read(status, &["--include", r#"["snapshots","tasks"]"#], &wanted);
}

#[test]
fn an_object_is_json_or_pairs() {
    let preview = "preview_proxmox_change";
    let wanted = json!({"arguments": {"vmid": 105, "name": "web", "start": true}});
    is_read(
        preview,
        &["--arguments", r#"{"vmid":105,"name":"web","start":true}"#],
        &wanted,
    );
    let pairs = [
        "--arguments",
        "vmid=105",
        "--arguments",
        "name=web",
        "--arguments",
        "start=true",
    ];
    is_read(preview, &pairs, &wanted);
    let (tool, spec) = tool(preview);
    let wrong = ["--arguments".to_owned(), "vmid".to_owned()];
    let fault = read(&tool, spec, &wrong).unwrap_err();
    assert!(fault.message.contains("is no key=value"), "{fault}");
}

#[test]
fn a_key_that_is_given_twice_is_told() {
    let (tool, spec) = tool("preview_proxmox_change");
    for (values, said) in [
        (&["vmid=105", "vmid=100"][..], "`vmid` is given twice"),
        (&[r#"{"vmid": 105}"#, "vmid=100"], "`vmid` is given twice"),
        (
            &[r#"{"vmid": 105, "vmid": 100}"#],
            "`vmid` stands there twice",
        ),
    ] {
        let words = values.iter().flat_map(|value| ["--arguments", value]);
        let words: Vec<_> = words.map(str::to_owned).collect();
        let fault = read(&tool, spec, &words).unwrap_err();
        assert!(fault.message.contains(said), "{fault}");
    }
}

#[test]
fn what_is_no_number_is_left_to_the_tool() {
    is_read(
        "get_proxmox_vm_status",
        &["--vmid", "web"],
        &json!({"vmid": "web"}),
    );
}

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(quoted("ctrl-alt-delete"), "ctrl-alt-delete");
    assert_eq!(quoted("it's"), r"'it'\''s'");
    assert_eq!(quoted(""), "''");
}
