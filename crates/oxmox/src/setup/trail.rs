//! What setup changes on a cluster leaves a trace: an entry of the audit trail opened before each request, and closed after it.

use pve::{Request, Writer};
use serde_json::{Value, json};
use tools::fault::{Fault, explain};
use tools::keys;
use tools::outcome::{StepOutcome, StepState};
use tools::spec::Risk;
use tools::store::{AuditEntry, Store};

use super::words;
use crate::cli::brake::Brake;
use crate::cli::commands::Commands;
use crate::cli::{out, person, state};
use crate::config::Config;

/// What the trail calls it.
const TOOL: &str = "setup";

/// The trail of this machine, if it can be written.
pub struct Trail {
    store: Option<Store>,
    cluster: String,
    identity: String,
}

/// The one way for setup to send something that changes a cluster.
pub struct Recorded<'a> {
    /// What sends.
    pub writer: &'a Writer,
    /// What keeps it.
    pub trail: Trail,
    /// What stops it.
    pub brake: Brake,
}

/// Why a request brought nothing about that is known.
#[derive(Debug)]
pub enum Trouble {
    /// It was not sent: nothing would have told of it, or a person has stopped all changes.
    Unsent(Fault),
    /// It was sent, or PVE was not reached.
    Unanswered(pve::Error),
}

impl Trouble {
    /// Whether PVE may have carried it out.
    pub fn may_be_done(&self) -> bool {
        matches!(self, Self::Unanswered(error) if error.is_maybe_sent())
    }

    /// Whether PVE says that there is nothing of this kind to take back.
    pub fn is_gone(&self) -> bool {
        let Self::Unanswered(error) = self else {
            return false;
        };
        let text = error.to_string();
        error.status().is_some() && (text.contains("does not exist") || text.contains("no such"))
    }

    /// The same about this request.
    pub fn of(self, request: &Request) -> Fault {
        let fault = match self {
            Self::Unsent(fault) => return fault,
            Self::Unanswered(error) => {
                let message = explain(&error);
                Fault {
                    message,
                    ..Fault::from(error)
                }
            }
        };
        Fault {
            message: format!("{}: {}", words::request(request), fault.message),
            ..fault
        }
    }
}

impl Trail {
    /// The configured store. Where it cannot be opened, a person is told, and goes on without, unless replicas share it: then
    /// nothing is sent, since nobody could tell whether they are stopped.
    pub async fn open(
        config: &Config,
        commands: &Commands,
        cluster: &str,
        identity: String,
    ) -> Self {
        let store = state::open(config).await;
        if let Err(fault) = &store {
            out::warn(format_args!(
                "what is changed on the cluster is not in the audit trail: {}",
                fault.message
            ));
            out::hint(format_args!(
                "until that is mended, oxmox sends no change for anybody: `{}` tells more",
                commands.with("doctor")
            ));
        }
        Self {
            store: store.ok(),
            cluster: cluster.to_owned(),
            identity,
        }
    }

    /// For whoever sends nothing.
    pub fn unneeded() -> Self {
        Self {
            store: None,
            cluster: String::new(),
            identity: String::new(),
        }
    }

    async fn opened(&self, says: &str, request: &Request) -> Result<String, Fault> {
        let plan = keys::short_id();
        let user = person::name();
        let entry = AuditEntry::Opened {
            at: now(),
            plan: plan.clone(),
            caller: format!("cli:{user}"),
            cluster: Some(self.cluster.clone()),
            tool: TOOL.to_owned(),
            arguments: json!({ "cluster": self.cluster, "request": words::request(request) }),
            summary: Some(says.to_owned()),
            risk: Some(Risk::Grant),
            digest: None,
            confirmed_by: Some(user),
            pve_identity: Some(self.identity.clone()),
        };
        if let Some(store) = &self.store {
            store.append_audit(&entry).await?;
        }
        Ok(plan)
    }

    async fn closed(&self, plan: String, step: StepOutcome) {
        let result = match step.state {
            StepState::Done => "applied",
            StepState::Unknown => "unknown",
            _ => "failed",
        };
        let entry = AuditEntry::Closed {
            at: now(),
            plan,
            result: result.to_owned(),
            reason: step.detail.clone(),
            affects: Vec::new(),
            steps: vec![step],
        };
        if let Some(store) = &self.store
            && let Err(fault) = store.append_audit(&entry).await
        {
            out::warn(format_args!(
                "the audit trail does not tell how it ended: {fault}"
            ));
        }
    }
}

impl Recorded<'_> {
    /// What there is to do, behind what has to be done first where all changes are stopped by now.
    pub async fn hint(&self, then: String) -> String {
        match self.brake.is_off(self.trail.store.as_ref()).await {
            Err(Fault {
                hint: Some(first), ..
            }) => format!("{first}; then {then}"),
            _ => then,
        }
    }

    /// Sends it, between its two entries, unless a person has stopped all changes meanwhile.
    pub async fn send(&self, says: &str, request: &Request) -> Result<Value, Trouble> {
        let store = self.trail.store.as_ref();
        self.brake.is_off(store).await.map_err(Trouble::Unsent)?;
        let opened = self.trail.opened(says, request).await;
        let plan = opened.map_err(Trouble::Unsent)?;
        let answer = self.writer.send(request).await;
        let mut step = StepOutcome::unsent(&request.to_string());
        step.state = match &answer {
            Ok(_) => StepState::Done,
            Err(error) if error.is_maybe_sent() => StepState::Unknown,
            Err(_) => StepState::Failed,
        };
        step.detail = answer.as_ref().err().map(|error| explain(error));
        self.trail.closed(plan, step).await;
        answer.map_err(Trouble::Unanswered)
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
