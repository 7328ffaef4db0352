//! Callers whom an OAuth server vouches for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oxmox::http::{Jwks, Live, OAuth, PublicUrl, Settings};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tools::caller::{Bounds, Scope};

use super::http::{Served, serve_as};
use super::tokens::token;
use super::{World, world};

pub(super) const ISSUER: &str = "https://id.example/realms/team";
pub(super) const PUBLIC: &str = "https://ox.example";
const RESOURCE: &str = "https://ox.example/mcp";

/// An OAuth server: a key, and where it tells the public half.
pub(super) struct Issuer {
    id: &'static str,
    key: EcdsaKeyPair,
}

impl Issuer {
    pub(super) fn new(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let made = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(how, made.as_ref(), &random).unwrap();
        Self { id, key }
    }

    pub(super) fn jwks(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({"keys": [
            {"kty": "oct", "kid": self.id, "k": text(b"a shared secret")},
            {"kty": "??", "kid": "of tomorrow"},
            {"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id,
             "x": text(&point[1..33]), "y": text(&point[33..])},
        ]})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.unwrap());
        format!("Bearer {message}.{signature}")
    }

    /// A token with these claims in place of the usual ones.
    pub(super) fn token(&self, other: &Value) -> String {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": self.id});
        self.sign(&header, &claims(other))
    }
}

fn claims(other: &Value) -> Value {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let mut claims = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "alice", "exp": now + 300, "nbf": now - 5,
        "scope": "openid oxmox:read",
    });
    for (key, value) in other.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(key);
        } else {
            claims[key] = value.clone();
        }
    }
    claims
}

pub(super) fn settings(jwks: Jwks) -> Settings {
    let scopes = Scope::ALL.map(|scope| (format!("oxmox:{}", scope.word()), scope));
    Settings {
        public_url: Some(PublicUrl::parse(PUBLIC).unwrap()),
        oauth: Some(OAuth {
            issuer: ISSUER.to_owned(),
            audience: Vec::new(),
            jwks,
            scopes: BTreeMap::from(scopes),
            name_claim: "sub".to_owned(),
        }),
        ..Settings::default()
    }
}

async fn served(world: &World, issuer: &Issuer) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("jwks.json");
    std::fs::write(&file, issuer.jwks().to_string()).unwrap();
    serve_as(world, Live::new(&settings(Jwks::File(file))).unwrap()).await
}

pub(super) async fn status(served: &Served, token: &str) -> u16 {
    let headers = [("Authorization", token)];
    served.ask("tools/list", json!({}), &headers).await.status
}

#[tokio::test]
async fn a_client_is_told_where_tokens_come_from() {
    let world = world().await;
    let served = served(&world, &Issuer::new("one")).await;
    let refused = served.ask("tools/list", json!({}), &[]).await;
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").unwrap();
    let metadata = "https://ox.example/.well-known/oauth-protected-resource/mcp";
    assert!(
        challenge.contains(&format!("resource_metadata=\"{metadata}\"")),
        "{challenge}"
    );
    assert!(challenge.contains("scope=\"oxmox:read\""), "{challenge}");
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let told = served.get(&path, &[]).await;
        assert_eq!(told.status, 200, "{path}");
        let told = told.message();
        assert_eq!(told["resource"], RESOURCE);
        assert_eq!(told["authorization_servers"], json!([ISSUER]));
        let scopes = json!(["oxmox:full", "oxmox:operate", "oxmox:read"]);
        assert_eq!(told["scopes_supported"], scopes);
    }
}

#[tokio::test]
async fn a_token_counts_if_this_issuer_signed_it_for_this_server_and_for_now() {
    let world = world().await;
    let issuer = Issuer::new("one");
    let served = served(&world, &issuer).await;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let right = [
        json!({}),
        json!({"aud": ["https://other.example", RESOURCE]}),
        json!({"scope": null, "scp": ["oxmox:operate"]}),
        json!({"nbf": null}),
    ];
    for claims in right {
        assert_eq!(
            status(&served, &issuer.token(&claims)).await,
            200,
            "{claims}"
        );
    }
    let wrong = [
        json!({"iss": "https://evil.example"}),
        json!({"iss": null}),
        json!({"aud": "https://other.example/mcp"}),
        json!({"aud": null}),
        json!({"exp": now - 60}),
        json!({"exp": null}),
        json!({"nbf": now + 120}),
        json!({"sub": null}),
        json!({"sub": "a\nb"}),
        json!({"sub": "alice\u{200b}"}),
        json!({"sub": "a\u{202e}b"}),
        json!({"sub": " alice"}),
        json!({"sub": "alice\u{115f}"}),
        json!({"sub": "\u{ff41}lice"}),
        json!({"sub": 7}),
    ];
    for claims in wrong {
        assert_eq!(
            status(&served, &issuer.token(&claims)).await,
            401,
            "{claims}"
        );
    }
    let without = status(&served, &issuer.token(&json!({"scope": "openid"}))).await;
    assert_eq!(without, 403);
}

