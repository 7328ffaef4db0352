//! Texts typed as a secret, and who sees them before they are approved: the person at the client that asks, or at the page.

use serde_json::{Value, json};
use tools::caller::{Bounds, Scope};
use tools::engine::{Call, Reply, Silent};

use super::browser::{Answered, Browser, served};
use super::wire::{BOTH, Wire, says, text, yes};
use super::{World, world};

const TYPE: &str = "type_vm_text";
const COMMAND: &str = "rm -rf /srv";

fn typed() -> Value {
    json!({"vmid": 100, "secret": COMMAND})
}

/// The answer to an agent that types the command as a secret.
async fn types(world: &World) -> Value {
    let arguments = typed().as_object().unwrap().clone();
    let call = Call::new(TYPE, arguments, "agent");
    match world.engine.call(call, &Silent).await.unwrap() {
        Reply::Done(rendered) => Value::Object(rendered.data),
        other => panic!("{other:?}"),
    }
}

async fn reveal(browser: &Browser, plan: &Value) -> Answered {
    let path = format!("/api/inbox/{}/reveal", plan["id"].as_str().unwrap());
    browser.post(&path, json!({"digest": plan["digest"]})).await
}

fn pressed(world: &World) -> usize {
    world.sim.world(|world| world.guests[&100].keys.len())
}

#[tokio::test]
async fn client_shows_the_secret_to_the_person_it_asks() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, says("decline", &json!(null))).await;
        let result = wire.call(TYPE, typed()).await;
        assert!(!result.to_string().contains(COMMAND), "{result}");
        assert_eq!(pressed(&world), 0);
        let [form] = wire.forms.as_slice() else {
            panic!("asked {} times", wire.forms.len())
        };
        let message = form["message"].as_str().unwrap();
        assert!(message.contains("a secret (11 characters)"), "{message}");
        let shown = format!("Secret text: \"{COMMAND}\"");
        assert!(message.contains(&shown), "{message}");
        let ten_minutes = &form["requestedSchema"]["properties"]["ten_minutes"];
        assert_eq!(*ten_minutes, Value::Null);

        let mut wire = Wire::new(&world, era, yes()).await;
        let result = wire.call(TYPE, typed()).await;
        assert!(text(&result).starts_with("applied: "), "{}", text(&result));
        assert!(!result.to_string().contains(COMMAND), "{result}");
        assert!(pressed(&world) > 0);
        let store = world.engine.store().await.unwrap();
        let trail = format!("{:?}", store.audit_trail(100).await.unwrap());
        assert!(!trail.contains(COMMAND), "{trail}");
    }
}

#[tokio::test]
async fn page_reveals_the_secret_before_it_is_approved() {
    let world = world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let waits = types(&world).await;
    assert_eq!(waits["status"], "needs_confirmation");
    let next = waits["next"].as_str().unwrap();
    assert!(next.contains("#/inbox/"), "{next}");
    assert!(!next.contains("oxmox approve"), "{next}");

    let [plan] = owner.inbox().await.try_into().unwrap();
    assert_eq!(plan["types_secret"], true);
    assert_eq!(plan["can_lease"], false);
    assert!(plan.to_string().contains("secret, 11 characters"), "{plan}");
    assert!(!plan.to_string().contains(COMMAND), "{plan}");

    let revealed = reveal(&owner, &plan).await;
    assert_eq!(revealed.status, 200, "{}", revealed.body);
    assert_eq!(revealed.body["texts"], json!([COMMAND]));
    assert!(revealed.head.contains("cache-control: no-store"));
    assert_eq!(owner.decide(&plan, true).await.status, 200);
    // Decided, and used: it is shown no more.
    let late = reveal(&owner, &plan).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert_eq!(types(&world).await["status"], "applied");
    assert!(pressed(&world) > 0);
    assert_eq!(reveal(&owner, &plan).await.status, 409);
}

#[tokio::test]
async fn reveal_takes_the_proof_of_a_person_who_may_approve() {
    let world = world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    types(&world).await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    let path = format!("/api/inbox/{}/reveal", plan["id"].as_str().unwrap());
    let body = json!({"digest": plan["digest"]}).to_string();
    let (cookie, proof) = (owner.cookie.as_str(), owner.proof.as_str());
    let other = page.person(&world, "other", Bounds::default()).await;
    for (headers, status) in [
        (vec![("Cookie", cookie)], 403),
        (vec![("Cookie", cookie), ("X-Oxmox-Page", "none")], 401),
        (
            vec![("Cookie", cookie), ("X-Oxmox-Page", other.proof.as_str())],
            401,
        ),
        (vec![("X-Oxmox-Page", proof)], 401),
        (
            vec![
                ("Cookie", cookie),
                ("X-Oxmox-Page", proof),
                ("Sec-Fetch-Site", "cross-site"),
            ],
            403,
        ),
    ] {
        let answer = owner.raw("POST", &path, &headers, &body).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
        assert!(!answer.body.to_string().contains(COMMAND));
    }
    let by_get = owner.get(&path).await;
    assert_eq!(by_get.status, 405, "{}", by_get.body);

    let bound = |scope, clusters: &[&str]| Bounds {
        scope,
        clusters: clusters.iter().map(|it| (*it).to_owned()).collect(),
        ..Bounds::default()
    };
    for (name, bounds, status) in [
        ("reader", bound(Scope::Read, &[]), 403),
        ("operator", bound(Scope::Operate, &[]), 403),
        ("stranger", bound(Scope::Full, &["elsewhere"]), 404),
    ] {
        let person = page.person(&world, name, bounds).await;
        let answer = reveal(&person, &plan).await;
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
        assert!(!answer.body.to_string().contains(COMMAND));
    }
    let mut another = plan.clone();
    another["digest"] = json!("0");
    assert_eq!(reveal(&owner, &another).await.status, 409);
    assert_eq!(owner.decide(&plan, false).await.status, 200);
    assert_eq!(reveal(&owner, &plan).await.status, 409);
}

#[tokio::test]
async fn page_can_approve_ten_minutes_of_keys() {
    let world = world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let press = async |key: &str| {
        let arguments = tools::context::arguments([("vmid", json!(110)), ("key", json!(key))]);
        let call = Call::new("send_vm_key", arguments, "agent");
        match world.engine.call(call, &Silent).await.unwrap() {
            Reply::Done(rendered) => rendered.data["status"].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(press("ret").await, "needs_confirmation");
    let [plan] = owner.inbox().await.try_into().unwrap();
    assert_eq!(plan["can_lease"], true);
    let path = format!("/api/inbox/{}", plan["id"].as_str().unwrap());
    let body = json!({"approve": true, "digest": plan["digest"], "lease": true});
    let answer = owner.post(&path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["leased"], true);
    for key in ["ret", "tab"] {
        assert_eq!(press(key).await, "applied");
    }
}
