//! A plan, shown. The same plan is what the engine sends; there is no second path.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pve::{Method, Reader, Request, Value as Parameter};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::agent;
use crate::claim::Claim;
use crate::context::{Context, READS};
use crate::fault::{Fault, explain};
use crate::outcome::NextCall;
use crate::plan::{Action, Check, Impact, Keys, Needs, Plan, Typed, Undo};
use crate::policy::{Decision, Policy};
use crate::registry::Registry;
use crate::spec::Risk;
use crate::tool::Answer;
use crate::words::{self, line, with_ours};

/// What a change would do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Preview {
    /// The tool that would do it.
    pub tool: String,
    /// The cluster, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What it would do to what.
    pub summary: String,
    /// The risk of these arguments.
    pub risk: Risk,
    /// What would be sent, in order.
    pub steps: Vec<PreviewStep>,
    /// What is affected, with sizes.
    pub affects: Vec<Impact>,
    /// What to know before saying yes.
    pub warnings: Vec<String>,
    /// Why it would be refused as things are, and what to do about it; empty if nothing stands in the way.
    pub blockers: Vec<String>,
    /// Privileges that the token lacks for it; empty if none.
    pub privileges_missing: Vec<String>,
    /// The call that takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextCall>,
    /// Why it cannot be taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<String>,
}

/// One step of a preview.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PreviewStep {
    /// What it does.
    pub step: String,
    /// The request that would be sent.
    pub request: String,
    /// What is read back before it counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
}

/// Shows a plan to whoever decides on it, beside or long after the call that asked for it. The privileges are not looked
/// up: that would need the cluster, and is looked at often. Whoever asked decided by a mode and rules that need not be
/// those of this process; the freeze is shared.
pub async fn without_cluster(
    plan: &Plan,
    registry: Arc<Registry>,
    freeze: Option<PathBuf>,
    now: i64,
) -> Preview {
    let policy = Policy {
        freeze,
        ..Policy::default()
    };
    let context = Context {
        claim: Claim::default(),
        clusters: Vec::new(),
        registry,
        unlisted: Arc::default(),
        policy: Arc::new(policy),
        begun: None,
        baselines: None,
        scripts: None,
        uploads: Arc::default(),
        now,
        held: Arc::default(),
        news: None,
    };
    of(plan, &context).await
}

/// Shows a plan. Asks PVE which of the needed privileges are there; sends nothing else.
pub async fn of(plan: &Plan, cx: &Context) -> Preview {
    let (undo, irreversible) = match &plan.undo {
        Undo::Call { tool, arguments } => (
            Some(NextCall {
                tool: tool.clone(),
                arguments: arguments.clone(),
            }),
            None,
        ),
        Undo::Impossible { because } => (None, Some(because.clone())),
    };
    let mut blockers = Vec::new();
    let mut privileges_missing = Vec::new();
    if let Decision::Deny(fault) = cx.policy.decide(plan) {
        blockers.push(fault.to_string().replace("\nhint: ", ": "));
    }
    if let Some(cluster) = cx
        .clusters
        .iter()
        .find(|cluster| cluster.name == plan.cluster)
    {
        blockers.extend(
            cluster
                .require_supported()
                .await
                .err()
                .map(|fault| fault.message),
        );
        privileges_missing = missing_privileges(plan, &cluster.pve).await;
    }
    Preview {
        tool: plan.tool.clone(),
        cluster: (cx.registry.has_several_clusters()).then(|| plan.cluster.clone()),
        summary: plan.summary.clone(),
        risk: plan.risk(),
        steps: plan
            .steps
            .iter()
            .map(|step| PreviewStep {
                step: step.says.clone(),
                request: request_line(&step.action),
                then: step.after.as_ref().map(Check::sentence),
            })
            .collect(),
        affects: plan.impact.clone(),
        warnings: plan.warnings.clone(),
        blockers,
        privileges_missing,
        undo,
        irreversible,
    }
}

/// The privileges that the token lacks for a plan, as far as PVE tells.
pub async fn missing_privileges(plan: &Plan, pve: &Reader) -> Vec<String> {
    missing(&plan.needs, pve).await
}

/// A read that PVE refused. Of a choice of privileges it does not say which ones it missed; the tree does.
pub(crate) async fn refused(error: pve::Error, needs: &Needs, pve: &Reader) -> Fault {
    if error.status() != Some(403) || error.missing_privilege().is_some() {
        return error.into();
    }
    let missing = missing(needs, pve).await;
    Fault::from(error).hint(format!("the token lacks {}", missing.join(", ")))
}

/// What the token lacks of a privilege tree, as far as PVE tells.
pub(crate) async fn missing(needs: &Needs, pve: &Reader) -> Vec<String> {
    lacked(needs, pve).await.unwrap_or_else(|error| {
        vec![format!(
            "(the token's privileges cannot be read: {})",
            explain(&error)
        )]
    })
}

/// The same where it has to be known.
pub(crate) async fn lacked(needs: &Needs, pve: &Reader) -> Result<Vec<String>, pve::Error> {
    let reads: Vec<_> = needs
        .paths()
        .into_iter()
        .map(async |path| Ok::<_, pve::Error>((path, pve.permissions_on(path).await?)))
        .collect();
    let held: BTreeMap<_, _> = stream::iter(reads).buffered(READS).try_collect().await?;
    let is_held =
        |path: &str, privilege: &str| held.get(path).is_some_and(|held| held.has(path, privilege));
    Ok(needs.missing(&is_held))
}

