//! Looking never changes anything.

use tools::engine::Reply;
use tools::policy::Mode;
use tools::spec::Risk;

use crate::house::{House, Nobody, call, object};

#[tokio::test]
async fn a_preview_sends_no_write() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::changes() {
        let mut call = call(tool.spec().name, args);
        call.preview = true;
        let reply = house.engine.call(call, &Nobody).await;
        assert!(
            matches!(reply, Ok(Reply::Done(_))),
            "{} {args}: {reply:?}",
            tool.spec().name
        );
        assert_eq!(
            house.writes(),
            [""; 0],
            "the preview of {} wrote",
            tool.spec().name
        );
        let arguments =
            serde_json::json!({"tool": tool.spec().name, "arguments": object(args)}).to_string();
        house
            .call("preview_proxmox_change", &arguments)
            .await
            .unwrap();
        assert_eq!(
            house.writes(),
            [""; 0],
            "preview_proxmox_change of {} wrote",
            tool.spec().name
        );
    }
}

#[tokio::test]
async fn a_question_sends_no_write() {
    let house = House::new().await;
    for (tool, args) in super::changes() {
        if !super::asks(&house, tool, args).await {
            continue;
        }
        let answer = house.call(tool.spec().name, args).await;
        assert_eq!(
            house.writes(),
            [""; 0],
            "{} wrote before anybody agreed: {answer:?}",
            tool.spec().name
        );
    }
}

#[tokio::test]
async fn reads_send_no_write() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read) {
        house.call(tool.spec().name, args).await.unwrap();
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn read_only_mode_only_reads() {
    let house = House::in_mode(Mode::ReadOnly).await;
    for (tool, args) in super::examples() {
        let name = tool.spec().name;
        let answer = house.agreed(name, args).await;
        if tool.spec().risk > Risk::Read {
            let fault = answer.unwrap_err().to_string();
            let refused = fault.contains("switched off") || fault.contains("read-only");
            assert!(refused, "{name}: {fault}");
        } else {
            answer.unwrap_or_else(|fault| panic!("{name} {args}: {fault}"));
        }
    }
    assert_eq!(house.writes(), [""; 0]);
    let registry = house.engine.registry();
    let mut listed = registry.tools().map(|tool| registry.describe(tool));
    assert!(listed.all(|tool| tool.risk == Risk::Read));
}

/// A call that is planned again a moment later does the same: what a person is asked about does not change under their
/// eyes, and an approval still fits.
#[tokio::test]
async fn planning_twice_gives_the_same() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::changes() {
        let mut plans = Vec::new();
        for _ in 0..2 {
            match tool.run(object(args), &house.context()).await {
                Ok(tools::tool::Ran::Plan(plan)) => plans.push(plan),
                _ => panic!("{} {args} gave no plan", tool.spec().name),
            }
            house.sim.advance(std::time::Duration::from_secs(90));
        }
        let difference = plans[0].difference(&plans[1]);
        assert_eq!(difference, None, "{} {args}", tool.spec().name);
    }
}
