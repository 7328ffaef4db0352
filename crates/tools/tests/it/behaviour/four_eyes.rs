//! Whoever asks for a change is not the one who says yes to it.

use tools::caller::{Bounds, Caller, Vmids};
use tools::engine::{Answered, Asked, Reply};
use tools::policy::Policy;

use crate::house::{CALLER, Furnish, House, Person, call, done};

const STOP: (&str, &str) = ("stop_proxmox_vm", r#"{"vmid": 110, "action": "stop"}"#);

async fn house() -> House {
    House::furnished(Furnish {
        policy: Policy {
            four_eyes: true,
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await
}

#[tokio::test]
async fn nobody_is_asked_through_the_client() {
    let house = house().await;
    let eager = Person::saying_yes();
    let asked = house.ask(STOP.0, STOP.1, &eager).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    assert_eq!(eager.times_asked(), 0);
    assert!(asked.data.get("confirm").is_none(), "{}", asked.text);
    assert!(asked.text.contains("another person"), "{}", asked.text);
    assert!(house.writes().is_empty());
}

#[tokio::test]
async fn another_person_lets_it_run_and_the_same_does_not() {
    let asker = CALLER.rsplit(':').next().unwrap();
    for (by, runs) in [(asker, false), ("another", true)] {
        let house = house().await;
        house.call(STOP.0, STOP.1).await.unwrap();
        let store = house.engine.store().await.unwrap();
        let waiting = store.waiting_plans(0).await.unwrap().remove(0);
        // As by a command that does not know of the rule.
        let now = waiting.expires - 1;
        assert!(store.decide_plan(&waiting, true, by, now).await.unwrap());
        let outcome = house.call(STOP.0, STOP.1).await;
        match (runs, outcome) {
            (true, Ok(done)) => assert_eq!(done.data["status"], "applied"),
            (false, Err(fault)) => assert!(fault.message.contains("four_eyes"), "{fault}"),
            (_, other) => panic!("{by}: {other:?}"),
        }
        assert_eq!(house.writes().len(), usize::from(runs), "{by}");
    }
}

/// Nobody lets happen what they could not do themselves.
#[tokio::test]
async fn a_person_approves_what_is_within_their_bounds() {
    let house = House::new().await;
    for (vmids, may) in [("100-105", false), ("110", true)] {
        let asked = house.call(STOP.0, STOP.1).await.unwrap();
        let store = house.engine.store().await.unwrap();
        let id = asked.data["plan"].as_str().unwrap();
        let waiting = store.plan(id).await.unwrap().unwrap();
        let person = Caller {
            name: "anna".to_owned(),
            bounds: Bounds {
                vmids: vec![Vmids::try_from(vmids.to_owned()).unwrap()],
                ..Bounds::default()
            },
        };
        let decided = house
            .engine
            .decide(id, &waiting.digest, true, &person)
            .await;
        assert_eq!(decided.is_ok(), may, "{vmids}: {decided:?}");
    }
}

/// A question that went out before the rule was there comes back answered by whoever asked.
#[tokio::test]
async fn an_answer_of_the_client_is_no_second_person() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new().await;
    let strict = Policy {
        four_eyes: true,
        ..Policy::default()
    };
    let [lenient, strict] = [Policy::default(), strict].map(|it| house.kept_in(dir.path(), it));
    let later = Person::saying(Asked::Later);
    let Reply::Ask(question) = lenient.call(call(STOP.0, STOP.1), &later).await.unwrap() else {
        panic!("no question");
    };
    let mut answered = call(STOP.0, STOP.1);
    answered.answer = Some(Answered {
        state: question.state,
        said: Asked::Yes {
            by: "person".to_owned(),
            lease: false,
        },
    });
    let reply = done(strict.call(answered, &later).await).unwrap();
    assert_ne!(reply.data["status"], "applied", "{}", reply.text);
    assert!(house.runs(110));
}
