//! A caller's scope holds for every tool.

use tools::caller::{Bounds, Caller, Scope};
use tools::engine::{Call, Engine, Reply};
use tools::fault::Fault;
use tools::policy::Mode;
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{House, Nobody, object};

async fn call(
    engine: &std::sync::Arc<Engine>,
    tool: &dyn Tool,
    args: &str,
    scope: Scope,
) -> Result<Reply, Fault> {
    let caller = Caller {
        name: "bounded".to_owned(),
        bounds: Bounds {
            scope,
            ..Bounds::default()
        },
    };
    let call = Call::new(tool.spec().name, object(args), caller);
    engine.call(call, &Nobody).await
}

/// Nobody is asked here, so that nothing but the scope can be what stops it.
#[tokio::test]
async fn whoever_may_read_causes_no_write_by_any_tool() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::changes() {
        let reply = call(&house.engine, tool, args, Scope::Read).await;
        assert!(reply.is_err(), "{} {args}: {reply:?}", tool.spec().name);
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn whoever_may_operate_destroys_and_grants_nothing_by_any_tool() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::changes() {
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            continue;
        };
        if plan.risk() <= Risk::Disrupt {
            continue;
        }
        let reply = call(&house.engine, tool, args, Scope::Operate).await;
        assert!(reply.is_err(), "{} {args}: {reply:?}", tool.spec().name);
        assert_eq!(house.writes(), [""; 0], "{}", tool.spec().name);
    }
}

/// A tool is left out of a caller's list only if nothing of it is of any use to them.
#[tokio::test]
async fn no_plan_is_less_grave_than_its_tool_says_at_the_least() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut wrong = Vec::new();
    for (tool, args) in super::changes() {
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            continue;
        };
        if plan.risk() < tool.least_risk() {
            let (name, risk) = (tool.spec().name, plan.risk().word());
            wrong.push(format!("{name} {args} is {risk}-risk"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
