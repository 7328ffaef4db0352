//! Pools: who is put into one is a guest like any other, with rules of its own.

use tools::policy::{Policy, Rule, Verdict};

use crate::house::{Furnish, House};

#[tokio::test]
async fn rules_about_a_guest_hold_for_its_pool() {
    let deny = Rule {
        vmid: Some("111".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = House::furnished(Furnish {
        policy: Policy {
            rules: vec![deny],
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await;
    for vms in ["111", "203,111", "203;111"] {
        let args = format!(r#"{{"poolid": "lab", "vms": "{vms}"}}"#);
        let fault = house.agreed("update_pool", &args).await.unwrap_err();
        assert!(fault.message.contains("denies this"), "{vms}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn members_come_and_go_and_are_read_back() {
    let house = House::new().await;
    let args = r#"{"poolid": "lab", "vms": "111, 203", "storage": "nas"}"#;
    let made = house.agreed("update_pool", args).await.unwrap();
    assert!(made.text.contains("has its members so"), "{}", made.text);
    let members = house.sim.world(|world| world.pools["lab"].guests.clone());
    assert!(members.contains(&111) && members.contains(&203));
    let undo = made.data["undo"]["arguments"].to_string();
    let back = house.agreed("update_pool", &undo).await.unwrap();
    assert_eq!(back.data["status"], "applied", "{}", back.text);
    let members = house.sim.world(|world| world.pools["lab"].guests.clone());
    assert!(!members.contains(&111) && !members.contains(&203));
}

#[tokio::test]
async fn what_a_member_takes_is_told_before() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/pool/lab", &["Pool.Allocate", "Pool.Audit"]);
        world.grant("narrow@pve", "/vms/111", &["VM.Audit"]);
    });
    let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&token, Policy::default());
    let mut call = crate::house::call(
        "update_pool",
        r#"{"poolid": "lab", "vms": "111", "storage": "nas"}"#,
    );
    call.preview = true;
    let shown = crate::house::done(engine.call(call, &crate::house::Nobody).await).unwrap();
    for missing in [
        "VM.Allocate on /vms/111",
        "Datastore.Allocate on /storage/nas",
    ] {
        assert!(shown.text.contains(missing), "{}", shown.text);
    }
}
