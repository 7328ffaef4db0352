//! The call that takes a change back is one that works: what an applied change names as its undo applies too.

use serde_json::Value;
use tools::policy::Mode;

use crate::house::House;

/// Changes of which an example cannot be taken back at once on the demo world, and why.
const LATER: &[(&str, &str)] = &[
    (
        "move_vm_disk",
        "a running VM lets go of no disk; stopped it does",
    ),
    (
        "delete_storage",
        "PVE defines no storage that it cannot connect to, and behind the vault is no server",
    ),
];

#[tokio::test]
async fn what_takes_it_back_can_be_called() {
    let mut wrong = Vec::new();
    let mut undone = 0;
    for (tool, args) in super::changes() {
        let house = House::in_mode(Mode::Trusted).await;
        let name = tool.spec().name;
        let answer = house.call(name, args).await.unwrap();
        let undo = &answer.data.get("undo").cloned().unwrap_or(Value::Null);
        let Some(takes_back) = undo["tool"].as_str() else {
            continue;
        };
        if LATER.iter().any(|(later, _)| *later == name) {
            continue;
        }
        let arguments = undo["arguments"].to_string();
        undone += 1;
        match house.call(takes_back, &arguments).await {
            Ok(back) if back.data["status"] == "applied" => {}
            Ok(back) => wrong.push(format!(
                "{name} {args}: {takes_back} {arguments}: {}",
                back.text
            )),
            Err(fault) => wrong.push(format!("{name} {args}: {takes_back} {arguments}: {fault}")),
        }
    }
    eprintln!("{undone} changes were taken back");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
