//! The approval of a text that is typed as a secret: the person who approves it sees it, in the process that holds it.

use secrecy::ExposeSecret as _;
use tools::caller::{Bounds, Caller, Scope};
use tools::engine::{Asked, Engine, Reply};
use tools::fault::{Fault, Kind};
use tools::policy::{Mode, Policy};
use tools::store::{PlanState, StoredPlan};

use crate::house::{CALLER, House, Nobody, Person, call, done};

const COMMAND: &str = "rm -rf /srv";
const PAGE: &str = "http://127.0.0.1:8765/";

/// The command typed as a secret, on a console and on a terminal.
fn calls() -> [(&'static str, String); 2] {
    [
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{COMMAND}"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 200, "secret": "{COMMAND}"}}"#),
        ),
    ]
}

/// A house whose engine serves a page.
async fn with_page() -> House {
    let house = House::logged_in(Mode::Ask).await;
    house.engine.serves_page_at(PAGE);
    house
}

/// The plan that such a call leaves waiting.
async fn waiting(engine: &std::sync::Arc<Engine>, (tool, args): &(&str, String)) -> StoredPlan {
    let answer = done(engine.call(call(tool, args), &Nobody).await).unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    let id = answer.data["plan"].as_str().unwrap();
    let store = engine.store().await.unwrap();
    store.plan(id).await.unwrap().unwrap()
}

async fn revealed(engine: &Engine, plan: &StoredPlan, by: &Caller) -> Result<String, Fault> {
    let texts = engine.reveal(&plan.id, &plan.digest, by).await?;
    assert_eq!(texts.len(), 1);
    Ok(texts[0].expose_secret().to_owned())
}

fn pressed(house: &House) -> usize {
    let keys = house.sim.world(|world| world.guests[&100].keys.len());
    keys + house.typed()
}

#[tokio::test]
async fn command_typed_as_secret_cannot_be_run_unseen() {
    let house = House::logged_in(Mode::Ask).await;
    // A secret presses no Enter, and is short.
    for (tool, args) in [
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{COMMAND}", "enter": true}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{COMMAND}\n"}}"#),
        ),
        (
            "send_vm_terminal_line",
            format!(r#"{{"vmid": 200, "secret": "{COMMAND}\r"}}"#),
        ),
        (
            "type_vm_text",
            format!(r#"{{"vmid": 100, "secret": "{}"}}"#, "a".repeat(129)),
        ),
    ] {
        let fault = house.agreed(tool, &args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::BadInput, "{fault}");
        assert!(fault.hint.is_some() && !fault.to_string().contains(COMMAND));
    }
    for (tool, args) in calls() {
        // Nobody can be shown it: it does not even wait.
        let fault = house.call(tool, &args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault}");
        assert!(fault.message.contains("must see a secret"), "{fault}");
        let store = house.engine.store().await.unwrap();
        assert!(store.waiting_plans(0).await.unwrap().is_empty());
        // A person who is asked is shown it.
        let person = Person::saying_no();
        house.ask(tool, &args, &person).await.unwrap();
        let asked = person.asked.lock().unwrap();
        let [question] = asked.as_slice() else {
            panic!("asked {} times", asked.len());
        };
        assert_eq!(question.secret_texts[0].expose_secret(), COMMAND);
        assert!(!format!("{question:?}").contains(COMMAND));
        assert!(question.outcome.confirm.is_none());
        let shown = tools::tool::Answer::text(&question.outcome);
        assert!(shown.contains("a secret (11 characters)"), "{shown}");
        assert!(shown.contains("<secret, 11 characters>"), "{shown}");
    }
    assert_eq!(pressed(&house), 0);
}

#[tokio::test]
async fn answer_that_comes_in_a_second_call_was_asked_with_the_text() {
    let house = House::logged_in(Mode::Ask).await;
    for (tool, args) in calls() {
        let later = Person::saying(Asked::Later);
        let asked = house.engine.call(call(tool, &args), &later).await.unwrap();
        let Reply::Ask(question) = asked else {
            panic!("no question");
        };
        assert_eq!(question.secret_texts[0].expose_secret(), COMMAND);
        // A second question about the plan that waits already.
        let asked = house.engine.call(call(tool, &args), &later).await.unwrap();
        let Reply::Ask(question) = asked else {
            panic!("no question");
        };
        assert_eq!(question.secret_texts[0].expose_secret(), COMMAND);
    }
}

