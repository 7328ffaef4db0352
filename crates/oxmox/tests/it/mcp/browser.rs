//! The page on a world, and a browser at it, in raw requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use oxmox::token;
use oxmox::web::{Manner, Page};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tools::caller::Bounds;
use tools::engine::{Call, Reply, Silent};

use super::World;
use super::http::Served;
use crate::raw;

pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Value,
}

impl Answered {
    pub(super) fn cookie(&self) -> Option<&str> {
        let line = self
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))?;
        line.split(';').next()
    }
}

/// A page on a world, and whoever is signed in.
pub(super) struct Browser {
    pub(super) address: SocketAddr,
    pub(super) code: Option<String>,
    pub(super) cookie: String,
    /// What the page keeps beside it.
    pub(super) proof: String,
}

/// What a page sends where nobody is signed in.
const NONE: &str = "none";

/// Serves the page; `open` as where nobody has a token.
pub(super) async fn served(world: &World, open: bool) -> Browser {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let manner = Manner {
        open,
        secure: false,
        look_again: Duration::from_secs(2),
        gate: Arc::default(),
    };
    let page = Page::new(world.engine.clone(), manner, &CancellationToken::new());
    world.engine.serves_page_at(&page.address(address));
    let link = page.link(address);
    let code = link.map(|link| {
        link.expose_secret()
            .split_once("#sign-in=")
            .unwrap()
            .1
            .to_owned()
    });
    tokio::spawn(axum::serve(listener, page.router()).into_future());
    Browser {
        address,
        code,
        cookie: String::new(),
        proof: NONE.to_owned(),
    }
}

impl Browser {
    /// One at a server that serves more than the page.
    pub(super) fn at(served: &Served) -> Self {
        Self {
            address: served.address,
            code: None,
            cookie: String::new(),
            proof: NONE.to_owned(),
        }
    }

    /// With these headers and no others.
    pub(super) async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let target = format!("{method} {path}");
        let request = raw::request(&target, &self.address.to_string(), headers, Some(body));
        let stream = TcpStream::connect(self.address).await.unwrap();
        let answer = raw::exchange(stream, &request).await.unwrap();
        Answered {
            status: answer.status,
            head: answer.head,
            body: serde_json::from_str(&answer.body).unwrap_or(Value::String(answer.body)),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Answered {
        self.raw("GET", path, &self.headers(), "").await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answered {
        self.raw("POST", path, &self.headers(), &body.to_string())
            .await
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("Cookie", &self.cookie), ("X-Oxmox-Page", &self.proof)]
    }

    /// The same page, as this answer to a sign-in leaves it.
    pub(super) fn signed_in(&self, entered: &Answered) -> Self {
        assert_eq!(entered.status, 200, "{}", entered.body);
        Self {
            address: self.address,
            code: None,
            cookie: entered.cookie().unwrap().to_owned(),
            proof: entered.body["proof"].as_str().unwrap().to_owned(),
        }
    }

    /// The same page, with this person signed in.
    pub(super) async fn person(&self, world: &World, name: &str, bounds: Bounds) -> Self {
        let token = token_of(world, name, bounds, true).await;
        let answer = self.post("/api/sign-in", json!({"token": token})).await;
        self.signed_in(&answer)
    }

    pub(super) async fn inbox(&self) -> Vec<Value> {
        let answer = self.get("/api/inbox").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["plans"].as_array().unwrap().clone()
    }

    pub(super) async fn decide(&self, plan: &Value, approve: bool) -> Answered {
        let path = format!("/api/inbox/{}", plan["id"].as_str().unwrap());
        self.post(&path, json!({"approve": approve, "digest": plan["digest"]}))
            .await
    }
}

pub(super) async fn token_of(world: &World, name: &str, bounds: Bounds, person: bool) -> String {
    let (token, stored) = token::issue(name, bounds, person, (0, None)).unwrap();
    let store = world.engine.store().await.unwrap();
    assert!(store.keep_token(&stored).await.unwrap());
    token.expose_secret().to_owned()
}

/// What the engine answers to this caller's wish to delete VM 105.
pub(super) async fn delete(world: &World, caller: &str) -> Value {
    let arguments = tools::context::arguments([("vmid", json!(105))]);
    let call = Call::new("delete_proxmox_vm", arguments, caller);
    match world.engine.call(call, &Silent).await.unwrap() {
        Reply::Done(rendered) => Value::Object(rendered.data),
        other => panic!("{other:?}"),
    }
}
