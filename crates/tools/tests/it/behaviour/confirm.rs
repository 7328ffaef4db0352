//! A person's yes, by every path, and every way to get around it.

use tools::engine::{Answered, Asked, Reply};

use crate::house::{House, Nobody, Person, call, done};

const DELETE: (&str, &str) = ("delete_proxmox_vm", r#"{"vmid": 105}"#);

#[tokio::test]
async fn a_person_who_can_be_asked_is_asked_once() {
    let house = House::new().await;
    let person = Person::saying_yes();
    let answer = house.ask(DELETE.0, DELETE.1, &person).await.unwrap();
    assert_eq!(answer.data["status"], "applied");
    assert_eq!(person.times_asked(), 1);
    let question = &person.asked.lock().unwrap()[0];
    assert!(
        question
            .outcome
            .affects
            .iter()
            .any(|line| line.contains("disk local-lvm:vm-105-disk-0, 16.0 GiB"))
    );
}

#[tokio::test]
async fn a_no_is_final() {
    let house = House::new().await;
    let answer = house
        .ask(DELETE.0, DELETE.1, &Person::saying_no())
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "not_applied");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn an_approval_out_of_band_lets_the_same_call_through_once() {
    let house = House::new().await;
    let shown = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert!(shown.text.contains("oxmox approve"), "{}", shown.text);
    let again = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert_eq!(
        again.data["plan"], shown.data["plan"],
        "one question at a time"
    );
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    let other = house.call(DELETE.0, r#"{"vmid": 111}"#).await.unwrap();
    assert_eq!(
        other.data["status"], "needs_confirmation",
        "an approval is for one plan"
    );
    assert_eq!(house.writes(), [""; 0]);
    let done = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert_eq!(done.data["status"], "applied");
}

/// A call that waits goes through as soon as a person has decided at another terminal.
#[tokio::test]
async fn a_waiting_call_goes_on_when_a_person_approves() {
    let house = House::new().await;
    let waiting = house.call(DELETE.0, r#"{"vmid": 105, "wait": 30}"#);
    let person = async {
        loop {
            let plans = house
                .engine
                .store()
                .await
                .unwrap()
                .waiting_plans(0)
                .await
                .unwrap();
            if let Some(plan) = plans.first() {
                return house.approve(&plan.id).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (answer, ()) = tokio::join!(waiting, person);
    assert_eq!(answer.unwrap().data["status"], "applied");
}

/// Whoever waits is told once what for, and not again at every look.
#[tokio::test]
async fn a_waiting_call_says_what_it_waits_for() {
    let house = House::new().await;
    let talk = Person::saying(Asked::Nobody);
    let args = r#"{"vmid": 105, "wait": 1}"#;
    let answer = house.ask(DELETE.0, args, &talk).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    let told = talk.progress.lock().unwrap();
    let waits = told
        .iter()
        .filter(|it| it.message.contains("waiting for a person: oxmox approve"));
    assert_eq!(waits.count(), 1, "{told:?}");
}

#[tokio::test]
async fn an_approval_of_another_caller_does_not_count() {
    let house = House::new().await;
    let shown = house.call(DELETE.0, DELETE.1).await.unwrap();
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    let mut stranger = call(DELETE.0, DELETE.1);
    stranger.caller = "stranger".into();
    let Reply::Done(answer) = house.engine.call(stranger, &Nobody).await.unwrap() else {
        panic!("a question")
    };
    assert_eq!(answer.data["status"], "needs_confirmation");
}

/// The path of 2026 clients: the question goes back, the same call comes again with the answer.
#[tokio::test]
async fn a_question_answered_in_a_second_call() {
    let house = House::new().await;
    let later = Person::saying(Asked::Later);
    let ask = || async {
        match house
            .engine
            .call(call(DELETE.0, DELETE.1), &later)
            .await
            .unwrap()
        {
            Reply::Ask(question) => *question,
            other => panic!("no question: {other:?}"),
        }
    };
    let question = ask().await;
    let answer = |state: &str, said: Asked| {
        let mut call = call(DELETE.0, DELETE.1);
        call.answer = Some(Answered {
            state: state.to_owned(),
            said,
        });
        call
    };
    let yes = Asked::Yes {
        by: "person".to_owned(),
        lease: false,
    };

    let tampered = house
        .engine
        .call(
            answer(&question.state.replace('.', ".0"), yes.clone()),
            &later,
        )
        .await
        .unwrap_err();
    assert!(
        tampered.message.contains("is not one that oxmox gave"),
        "{tampered}"
    );
    let mut elsewhere = answer(&question.state, yes.clone());
    elsewhere.arguments.insert("vmid".to_owned(), 111.into());
    let elsewhere = house.engine.call(elsewhere, &later).await.unwrap_err();
    assert!(
        elsewhere.message.contains("was given for another call"),
        "{elsewhere}"
    );
    assert_eq!(house.writes(), [""; 0]);

    let Reply::Done(done) = house
        .engine
        .call(answer(&question.state, yes.clone()), &later)
        .await
        .unwrap()
    else {
        panic!("asked again");
    };
    assert_eq!(done.data["status"], "applied");
    let replayed = house
        .engine
        .call(answer(&question.state, yes), &later)
        .await;
    assert!(replayed.is_err(), "{replayed:?}");
}

/// A caller that goes away before anything was sent gets nothing sent.
#[tokio::test]
async fn a_caller_who_has_gone_changes_nothing() {
    struct Gone;
    impl tools::engine::Talk for Gone {
        fn progress(&self, _: tools::engine::Progress) {}
        fn ask<'a>(
            &'a self,
            _: &'a tools::engine::Question,
        ) -> futures_util::future::BoxFuture<'a, Asked> {
            Box::pin(async { Asked::Nobody })
        }
        fn gone(&self) -> bool {
            true
        }
    }
    let house = House::new().await;
    let fault = house
        .ask("start_proxmox_vm", r#"{"vmid": 105}"#, &Gone)
        .await
        .unwrap_err();
    assert!(fault.message.contains("has gone"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    assert_eq!(house.audit().await, (1, vec!["refused".to_owned()]));
    // Nor is anybody waited for on their behalf.
    let waits = r#"{"vmid": 105, "wait": 600}"#;
    let asked = house.ask(DELETE.0, waits, &Gone).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
}

/// A person approved it elsewhere, and then says no in the form: the no counts, and the approval is gone.
#[tokio::test]
async fn a_no_takes_back_an_approval() {
    let house = House::new().await;
    let later = Person::saying(Asked::Later);
    let Reply::Ask(question) = house
        .engine
        .call(call(DELETE.0, DELETE.1), &later)
        .await
        .unwrap()
    else {
        panic!("no question");
    };
    house.approve(&question.outcome.plan).await;
    let mut decline = call(DELETE.0, DELETE.1);
    let no = Asked::No {
        by: "person".to_owned(),
    };
    decline.answer = Some(Answered {
        state: question.state.clone(),
        said: no,
    });
    let Reply::Done(answer) = house.engine.call(decline, &later).await.unwrap() else {
        panic!("asked again")
    };
    assert_eq!(answer.data["status"], "not_applied");
    let again = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation");
    assert_eq!(house.writes(), [""; 0]);
}

/// A person's yes to what cannot work is a wasted one.
#[tokio::test]
async fn nobody_is_asked_about_what_the_token_may_not_do() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/vms/105", &["VM.Audit"]);
        world.grant("narrow@pve", "/vms/100", &["VM.Audit"]);
    });
    let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&token, tools::policy::Policy::default());
    let person = Person::saying_yes();
    let fault = engine.call(call(DELETE.0, DELETE.1), &person).await;
    let fault = fault.unwrap_err();
    assert!(fault.message.contains("the token lacks"), "{fault}");
    assert!(fault.message.contains("VM.Allocate on /vms/105"), "{fault}");
    assert!(fault.hint.unwrap().contains("oxmox doctor"));
    assert_eq!(person.times_asked(), 0);
    // Of one request PVE itself is the judge; they know before they say yes.
    let stop = call("stop_proxmox_vm", r#"{"vmid": 100}"#);
    engine.call(stop, &person).await.unwrap_err();
    let question = &person.asked.lock().unwrap()[0];
    let warnings = question.outcome.warnings.join("\n");
    assert!(
        warnings.contains("the token lacks VM.PowerMgmt on /vms/100"),
        "{warnings}"
    );
}

/// What was lacking when it was asked for first may be there by now.
#[tokio::test]
async fn a_question_does_not_say_that_something_is_lacking_when_it_is_there() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/vms/100", &["VM.Audit"]);
    });
    let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&token, tools::policy::Policy::default());
    let stop = || engine.call(call("stop_proxmox_vm", r#"{"vmid": 100}"#), &Nobody);
    let first = done(stop().await).unwrap();
    assert!(first.text.contains("the token lacks"), "{}", first.text);
    // As long as nothing has changed, it is the same question.
    let same = done(stop().await).unwrap();
    assert_eq!(same.data["plan"], first.data["plan"]);
    house.sim.world(|world| {
        world.grant("narrow@pve", "/vms/100", &["VM.Audit", "VM.PowerMgmt"]);
    });
    let then = done(stop().await).unwrap();
    assert!(!then.text.contains("the token lacks"), "{}", then.text);
}