#[tokio::test]
async fn secret_is_revealed_and_approved_where_it_is_held() {
    let house = with_page().await;
    let owner = Caller::from("owner");
    for typed in calls() {
        let plan = waiting(&house.engine, &typed).await;
        let inbox = house.engine.inbox(&owner).await.unwrap();
        assert!(inbox[0].types_secret && inbox[0].refusal.is_none());
        assert!(!format!("{inbox:?}").contains(COMMAND));
        let text = revealed(&house.engine, &plan, &owner).await.unwrap();
        assert_eq!(text, COMMAND);
        let decide = house.engine.decide(&plan.id, &plan.digest, true, &owner);
        decide.await.unwrap();
        // Decided: it is gone from memory, and the call brings it along.
        let fault = revealed(&house.engine, &plan, &owner).await.unwrap_err();
        assert!(fault.message.contains("is approved already"), "{fault}");
        let applied = house.call(typed.0, &typed.1).await.unwrap();
        assert_eq!(applied.data["status"], "applied", "{}", applied.text);
        let fault = revealed(&house.engine, &plan, &owner).await.unwrap_err();
        assert!(fault.message.contains("was used already"), "{fault}");
    }
    assert!(pressed(&house) > 0);
}

#[tokio::test]
async fn secret_is_revealed_to_nobody_who_could_not_approve_it() {
    let house = with_page().await;
    let plan = waiting(&house.engine, &calls()[0]).await;
    let bound = |scope, clusters: &[&str]| Caller {
        name: "other".to_owned(),
        bounds: Bounds {
            scope,
            clusters: clusters.iter().map(|it| (*it).to_owned()).collect(),
            ..Bounds::default()
        },
    };
    for (person, kind) in [
        (bound(Scope::Full, &["elsewhere"]), Kind::NotFound),
        (bound(Scope::Read, &[]), Kind::Refused),
        (bound(Scope::Operate, &[]), Kind::Refused),
    ] {
        let fault = revealed(&house.engine, &plan, &person).await.unwrap_err();
        assert_eq!(fault.kind, kind, "{fault}");
    }
    let owner = Caller::from("owner");
    let other_plan = house.engine.reveal(&plan.id, "another digest", &owner);
    assert_eq!(other_plan.await.unwrap_err().kind, Kind::Conflict);
    let four_eyes = Policy {
        four_eyes: true,
        ..Policy::default()
    };
    house.engine.decide_by(four_eyes).unwrap();
    let asker = Caller::from(CALLER);
    let fault = revealed(&house.engine, &plan, &asker).await.unwrap_err();
    assert!(fault.message.contains("four_eyes"), "{fault}");
    assert!(revealed(&house.engine, &plan, &owner).await.is_ok());
}

/// Another process on the same store, or the same one after a restart.
#[tokio::test]
async fn secret_cannot_be_approved_by_a_process_that_does_not_hold_it() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new().await;
    let holder = house.kept_in(dir.path(), Policy::default());
    holder.serves_page_at(PAGE);
    let plan = waiting(&holder, &calls()[0]).await;
    let other = house.kept_in(dir.path(), Policy::default());
    other.serves_page_at(PAGE);
    let owner = Caller::from("owner");
    let inbox = other.inbox(&owner).await.unwrap();
    let refusal = inbox[0].refusal.as_ref().unwrap().to_string();
    assert!(refusal.contains("page of the oxmox process"), "{refusal}");
    assert!(inbox[0].types_secret);
    let decide = |engine: &std::sync::Arc<Engine>, approve| {
        let (engine, owner) = (engine.clone(), owner.clone());
        let (id, digest) = (plan.id.clone(), plan.digest.clone());
        async move { engine.decide(&id, &digest, approve, &owner).await }
    };
    let fault = decide(&other, true).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Refused, "{fault}");
    let fault = revealed(&other, &plan, &owner).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Refused, "{fault}");
    // The store refuses it, too.
    let store = other.store().await.unwrap();
    let fault = store
        .decide_plan(&plan, true, "owner", 0)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::Refused, "{fault}");
    let state = store.plan(&plan.id).await.unwrap().unwrap().state;
    assert_eq!(state, PlanState::Waiting);
    // Rejecting takes no secret, and ends the holder's memory of it.
    decide(&other, false).await.unwrap();
    holder.close_left_open().await.unwrap();
    let fault = revealed(&holder, &plan, &owner).await.unwrap_err();
    assert!(fault.message.contains("was rejected already"), "{fault}");
}

#[tokio::test]
async fn secret_of_an_expired_plan_is_not_revealed() {
    let house = with_page().await;
    let plan = waiting(&house.engine, &calls()[0]).await;
    house.later(16 * 60);
    let owner = Caller::from("owner");
    let fault = revealed(&house.engine, &plan, &owner).await.unwrap_err();
    assert!(fault.message.contains("has expired"), "{fault}");
    let decide = house.engine.decide(&plan.id, &plan.digest, true, &owner);
    let fault = decide.await.unwrap_err();
    assert!(fault.message.contains("has expired"), "{fault}");
}

/// Passwords that a request carries are no texts to be typed: they are approved as ever.
#[tokio::test]
async fn password_of_a_request_needs_no_reveal() {
    let house = House::new().await;
    let args = r#"{"vmid": 106, "username": "root", "password": "Kanarienvogel7"}"#;
    let shown = house.call("vm_agent_set_password", args).await.unwrap();
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    let done = house.call("vm_agent_set_password", args).await.unwrap();
    assert_eq!(done.data["status"], "applied", "{}", done.text);
}