/// `POST /nodes/pve1/qemu/105/clone newid=300 full=1`
pub(crate) fn request_line(action: &Action) -> String {
    let request = match action {
        Action::Request(_)
        | Action::Upload(_)
        | Action::Download(_)
        | Action::AgentExec(_)
        | Action::AgentFile(_) => action.request(),
        Action::Keys(keys) => return keys_line(keys),
        Action::TerminalLine(line) => {
            let at = line.at.path("");
            return format!("terminal {at} line={}", typed_text(&line.line));
        }
        Action::TerminalExec(exec) => {
            let words: Vec<String> = exec.command.iter().map(command_word).collect();
            return format!("terminal {} run={}", exec.at.path(""), words.join(" "));
        }
    };
    let method = match request.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
    };
    let mut line = format!("{method} {}", request.path);
    for (key, value) in &request.params {
        let _ = match value {
            Parameter::Text(text) if is_content(&request, key) => {
                write!(line, " {key}={}", content(&in_guest(text)))
            }
            Parameter::Text(text) if is_of_file(&request) => {
                write!(line, " {key}={}", crate::clean::whole(&in_guest(text)))
            }
            Parameter::Text(text) => write!(line, " {key}={}", crate::clean::whole(text)),
            Parameter::Int(number) => write!(line, " {key}={number}"),
            Parameter::Bool(flag) => write!(line, " {key}={}", u8::from(*flag)),
            // An address without its password is the name of its hole.
            Parameter::Hole(name) => write!(line, " {key}=<{}>", crate::clean::whole(name)),
            Parameter::Filled(_) => write!(line, " {key}={}", crate::clean::REDACTED),
        };
    }
    if let Action::Upload(upload) = action {
        let (path, size) = (crate::clean::whole(&upload.file.path), upload.file.size);
        let sha256 = &upload.file.sha256;
        let _ = write!(line, " and the file {path} ({size} bytes, sha256 {sha256})");
    }
    line
}

/// Whether a parameter is what a file is to hold: all else of a request is shown whole.
fn is_content(request: &Request, key: &str) -> bool {
    key == "content" && is_of_file(request)
}

/// Whether the texts of a request are sent in the form that guest agents take.
fn is_of_file(request: &Request) -> bool {
    request.path.ends_with("/agent/file-write")
}

/// A text as the guest gets it, whose checksum can be compared there. What is no text to the guest is shown as it is sent:
/// two things must not look the same.
fn in_guest(text: &str) -> Cow<'_, str> {
    let got = agent::from_wire(text);
    if agent::to_wire(&got) == text {
        Cow::Owned(got)
    } else {
        Cow::Borrowed(text)
    }
}

/// What a file is to hold: whole, or so much that nobody reads it: then how it begins, and what tells it from any other.
fn content(text: &str) -> String {
    const READ: usize = 2_000;
    let length = text.chars().count();
    if length <= READ {
        return crate::clean::whole(text);
    }
    let begins: String = text.chars().take(READ).collect();
    let sha256 = crate::keys::hex(&Sha256::digest(text));
    let begins = crate::clean::whole(&begins);
    format!("{begins} and so on ({length} characters, sha256 {sha256})")
}

/// `VNC /nodes/pve1/qemu/100 text="ls -l" layout=us`
fn keys_line(keys: &Keys) -> String {
    let at = keys.at.path("");
    match &keys.typed {
        Typed::Combos(combos) => format!("VNC {at} keys={}", combos.join(" ")),
        Typed::Text { text, layout } => {
            let text = typed_text(text);
            format!("VNC {at} text={text} layout={}", layout.word())
        }
    }
}

/// A word of a command, as one: nothing in it may look as if another word began.
fn command_word(word: &Parameter) -> String {
    match word {
        Parameter::Hole(name) => format!("<{name}>"),
        plain => crate::clean::whole(&plain.to_string()),
    }
}

/// A text that is typed, or the name of one that must not be seen.
fn typed_text(text: &Parameter) -> String {
    match text {
        Parameter::Hole(name) => format!("<{name}>"),
        plain => crate::keyboard::shown(&plain.to_string()),
    }
}

impl Answer for Preview {
    fn text(&self) -> String {
        let mut out = String::new();
        let risk = format!(" (risk: {})", self.risk.word());
        line!(out, "would: {}", with_ours(&self.summary, &risk));
        if let Some(cluster) = &self.cluster {
            line!(out, "on cluster {cluster}");
        }
        for (number, step) in (1..).zip(&self.steps) {
            let request = format!(" [{}]", step.request);
            line!(out, "{number}. {}", with_ours(&step.step, &request));
        }
        if !self.affects.is_empty() {
            out.push_str(&impact_table(&self.affects));
        }
        for warning in &self.warnings {
            line!(out, "warning: {}", warning);
        }
        for blocker in &self.blockers {
            line!(out, "would be refused: {}", blocker);
        }
        for missing in &self.privileges_missing {
            line!(out, "missing privilege: {missing}");
        }
        match (&self.undo, &self.irreversible) {
            (Some(undo), _) => {
                line!(
                    out,
                    "undo: {} {}",
                    undo.tool,
                    serde_json::Value::Object(undo.arguments.clone())
                );
            }
            (None, Some(because)) => {
                line!(out, "cannot be undone: {}", because);
            }
            (None, None) => {}
        }
        out.push_str("nothing was changed\n");
        out
    }
}

/// What is affected, as a table.
fn impact_table(affects: &[Impact]) -> String {
    let rows: Vec<_> = affects
        .iter()
        .map(|item| {
            [
                item.effect.word().to_owned(),
                item.kind.clone(),
                item.id.clone(),
                item.bytes.map(words::size).unwrap_or_default(),
                item.note.clone().unwrap_or_default(),
            ]
        })
        .collect();
    words::table(["effect", "what", "id", "size", "note"], &rows)
}
