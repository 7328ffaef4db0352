//! Secrets by any path of the API: sent, and never shown, kept or written back.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sim::Fault;
use tools::engine::Engine;
use tools::tool::Rendered;

use super::knowing;
use crate::house::{House, Nobody, Person, call, done};

const TOOL: &str = "write_proxmox_api";
const CANARY: &str = "canary-91c";

fn text(name: &str) -> Value {
    json!({ name: {"type": "string", "optional": 1} })
}

async fn preview(engine: &Arc<Engine>, args: &Value) -> Rendered {
    let mut call = call(TOOL, &args.to_string());
    call.preview = true;
    done(engine.call(call, &Nobody).await).unwrap()
}

async fn send(engine: &Arc<Engine>, args: &Value) -> Rendered {
    let call = call(TOOL, &args.to_string());
    done(engine.call(call, &Person::saying_yes()).await).unwrap()
}

/// Everything that is kept, except in the place for secrets.
async fn kept(engine: &Arc<Engine>, dir: &Path) -> String {
    let trail = engine
        .store()
        .await
        .unwrap()
        .audit_trail(100)
        .await
        .unwrap();
    let files = std::fs::read_dir(dir).unwrap().flatten();
    let files = files.filter(|file| file.path().is_file());
    let bytes = files.flat_map(|file| std::fs::read(file.path()).unwrap());
    let bytes: Vec<u8> = bytes.collect();
    format!("{trail:?}{}", String::from_utf8_lossy(&bytes))
}

fn all_of(answer: &Rendered) -> String {
    format!("{}{:?}", answer.text, answer.data)
}

#[tokio::test]
async fn the_new_secret_of_a_token_goes_into_a_file() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let path = "/access/users/bob@pve/token/power";
    let flag = json!({"regenerate": {"type": "boolean", "optional": 1}});
    let method = ("PUT", "/access/users/{userid}/token/{tokenid}", flag);
    house.sim.fault(Fault::answer(
        "PUT",
        path,
        json!({"value": CANARY, "full-tokenid": "bob@pve!power"}),
    ));
    let engine = knowing(&house, dir.path(), &[method]).await;
    let args = json!({"method": "PUT", "path": path, "params": {"regenerate": 1}});
    let answer = send(&engine, &args).await;
    assert!(answer.text.contains("its secret is in"), "{}", answer.text);
    assert!(!all_of(&answer).contains(CANARY), "{}", answer.text);
    assert!(!kept(&engine, dir.path()).await.contains(CANARY));
    let mut files = std::fs::read_dir(dir.path().join("secrets")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(std::fs::read_to_string(file).unwrap().contains(CANARY));
}

#[tokio::test]
async fn what_is_unset_is_not_shown_where_it_is_a_secret() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let mut methods = Vec::new();
    let all = [
        (
            "/access/domains/{realm}",
            "/access/domains/sso",
            "client-key",
        ),
        (
            "/cluster/acme/plugins/{id}",
            "/cluster/acme/plugins/cf",
            "data",
        ),
        ("/cluster/sdn/dns/{dns}", "/cluster/sdn/dns/pdns", "key"),
    ];
    for (template, path, field) in all {
        let old = json!({field: CANARY, "comment": "seen", "type": "x"});
        house.sim.fault(Fault::answer("GET", path, old));
        methods.push(("PUT", template, text("delete")));
        methods.push(("GET", template, json!({})));
    }
    let engine = knowing(&house, dir.path(), &methods).await;
    for (_, path, field) in all {
        let unset =
            |names: String| json!({"method": "PUT", "path": path, "params": {"delete": names}});
        let shown = preview(&engine, &unset(field.to_owned())).await;
        assert!(!all_of(&shown).contains(CANARY), "{}", shown.text);
        assert!(shown.text.contains("is a secret"), "{}", shown.text);
        let shown = preview(&engine, &unset("comment".to_owned())).await;
        assert!(shown.text.contains("seen -> unset"), "{}", shown.text);
    }
}

