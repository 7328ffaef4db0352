//! `oxmox demo --tour`: a short session on the simulated cluster that plays itself.
//!
//! It goes through the engine like every other call; only the person's yes is scripted.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tools::engine::{Asked, Call, Engine, Progress, Question, Reply, State, Talk};
use tools::fault::{Fault, Kind};
use tools::tool::{Answer as _, Object, Rendered};

use super::exit::Exit;
use super::global::Global;
use super::{audit, out, person, progress};
use crate::session::Session;

const SOURCE: u32 = 105;
const COPY: u32 = 300;

/// Plays it. Ends with an error where a step did not end as it should.
pub async fn run(global: &Global) -> Result<Exit, Fault> {
    // A trail of its own: the tour shows all of it.
    let session = Session::demo(&global.load()?, State::Memory).await?;
    let tour = Tour {
        engine: session.engine.clone(),
        guide: Guide::default(),
    };
    tour.play().await?;
    session
        .engine
        .drain(std::time::Duration::from_secs(5))
        .await;
    Ok(Exit::Done)
}

struct Tour {
    engine: std::sync::Arc<Engine>,
    guide: Guide,
}

impl Tour {
    async fn play(&self) -> Result<(), Fault> {
        out::say("A tour on a simulated cluster: nothing real is touched.");
        self.read(
            "What runs in production?",
            "list_proxmox_resources",
            json!({"filter": "tag:prod status:running"}),
        )
        .await?;
        self.change(
            "Clone a VM, wait for it, start the copy.",
            "clone_proxmox_vm",
            json!({"vmid": SOURCE, "new_vmid": COPY, "name": "tour-copy", "start": true}),
        )
        .await?;
        self.change(
            "Press a key on its console and look at the screen. Keys can do anything in a guest, so a person is asked.",
            "send_vm_key",
            json!({"vmid": COPY, "key": "ctrl-alt-delete", "look": true}),
        )
        .await?;
        self.read(
            "What would be lost if the copy were deleted? Looking changes nothing.",
            "delete_proxmox_vm_preview",
            json!({"vmid": COPY}),
        )
        .await?;
        self.change(
            "Delete it. A person is asked, and sees the very plan that is then sent.",
            "delete_proxmox_vm",
            json!({"vmid": COPY, "stop": true}),
        )
        .await?;
        self.gone().await?;
        out::heading("What was done, by whom, and what became of it:");
        let trail = self.engine.store().await?.audit_trail(100).await?;
        out::data(&audit::table(&trail))?;
        out::say("\nThe tour is over. `oxmox demo` lets you and your agent try it.");
        Ok(())
    }

    async fn read(&self, says: &str, tool: &str, arguments: Value) -> Result<(), Fault> {
        announce(says, tool, &arguments);
        let answer = self.call(tool, &arguments).await?;
        out::data(&answer.text)
    }

    /// A change has to end as applied: done, and read back.
    async fn change(&self, says: &str, tool: &str, arguments: Value) -> Result<(), Fault> {
        announce(says, tool, &arguments);
        let answer = self.call(tool, &arguments).await?;
        out::data(&answer.text)?;
        if answer.data.get("status") == Some(&json!("applied")) {
            Ok(())
        } else {
            Err(Fault::new(Kind::Failed, format!("{tool} was not applied")))
        }
    }

    /// The copy must not be there any more.
    async fn gone(&self) -> Result<(), Fault> {
        let arguments = json!({"vmid": COPY});
        announce("Is it really gone?", "get_proxmox_vm_status", &arguments);
        match self.call("get_proxmox_vm_status", &arguments).await {
            Err(fault) if fault.kind == Kind::NotFound => out::data(&fault.to_string()),
            Err(fault) => Err(fault),
            Ok(_) => Err(Fault::new(Kind::Failed, "the deleted copy is still there")),
        }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Result<Rendered, Fault> {
        let arguments: Object = arguments.as_object().cloned().unwrap_or_default();
        let call = Call::new(tool, arguments, "tour");
        let reply = self.engine.call(call, &self.guide).await;
        self.guide.progress.clear();
        match reply? {
            Reply::Done(answer) | Reply::Running(answer, _) => Ok(answer),
            Reply::Ask(_) => Err(Fault::new(Kind::Internal, "a question came back")),
        }
    }
}

fn announce(says: &str, tool: &str, arguments: &Value) {
    out::heading(says);
    out::say(format_args!("> {tool} {arguments}"));
}

/// Says yes to everything, aloud.
#[derive(Default)]
struct Guide {
    progress: progress::Display,
}

impl Talk for Guide {
    fn progress(&self, progress: Progress) {
        self.progress.show(&progress);
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        let mut outcome = question.outcome.clone();
        outcome.next = None;
        out::say(outcome.text());
        out::say("Do it? [y/N] y (you would be asked here)\n");
        let by = person::name();
        Box::pin(async { Asked::Yes { by, lease: false } })
    }
}
