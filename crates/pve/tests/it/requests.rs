//! What goes over the wire.

use pve::{Request, Value, Vmid, connect};

use super::server::{Seen, Server, answer, data, token_settings};

async fn sent(request: Request) -> Seen {
    let server = Server::start(|_| data("null")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    writer.send(&request).await.unwrap();
    server.seen().remove(0)
}

#[tokio::test]
async fn a_post_is_a_form() {
    let seen = sent(
        Request::post("/nodes/pve1/qemu/105/config")
            .with("description", "a+b & = ä\n")
            .with("onboot", true)
            .with("memory", 512)
            .with("command", "ls")
            .with("command", "-l"),
    )
    .await;
    assert_eq!(seen.method, "POST");
    assert_eq!(seen.target, "/api2/json/nodes/pve1/qemu/105/config");
    assert_eq!(
        seen.body,
        "description=a%2Bb%20%26%20%3D%20%C3%A4%0A&onboot=1&memory=512&command=ls&command=-l"
    );
    assert_eq!(
        seen.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
}

#[tokio::test]
async fn a_delete_has_its_parameters_in_the_query_and_no_body() {
    let seen = sent(
        Request::delete("/nodes/pve1/qemu/105")
            .with("purge", true)
            .with("destroy-unreferenced-disks", false),
    )
    .await;
    assert_eq!(
        seen.target,
        "/api2/json/nodes/pve1/qemu/105?purge=1&destroy-unreferenced-disks=0"
    );
    assert_eq!(seen.body, "");
    assert_eq!(seen.header("content-type"), None);
}

#[tokio::test]
async fn a_post_without_parameters_has_an_empty_body() {
    let seen = sent(Request::post("/nodes/pve1/qemu/105/status/start")).await;
    assert_eq!(seen.body, "");
    assert_eq!(seen.header("content-type"), None);
    assert_eq!(seen.header("content-length"), Some("0"));
}

#[tokio::test]
async fn a_get_has_its_parameters_in_the_query() {
    let server = Server::start(|_| data("[]")).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let request = Request::get("/cluster/resources").with("type", "vm");
    let list: Vec<u8> = reader.get(request).await.unwrap();
    assert!(list.is_empty());
    let seen = server.seen().remove(0);
    assert_eq!(seen.target, "/api2/json/cluster/resources?type=vm");
    assert_eq!(seen.header("host"), Some(server.addr.to_string().as_str()));
    assert!(seen.header("user-agent").unwrap().starts_with("oxmox/"));
}

#[tokio::test]
async fn neither_half_does_the_other_ones_work() {
    let server = Server::start(|_| data("null")).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    for method in [Request::post, Request::put, Request::delete] {
        let error = reader.get::<()>(method("/x")).await.unwrap_err();
        assert!(matches!(error, pve::Error::Build { .. }), "{error}");
    }
    let error = writer.send(&Request::get("/x")).await.unwrap_err();
    assert!(matches!(error, pve::Error::Build { .. }), "{error}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn holes_and_bad_paths_are_never_sent() {
    let server = Server::start(|_| data("null")).await;
    let (_, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    let vmid = Vmid::new(105).unwrap();
    for request in [
        Request::put("/x")
            .with("vmid", vmid)
            .with("cipassword", Value::Hole("p".to_owned())),
        Request::put("/nodes/../x"),
        Request::put("/x?y=1"),
        Request::put("/x y"),
        Request::put("/x\r\nInjected: 1"),
    ] {
        let error = writer.send(&request).await.unwrap_err();
        assert!(
            matches!(error, pve::Error::Build { .. }) && error.is_never_sent(),
            "{error}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn reads_share_a_connection_and_a_write_has_its_own() {
    let server = Server::start(|_| data("null")).await;
    let (reader, writer) = connect(token_settings(vec![server.pinned()])).unwrap();
    for _ in 0..5 {
        reader.get::<()>("/version").await.unwrap();
    }
    assert_eq!((server.seen().len(), server.connections()), (5, 1));
    writer.send(&Request::put("/x")).await.unwrap();
    reader.get::<()>("/version").await.unwrap();
    let connections: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(
        connections,
        [0, 0, 0, 0, 0, 1, 1],
        "after a write its connection serves reads"
    );
}

#[tokio::test]
async fn connect_touches_neither_network_nor_files() {
    let server = Server::start(|_| data("null")).await;
    let mut settings = token_settings(vec![server.host()]);
    settings.trust = pve::Trust::CaFile("/nowhere/ca.pem".into());
    let (reader, _) = connect(settings).unwrap();
    assert_eq!(server.connections(), 0);
    let error = reader.get::<()>("/version").await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn settings_that_cannot_work_are_refused_at_once() {
    let error = connect(token_settings(Vec::new())).unwrap_err();
    assert!(error.to_string().contains("no host"), "{error}");
    let mut settings = token_settings(vec!["pve1".parse().unwrap()]);
    settings.credentials = pve::Credentials::Password {
        user: "root".to_owned(),
        password: "x".into(),
    };
    let error = connect(settings).unwrap_err();
    assert!(error.to_string().contains("needs its realm"), "{error}");
}

#[tokio::test]
async fn a_document_is_fetched_without_credentials() {
    let server = Server::start(|_| answer(200, "OK", "const apiSchema = [];")).await;
    let (reader, _) = connect(token_settings(vec![server.pinned()])).unwrap();
    let text = reader
        .document("/pve-docs/api-viewer/apidoc.js")
        .await
        .unwrap();
    assert_eq!(text, b"const apiSchema = [];");
    let seen = server.seen().remove(0);
    assert_eq!(seen.target, "/pve-docs/api-viewer/apidoc.js");
    assert_eq!(seen.header("authorization"), None);
    assert!(reader.document("/../x").await.unwrap_err().is_never_sent());
}