#[tokio::test]
async fn a_signature_cannot_be_done_without_or_made_by_another() {
    let world = world().await;
    let issuer = Issuer::new("one");
    let served = served(&world, &issuer).await;
    let usual = claims(&json!({}));
    let headers = [
        json!({"alg": "none", "kid": "one"}),
        json!({"alg": "HS256", "kid": "one"}),
        json!({"alg": "ES384", "kid": "one"}),
        json!({"alg": "RS256", "kid": "one"}),
        json!({"alg": "ES256", "kid": "two"}),
        json!({"alg": "ES256", "kid": "one", "typ": "logout+jwt"}),
        json!({"alg": "ES256", "kid": "one", "crit": ["b64"], "b64": false}),
    ];
    for header in headers {
        let token = issuer.sign(&header, &usual);
        assert_eq!(status(&served, &token).await, 401, "{header}");
    }
    let unsigned = issuer.token(&json!({}));
    let (message, _) = unsigned.rsplit_once('.').unwrap();
    assert_eq!(status(&served, &format!("{message}.")).await, 401);
    let forged = Issuer::new("one").token(&json!({}));
    assert_eq!(status(&served, &forged).await, 401);
    // One that names no key is taken by the only one that there is for it.
    let unnamed = issuer.sign(&json!({"alg": "ES256"}), &usual);
    assert_eq!(status(&served, &unnamed).await, 200);
}

#[tokio::test]
async fn what_a_scope_does_not_reach_says_which_one_would() {
    let world = world().await;
    let issuer = Issuer::new("one");
    let served = served(&world, &issuer).await;
    let call = async |scope: &str, tool: &str| {
        let token = issuer.token(&json!({"scope": scope}));
        let params = json!({"name": tool, "arguments": {"vmid": 105}});
        let headers = [("Authorization", token.as_str())];
        served.ask("tools/call", params, &headers).await
    };
    for (scope, tool, needed) in [
        ("oxmox:read", "start_proxmox_vm", "oxmox:operate"),
        ("oxmox:read", "delete_proxmox_vm", "oxmox:full"),
        ("oxmox:operate", "delete_proxmox_vm", "oxmox:full"),
    ] {
        let refused = call(scope, tool).await;
        assert_eq!(refused.status, 403, "{scope} {tool}");
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(
            challenge.contains("error=\"insufficient_scope\""),
            "{challenge}"
        );
        assert!(
            challenge.contains(&format!("scope=\"{needed}\"")),
            "{challenge}"
        );
        assert!(challenge.contains("resource_metadata="), "{challenge}");
    }
    assert!(world.writes().is_empty());
    let seen = call("oxmox:read", "get_proxmox_vm_status").await.message();
    assert_ne!(seen["result"]["isError"], true, "{seen}");
    let started = call("oxmox:read oxmox:operate", "start_proxmox_vm")
        .await
        .message();
    assert_eq!(
        started["result"]["structuredContent"]["status"], "applied",
        "{started}"
    );
    let audit = world.engine.store().await.unwrap().audit_trail(10).await;
    assert!(format!("{audit:?}").contains("oauth:alice"), "{audit:?}");
}

#[tokio::test]
async fn tokens_of_our_own_count_beside_it() {
    let world = world().await;
    let own = token(&world, "ci", Bounds::default()).await;
    let served = served(&world, &Issuer::new("one")).await;
    assert_eq!(status(&served, &own).await, 200);
}

/// A server of keys that counts how often it is asked.
async fn keys_at(told: Value) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tell(stream, &told).await;
        }
    });
    (url, asked)
}

/// Answers a request with this.
pub(super) async fn tell(mut stream: impl AsyncRead + AsyncWrite + Unpin, told: &Value) {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head).await;
    let body = told.to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[tokio::test]
async fn keys_are_fetched_once_however_many_tokens_name_unknown_ones() {
    let world = world().await;
    let issuer = Issuer::new("one");
    let (url, asked) = keys_at(issuer.jwks()).await;
    let live = Live::new(&settings(Jwks::Url(url))).unwrap();
    let served = serve_as(&world, live).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    for _ in 0..3 {
        assert_eq!(status(&served, &issuer.token(&json!({}))).await, 200);
        let stranger = Issuer::new("another").token(&json!({}));
        assert_eq!(status(&served, &stranger).await, 401);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn without_keys_nobody_is_told_that_their_token_is_wrong() {
    let world = world().await;
    let (url, _) = keys_at(json!("no keys")).await;
    let live = Live::new(&settings(Jwks::Url(url))).unwrap();
    let served = serve_as(&world, live).await;
    let token = Issuer::new("one").token(&json!({}));
    assert_eq!(status(&served, &token).await, 503);
}

#[test]
fn what_cannot_work_is_refused_at_start() {
    let mut without_name = settings(Jwks::Url("https://id.example/jwks".to_owned()));
    without_name.public_url = None;
    let open_way = settings(Jwks::Url("http://id.example/jwks".to_owned()));
    let no_file = settings(Jwks::File("/nowhere/jwks.json".into()));
    for (settings, says) in [
        (without_name, "public_url"),
        (open_way, "https"),
        (no_file, "jwks_file"),
    ] {
        let fault = Live::new(&settings).unwrap_err();
        assert!(fault.to_string().contains(says), "{fault}");
    }
}
