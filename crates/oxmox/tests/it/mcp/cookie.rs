//! What the page's cookie is good for: browsers send it to other servers of the same host, too.

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tools::caller::Bounds;

use super::browser::{Browser, delete, served};
use super::http::serve;
use super::world;
use crate::raw;

/// Browsers send a cookie to every port of its host, where another server can read it.
#[tokio::test]
async fn the_cookie_alone_decides_nothing() {
    let world = world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let other = page.person(&world, "other", Bounds::default()).await;
    delete(&world, "agent").await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    let decide = format!("/api/inbox/{}", plan["id"].as_str().unwrap());
    let show = format!("/api/plan/{}", plan["id"].as_str().unwrap());
    let decision = json!({"approve": true, "digest": plan["digest"]}).to_string();
    let cookie = ("Cookie", owner.cookie.as_str());
    for proof in ["1", "", owner.cookie.as_str(), other.proof.as_str()] {
        for (method, path, body) in [
            ("POST", decide.as_str(), decision.as_str()),
            (
                "POST",
                "/api/look/get_proxmox_vm_status",
                r#"{"vmid": 100}"#,
            ),
            ("POST", "/api/audit", "{}"),
            ("POST", "/api/sign-out", "{}"),
            ("GET", "/api/audit/chain", ""),
            ("GET", "/api/inbox", ""),
            ("GET", "/api/tasks/homelab", ""),
            ("GET", &show, ""),
            ("GET", "/api/me", ""),
        ] {
            let headers = [cookie, ("X-Oxmox-Page", proof)];
            let answer = owner.raw(method, path, &headers, body).await;
            assert_eq!(answer.status, 401, "{path} with {proof}: {}", answer.body);
        }
    }
    // Whoever has it is not told the rest.
    let me = owner.get("/api/me").await;
    assert!(!format!("{}{}", me.head, me.body).contains(&owner.proof));
    assert_eq!(owner.decide(&plan, true).await.status, 200);
}

/// Whoever sends slowly was recognized before all of it had come.
#[tokio::test]
async fn who_is_shut_out_meanwhile_decides_nothing() {
    let world = world().await;
    let served = serve(&world).await;
    let page = Browser::at(&served);
    let owner = page.person(&world, "owner", Bounds::default()).await;
    delete(&world, "agent").await;
    let [plan] = owner.inbox().await.try_into().unwrap();
    let target = format!("POST /api/inbox/{}", plan["id"].as_str().unwrap());
    let decision = json!({"approve": true, "digest": plan["digest"]}).to_string();
    let headers = [
        ("Cookie", owner.cookie.as_str()),
        ("X-Oxmox-Page", &owner.proof),
        ("Expect", "100-continue"),
    ];
    let host = served.address.to_string();
    let request = raw::request(&target, &host, &headers, Some(&decision));
    let (head, body) = request.split_at(request.len() - decision.len());
    let mut stream = BufReader::new(TcpStream::connect(served.address).await.unwrap());
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut line = String::new();
    // The server asks for the rest.
    stream.read_line(&mut line).await.unwrap();
    assert!(line.contains(" 100 "), "{line}");
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token("owner").await.unwrap());
    stream.write_all(body.as_bytes()).await.unwrap();
    while line.trim().is_empty() || line.contains(" 100 ") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).await.unwrap(), 0, "it ended");
    }
    assert!(line.contains(" 401 "), "{line}");
    assert_eq!(
        delete(&world, "agent").await["status"],
        "needs_confirmation"
    );
}

#[tokio::test]
async fn two_servers_on_one_host_do_not_sign_each_others_people_out() {
    let cookie = async || {
        let world = world().await;
        let page = served(&world, false).await;
        page.person(&world, "owner", Bounds::default()).await.cookie
    };
    let (one, other) = (cookie().await, cookie().await);
    let name = |cookie: &str| cookie.split_once('=').unwrap().0.to_owned();
    assert_ne!(name(&one), name(&other));
}
