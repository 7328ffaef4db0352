//! Calls that need nobody's yes.

use serde_json::{Value, json};

use super::wire::{BOTH, Era, Person, Wire, is_error, text};
use super::world;

#[tokio::test]
async fn a_read_has_text_and_data() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let result = wire
            .call("list_proxmox_resources", json!({"filter": "name:staging"}))
            .await;
        assert!(!is_error(&result), "{result}");
        assert!(text(&result).contains("staging"));
        assert_eq!(result["structuredContent"]["resources"][0]["id"], "105");
        // Only the newer protocol knows the field.
        assert_eq!(result.get("resultType").is_some(), era == Era::Y2026);
    }
}

#[tokio::test]
async fn a_change_that_interrupts_nothing_just_runs() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let result = wire.call("start_proxmox_vm", json!({"vmid": 105})).await;
        assert_eq!(
            result["structuredContent"]["status"],
            "applied",
            "{}",
            text(&result)
        );
        assert_eq!(world.writes(), ["POST /nodes/pve1/qemu/105/status/start"]);
    }
}

/// One guest's failure is an error, and the others' results are in it as data.
#[tokio::test]
async fn a_change_that_failed_tells_each_steps_fate_as_data() {
    for era in BOTH {
        let world = world().await;
        let refused =
            sim::Fault::refuse(500, "no room").on("POST", "/nodes/*/lxc/203/status/start");
        world.sim.fault(refused);
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let result = wire
            .call("start_proxmox_vm", json!({"vmids": [105, 203]}))
            .await;
        assert!(is_error(&result), "{result}");
        assert!(text(&result).contains("no room"), "{}", text(&result));
        let outcome = &result["structuredContent"];
        assert_eq!(outcome["status"], "failed");
        assert_eq!(outcome["steps"][0]["state"], "done");
        assert_eq!(outcome["steps"][1]["state"], "failed");
    }
}

#[tokio::test]
async fn progress_goes_to_who_asked_for_it_and_grows() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let start = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105}});
        let mut with_token = start.clone();
        with_token["_meta"] = json!({"progressToken": "t1"});
        wire.result("tools/call", with_token).await;
        assert!(!wire.notes.is_empty());
        let mut last = 0.0;
        for note in wire.notes.drain(..) {
            assert_eq!(note["method"], "notifications/progress");
            let params = &note["params"];
            assert_eq!(params["progressToken"], "t1");
            let value = params["progress"].as_f64().unwrap();
            assert!(value > last, "{value} after {last}");
            last = value;
            assert!(params["message"].as_str().unwrap().contains("105"));
        }
        let other = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 203}});
        wire.result("tools/call", other).await;
        assert_eq!(wire.notes, Vec::<Value>::new());
    }
}

/// The first of two steps does not count as all of it, and the second goes on from there.
#[tokio::test]
async fn progress_counts_over_all_steps_of_a_plan() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let clone = json!({
            "name": "clone_proxmox_vm", "arguments": {"vmid": 900, "new_vmid": 300, "start": true},
            "_meta": {"progressToken": 7},
        });
        wire.result("tools/call", clone).await;
        let of_step = |word: &str| -> Vec<f64> {
            let notes = wire.notes.iter().map(|note| &note["params"]);
            let those = notes.filter(|note| note["message"].as_str().unwrap().starts_with(word));
            those
                .map(|note| note["progress"].as_f64().unwrap())
                .collect()
        };
        let (cloning, starting) = (of_step("Clone"), of_step("Start"));
        assert!(cloning.len() > 2, "{:?}", wire.notes);
        assert!(
            cloning.iter().all(|progress| *progress <= 52.0),
            "{cloning:?}"
        );
        assert!(
            cloning.iter().any(|progress| *progress > 20.0),
            "{cloning:?}"
        );
        assert!(
            starting.iter().all(|progress| *progress >= 49.0),
            "{starting:?}"
        );
        // PVE's own words, too.
        let notes = Value::from(wire.notes.clone()).to_string();
        assert!(notes.contains("transferred"), "{notes}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_in_a_tool_result() {
    let world = world().await;
    let cases = [
        ("stop_proxmox_vn", json!({}), ["stop_proxmox_vm", "hint: "]),
        ("get_proxmox_vm_status", json!({}), ["vmid", ""]),
        (
            "get_proxmox_vm_status",
            json!({"vmid": {"not": "this"}}),
            ["vmid", ""],
        ),
        (
            "get_proxmox_vm_status",
            json!({"vmid": 105, "includ": ["config"]}),
            ["includ", "did you mean `include`"],
        ),
        (
            "get_proxmox_vm_status",
            json!({"vmid": 99_998}),
            ["99998", "hint: "],
        ),
        (
            "start_proxmox_vm",
            json!({"vmid": 900}),
            ["template", "clone"],
        ),
    ];
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for (tool, arguments, words) in &cases {
            let result = wire.call(tool, arguments.clone()).await;
            assert!(is_error(&result), "{tool} {arguments}: {result}");
            for word in words {
                assert!(text(&result).contains(word), "{word}: {}", text(&result));
            }
            assert!(result.get("structuredContent").is_none());
        }
    }
    assert_eq!(world.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_without_arguments_is_one_with_none() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for arguments in [None, Some(Value::Null)] {
            let mut params = json!({"name": "list_proxmox_resources"});
            if let Some(arguments) = arguments {
                params["arguments"] = arguments;
            }
            let result = wire.result("tools/call", params).await;
            assert!(!is_error(&result), "{result}");
        }
    }
}

#[tokio::test]
async fn what_is_no_call_at_all_is_a_protocol_error_and_the_connection_lives() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        for params in [
            json!({"name": "x", "arguments": [1]}),
            json!({"arguments": {}}),
        ] {
            let answer = wire.request("tools/call", params).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
        let answer = wire.request("no/such/method", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        wire.call("list_proxmox_resources", json!({})).await;
    }
}

#[tokio::test]
async fn the_end_of_the_input_is_the_end_of_the_server() {
    let world = world().await;
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        wire.call("list_proxmox_resources", json!({})).await;
        wire.hang_up().await.unwrap();
        // Also for a client that never said a word.
        let silent = Wire::new(&world, era, Person::Absent).await;
        silent.hang_up().await.unwrap();
    }
}

#[tokio::test]
async fn a_stop_from_outside_ends_it_with_the_input_still_open() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    wire.call("list_proxmox_resources", json!({})).await;
    wire.stop.cancel();
    (&mut wire.serving).await.unwrap().unwrap();
}
