//! The control endpoint for tests in other languages: JSON below `/sim/`, outside PVE's API and without a login.
//!
//! | request | body | effect |
//! |---|---|---|
//! | `GET /sim/clock` | | the present moment |
//! | `POST /sim/advance` | `{"seconds": 30}` | time passes |
//! | `POST /sim/node` | `{"node": "pve2", "online": false}` | a node is lost, or comes back |
//! | `POST /sim/quorum` | `{"lost": true}` | quorum is lost, or comes back |
//! | `POST /sim/factors` | see [`FactorOrder`] | a user gets second factors |
//! | `POST /sim/fault` | see [`FaultOrder`] | a fault is injected |
//! | `DELETE /sim/fault` | | all faults are removed |
//! | `GET /sim/requests` | | the request log |
//! | `DELETE /sim/requests` | | the request log is emptied |

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::call::{Given, Params};
use crate::cluster::{Cluster, Logged};
use crate::fault::Fault;
use crate::http::{Request, Response, decode};
use crate::world::factor::Factor;

/// An answer that comes later than this, in seconds, does not come at all.
const LONGEST_DELAY: f64 = 86_400.0;
/// Time does not pass faster than ten years at once, or it would come to its end.
const LONGEST_ADVANCE: u64 = 10 * 365 * 86_400;

#[derive(Deserialize)]
struct Advance {
    seconds: u64,
}

#[derive(Deserialize)]
struct NodeState {
    node: String,
    online: bool,
}

#[derive(Deserialize)]
struct Quorum {
    lost: bool,
}

/// A user's second factors as JSON: `{"user": "root@pam", "totp": "key", "recovery": ["1f2e-…"], "webauthn": true}`. None: the
/// password is enough again.
#[derive(Deserialize)]
struct FactorOrder {
    user: String,
    totp: Option<String>,
    #[serde(default)]
    recovery: Vec<String>,
    #[serde(default)]
    webauthn: bool,
}

impl FactorOrder {
    fn factors(self) -> Vec<Factor> {
        let mut factors = Vec::new();
        factors.extend(self.totp.map(Factor::totp));
        factors.extend(self.webauthn.then_some(Factor::WebAuthn));
        if !self.recovery.is_empty() {
            let keys = self.recovery.into_iter().map(Some);
            factors.push(Factor::Recovery(keys.collect()));
        }
        factors
    }
}

/// A fault as JSON: `{"kind": "drop_after", "method": "POST", "path": "/nodes/*", "times": 1}`.
#[derive(Deserialize)]
struct FaultOrder {
    #[serde(flatten)]
    what: FaultKind,
    method: Option<String>,
    path: Option<String>,
    endpoint: Option<String>,
    vmid: Option<u32>,
    times: Option<u32>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum FaultKind {
    Refuse {
        status: u16,
        reason: String,
    },
    Answer {
        data: Value,
    },
    Delay {
        seconds: f64,
    },
    DropBefore,
    DropDuring,
    DropAfter,
    CutAnswer,
    Gibberish,
    RefuseAfter {
        status: u16,
        reason: String,
    },
    LoginPage,
    Outage {
        node: String,
    },
    FailTask {
        task: String,
        line: String,
        exit: String,
    },
    IdleTask {
        task: String,
    },
}

impl TryFrom<FaultOrder> for Fault {
    /// Which number is none that can be used.
    type Error = String;

    fn try_from(order: FaultOrder) -> Result<Self, String> {
        let mut fault = match order.what {
            FaultKind::Refuse { status, reason } => Self::refuse(of_answers(status)?, &reason),
            FaultKind::Answer { data } => Self::answer("GET", "*", data),
            FaultKind::Delay { seconds } => Self::delay(delay(seconds)?),
            FaultKind::DropBefore => Self::drop_before(),
            FaultKind::DropDuring => Self::drop_during(),
            FaultKind::DropAfter => Self::drop_after(),
            FaultKind::CutAnswer => Self::cut_answer(),
            FaultKind::Gibberish => Self::gibberish(),
            FaultKind::RefuseAfter { status, reason } => {
                Self::refuse_after(of_answers(status)?, &reason)
            }
            FaultKind::LoginPage => Self::login_page(),
            FaultKind::Outage { node } => Self::outage(&node),
            FaultKind::FailTask { task, line, exit } => Self::fail_task(&task, &line, &exit),
            FaultKind::IdleTask { task } => Self::idle_task(&task),
        };
        if let Self::Request(request) = &mut fault {
            request.method = order.method;
            request.path = order.path.unwrap_or_else(|| "*".to_owned());
            request.endpoint = order.endpoint;
        }
        if let Some(vmid) = order.vmid {
            fault = fault.vmid(vmid);
        }
        Ok(match order.times {
            Some(times) => fault.times(times),
            None => fault,
        })
    }
}

/// The status, if an answer can have it.
fn of_answers(status: u16) -> Result<u16, String> {
    if (200..=599).contains(&status) {
        Ok(status)
    } else {
        Err(format!("no answer has the status {status}: 200 to 599"))
    }
}

fn delay(seconds: f64) -> Result<Duration, String> {
    if (0.0..=LONGEST_DELAY).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!(
            "no answer comes {seconds:e} seconds late: 0 to {LONGEST_DELAY}"
        ))
    }
}

