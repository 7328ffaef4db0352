//! The rules of the other sweeps for tools that want a login.

use serde_json::Value;
use sim::Fault;
use tools::plan::{Needs, Plan};
use tools::policy::{Mode, Policy};
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{House, Meanwhile, Nobody, call, done, object};

fn changes() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    super::login_examples().filter(|(tool, _)| tool.spec().risk > Risk::Read)
}

async fn planned(house: &House, tool: &'static dyn Tool, args: &str) -> Plan {
    match tool.run(object(args), &house.context()).await {
        Ok(Ran::Plan(plan)) => *plan,
        Ok(Ran::Answer(_)) => panic!("{} gave an answer", tool.spec().name),
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}

#[tokio::test]
async fn an_example_applies_and_its_answer_matches_its_schema() {
    for (tool, args) in super::login_examples() {
        let house = House::logged_in(Mode::Trusted).await;
        let name = tool.spec().name;
        let answer = house.call(name, args).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{name} {args}: {fault}"));
        let schema = Value::Object(house.engine.registry().describe(tool).output.clone());
        let data = Value::Object(answer.data);
        if let Err(error) = jsonschema::validate(&schema, &data) {
            panic!("{name} {args}: {error} in {data:#}");
        }
        if tool.spec().risk > Risk::Read {
            assert_eq!(data["status"], "applied", "{name} {args}: {data:#}");
            assert_eq!(house.audit(), (1, vec!["applied".to_owned()]), "{name}");
        } else {
            assert_eq!(house.typed(), 0, "{name} typed");
        }
        // The password of the login, and what was typed as a secret.
        let trail = house.engine.store().unwrap().audit_trail(100).unwrap();
        let trail =
            serde_json::to_string(&trail.iter().map(|link| &link.entry).collect::<Vec<_>>());
        for text in [answer.text, data.to_string(), trail.unwrap()] {
            assert!(!text.contains(sim::worlds::ROOT_PASSWORD), "{name}: {text}");
            assert!(!text.contains("\"demo\""), "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn with_a_token_the_way_out_is_told_and_nothing_is_opened() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::login_examples() {
        let fault = house.call(tool.spec().name, args).await.unwrap_err();
        let text = fault.to_string();
        assert!(text.contains("lets no API token in"), "{text}");
        assert!(fault.hint.unwrap().contains("password_file"), "{text}");
    }
    let requests = house.sim.requests();
    assert!(requests.iter().all(|it| it.method == "GET"), "{requests:?}");
}

#[tokio::test]
async fn previews_questions_and_reading_alone_type_nothing() {
    for mode in [Mode::ReadOnly, Mode::Ask] {
        let house = House::logged_in(mode).await;
        for (tool, args) in super::login_examples() {
            let _ = house.call(tool.spec().name, args).await;
            let _ = house.preview(tool.spec().name, args).await;
        }
        assert_eq!(house.typed(), 0, "{mode:?}");
    }
    let house = House::logged_in(Mode::ReadOnly).await;
    for (tool, args) in changes() {
        let fault = house.agreed(tool.spec().name, args).await.unwrap_err();
        assert!(fault.to_string().contains("read"), "{fault}");
    }
    assert_eq!(house.typed(), 0);
}

#[tokio::test]
async fn what_does_not_open_types_nothing_and_says_so() {
    type Made = fn() -> Fault;
    let faults: [Made; 3] = [
        || Fault::refuse(500, "the sky is falling"),
        Fault::drop_before,
        Fault::drop_after,
    ];
    for (tool, args) in changes() {
        for fault in faults {
            let house = House::logged_in(Mode::Ask).await;
            let plan = planned(&house, tool, args).await;
            let request = plan.steps[0].action.request().into_owned();
            // Planning has looked; what comes now is meant for typing.
            let person = Meanwhile(|| house.sim.fault(fault().on("POST", &request.path)));
            let said = house.ask(tool.spec().name, args, &person).await;
            let said = said.unwrap_err();
            assert!(said.to_string().contains("nothing was typed"), "{said}");
            assert_eq!(house.audit(), (1, vec!["failed".to_owned()]));
            assert_eq!(house.typed(), 0);
        }
    }
}

fn leaves(needs: &Needs) -> Vec<(String, String)> {
    match needs {
        Needs::All(all) => all.iter().flat_map(leaves).collect(),
        Needs::Has { privilege, path } => vec![(path.clone(), privilege.clone())],
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn exactly_the_privileges_of_the_plan_are_enough() {
    for (tool, args) in changes() {
        let house = House::logged_in(Mode::Trusted).await;
        let needed = leaves(&planned(&house, tool, args).await.needs);
        for missing in 0..=needed.len() {
            let house = House::logged_in(Mode::Trusted).await;
            let mut held = needed.clone();
            let gap = (missing < held.len()).then(|| held.remove(missing));
            house.sim.world(|world| {
                let privileges: Vec<&str> = held.iter().map(|(_, name)| name.as_str()).collect();
                world.grant("narrow@pve", &needed[0].0, &privileges);
                let user = world.access.users.get_mut("narrow@pve").unwrap();
                user.password = Some("secret".to_owned());
            });
            let policy = Policy {
                mode: Mode::Trusted,
                ..Policy::default()
            };
            let engine = house.with_password("narrow@pve", "secret", policy);
            let answer = done(engine.call(call(tool.spec().name, args), &Nobody).await);
            match (gap, answer) {
                (None, Ok(answer)) => assert_eq!(answer.data["status"], "applied"),
                (Some((_, gap)), Err(fault)) => {
                    assert!(fault.to_string().contains(&gap), "{gap}: {fault}");
                    assert_eq!(house.typed(), 0);
                }
                (gap, answer) => panic!("{gap:?}: {:?}", answer.map(|answer| answer.text)),
            }
        }
    }
}
