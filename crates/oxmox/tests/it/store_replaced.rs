//! The store's file is replaced or removed while a server uses it: nothing is changed, and no token counts, until that
//! server is restarted.

use std::path::Path;

use serde_json::{Value, json};
use sim::Sim;
use sim::worlds::{ROOT_PASSWORD, homelab};
use tokio::net::TcpStream;

use crate::cli::Machine;
use crate::raw;
use crate::server::{self, Server};

async fn scene() -> (Sim, Machine) {
    let sim = Sim::start(homelab()).await.unwrap();
    let machine = Machine::new()
        .with("PROXMOX_HOST", &sim.addr().to_string())
        .with("PROXMOX_FINGERPRINT", sim.fingerprint())
        .with("PROXMOX_USER", "root@pam")
        .with("PROXMOX_PASSWORD", ROOT_PASSWORD);
    (sim, machine)
}

async fn serve(machine: &Machine) -> Server {
    Server::start(machine.command(&["serve", "--http", "127.0.0.1:0"])).await
}

async fn get(server: &Server, path: &str) -> raw::Response {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address
    );
    raw::exchange(stream, &request).await.unwrap()
}

async fn is_ready(server: &Server) -> bool {
    let told = get(server, "/readyz").await;
    let data: Value = serde_json::from_str(&told.body).unwrap();
    assert_eq!(told.status == 200, data["ready"] == true, "{data}");
    told.status == 200
}

/// A message of the caller with this token.
async fn status_for(server: &Server, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = server::post(server.address, &list, &[("authorization", &bearer)]).await;
    answer.unwrap().status
}

fn writes(sim: &Sim) -> usize {
    let requests = sim.requests();
    let is_write = |request: &&sim::Logged| {
        request.method != "GET" && !request.path.ends_with("/access/ticket")
    };
    requests.iter().filter(is_write).count()
}

fn replace(file: &Path) {
    let copy = file.with_extension("copy");
    std::fs::copy(file, &copy).unwrap();
    std::fs::rename(&copy, file).unwrap();
}

fn remove(file: &Path) {
    std::fs::remove_file(file).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn server_whose_store_was_replaced_or_removed_changes_nothing() {
    for swap in [replace, remove] {
        let (sim, machine) = scene().await;
        let server = serve(&machine).await;
        let start = json!({"vmid": 105});
        let started = server::call(server.address, "start_proxmox_vm", &start).await;
        assert_eq!(started.unwrap()["isError"], json!(false));
        assert!(is_ready(&server).await);
        let before = writes(&sim);
        swap(&machine.state_dir().join("oxmox.db"));
        assert!(!is_ready(&server).await);
        let stop = json!({"vmid": 105, "description": "changed"});
        // Nobody has a token: whether that is still so cannot be known.
        let refused = server::call(server.address, "update_proxmox_vm", &stop).await;
        assert_eq!(refused, None);
        assert_eq!(writes(&sim), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn token_of_a_replaced_store_is_refused() {
    for swap in [replace, remove] {
        let (_sim, machine) = scene().await;
        let added = machine.run(&["token", "add", "ci"]).exits(0);
        let token = added.stdout.trim();
        let server = serve(&machine).await;
        assert_ne!(status_for(&server, token).await, 503);
        swap(&machine.state_dir().join("oxmox.db"));
        assert_eq!(status_for(&server, token).await, 503);
        assert!(!is_ready(&server).await);
        // A server that is started on the copy knows its tokens; one without a file has none.
        drop(server);
        let server = serve(&machine).await;
        assert!(is_ready(&server).await);
    }
}