/// Refuses a node that is not there: a fault of a name that is mistyped would never happen.
fn require_node(cluster: &Cluster, name: &str) -> Result<(), String> {
    let nodes = &cluster.world.nodes;
    if nodes.contains_key(name) {
        return Ok(());
    }
    let names: Vec<&str> = nodes.keys().map(String::as_str).collect();
    Err(format!("no node {name}: {}", names.join(", ")))
}

/// Lets time pass; the moment that it is then.
fn advance(cluster: &mut Cluster, Advance { seconds }: Advance) -> Result<Value, String> {
    if seconds > LONGEST_ADVANCE {
        return Err(format!(
            "{seconds} seconds cannot pass at once: at most {LONGEST_ADVANCE}"
        ));
    }
    cluster.world.advance(Duration::from_secs(seconds));
    Ok(json!({ "now": cluster.world.now.secs() }))
}

/// Answers a request below `/sim/`; `None` for all others.
pub(crate) fn answer(cluster: &mut Cluster, request: &Request) -> Option<Response> {
    let path = request.path();
    let command = path.strip_prefix("/sim/")?;
    let result = match (request.method.as_str(), command) {
        ("GET", "clock") => Ok(json!({ "now": cluster.world.now.secs() })),
        ("POST", "advance") => read(request).and_then(|order| advance(cluster, order)),
        ("POST", "node") => read(request).and_then(|NodeState { node, online }| {
            require_node(cluster, &node)?;
            cluster.world.set_online(&node, online);
            Ok(Value::Null)
        }),
        ("POST", "quorum") => read(request).map(|Quorum { lost }| {
            cluster.world.quorum_lost = lost;
            Value::Null
        }),
        ("POST", "factors") => read(request).and_then(|order: FactorOrder| {
            let users = &mut cluster.world.access.users;
            let user = (users.get_mut(&order.user)).ok_or(format!("no user {}", order.user))?;
            user.factors = order.factors();
            Ok(Value::Null)
        }),
        ("POST", "fault") => read(request).and_then(|order: FaultOrder| {
            if let FaultKind::Outage { node } = &order.what {
                require_node(cluster, node)?;
            }
            cluster.add_fault(order.try_into()?);
            Ok(Value::Null)
        }),
        ("DELETE", "fault") => {
            cluster.clear_faults();
            Ok(Value::Null)
        }
        ("GET", "requests") => Ok(cluster.requests().iter().map(logged).collect()),
        ("DELETE", "requests") => {
            cluster.clear_requests();
            Ok(Value::Null)
        }
        (method, _) => Err(format!("no such command: {method} {path}")),
    };
    let (status, reason, body) = match result {
        Ok(body) => (200, "OK", body),
        Err(error) => (400, "Bad Request", json!({ "error": error })),
    };
    Some(Response {
        status,
        reason: reason.to_owned(),
        content_type: Some("application/json"),
        body: body.to_string().into_bytes(),
    })
}

fn read<T: DeserializeOwned>(request: &Request) -> Result<T, String> {
    if decode::is_too_large(request) {
        return Err("the body is too large".to_owned());
    }
    serde_json::from_slice(&request.body).map_err(|error| error.to_string())
}

fn logged(entry: &Logged) -> Value {
    json!({
        "method": entry.method,
        "path": entry.path,
        "params": params(&entry.params),
        "status": entry.status,
        "node": entry.node,
    })
}

fn params(params: &Params) -> Value {
    let value = |given: &Given| match given {
        Given::Text(text) => json!(text),
        Given::List(items) => json!(items),
        Given::Hash | Given::Null => Value::Null,
    };
    params
        .iter()
        .map(|(name, given)| (name.to_owned(), value(given)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