#[tokio::test]
async fn secrets_by_unusual_names_are_kept_nowhere() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let hooks = "/cluster/notifications/endpoints/webhook";
    let list = json!({"type": "array", "items": {"type": "string"}, "optional": 1});
    let engine = knowing(
        &house,
        dir.path(),
        &[
            ("POST", "/access/domains", text("client-key")),
            ("POST", hooks, json!({"secret": list, "header": list})),
            ("PUT", "/cluster/metrics/server/{id}", text("otel-headers")),
        ],
    )
    .await;
    let secret = |name: &str| format!("name={name},value={CANARY}-{name}");
    for (method, path, params) in [
        ("POST", "/access/domains", json!({"client-key": CANARY})),
        (
            "POST",
            hooks,
            json!({"secret": [secret("a"), secret("b")], "header": [secret("c")]}),
        ),
        (
            "PUT",
            "/cluster/metrics/server/otel",
            json!({"otel-headers": CANARY}),
        ),
        (
            "PUT",
            "/cluster/options",
            json!({"http_proxy": format!("http://joe:{CANARY}@proxy:3128")}),
        ),
        (
            "PUT",
            "/cluster/options",
            json!({"http_proxy": format!("http://joe:x/{CANARY}@proxy:3128")}),
        ),
        (
            "PUT",
            "/cluster/options",
            json!({"http_proxy": format!("http://{CANARY}@proxy:3128")}),
        ),
    ] {
        house.sim.fault(Fault::answer(method, path, Value::Null));
        let args = json!({"method": method, "path": path, "params": params});
        let debug = format!("{:?}", call(TOOL, &args.to_string()));
        let shown = preview(&engine, &args).await;
        let done = send(&engine, &args).await;
        for text in [
            debug,
            all_of(&shown),
            all_of(&done),
            kept(&engine, dir.path()).await,
        ] {
            assert!(!text.contains(CANARY), "{path}: {text}");
        }
    }
    let sent = house.sim.requests();
    let hook = sent
        .iter()
        .find(|it| it.method == "POST" && it.path == hooks);
    let params = format!("{:?}", hook.unwrap().params);
    for secret in [secret("a"), secret("b"), secret("c")] {
        assert!(params.contains(&secret), "{params}");
    }
}

#[tokio::test]
async fn a_proxy_is_shown_without_its_password() {
    let house = House::new().await;
    let proxy = format!("http://joe:/{CANARY}@proxy:3128");
    house.sim.fault(Fault::answer(
        "GET",
        "/cluster/options",
        json!({"http_proxy": proxy}),
    ));
    let args =
        json!({"method": "PUT", "path": "/cluster/options", "params": {"delete": "http_proxy"}});
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    let read = house
        .call("read_proxmox_api", r#"{"path": "/cluster/options"}"#)
        .await
        .unwrap();
    for answer in [shown, read] {
        assert!(answer.text.contains("http://joe:"), "{}", answer.text);
        assert!(!all_of(&answer).contains(CANARY), "{}", answer.text);
    }
}

#[tokio::test]
async fn who_agrees_to_a_key_sees_which() {
    let house = House::new().await;
    let args = json!({"method": "PUT", "path": "/nodes/pve1/qemu/100/sendkey", "params": {"key": "ctrl-alt-delete"}});
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    assert!(shown.text.contains("key=ctrl-alt-delete"), "{}", shown.text);
}

#[tokio::test]
async fn what_is_refused_is_not_repeated() {
    let (house, dir) = (House::new().await, tempfile::tempdir().unwrap());
    let path = "/access/domains";
    let engine = knowing(&house, dir.path(), &[("POST", path, text("client-key"))]).await;
    let words = format!("invalid key '{CANARY}'");
    house.sim.fault(Fault::refuse(400, &words).on("POST", path));
    let args = json!({"method": "POST", "path": path, "params": {"client-key": CANARY}});
    let call = call(TOOL, &args.to_string());
    let fault = done(engine.call(call, &Person::saying_yes()).await).unwrap_err();
    assert!(
        fault.to_string().contains("invalid key '<redacted>'"),
        "{fault}"
    );
    assert!(!format!("{fault:?}{}", kept(&engine, dir.path()).await).contains(CANARY));
}
