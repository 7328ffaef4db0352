//! What answers behind a websocket. A [`Session`] takes the bytes of a client and gives bytes back, with the world in
//! between: no sockets, so that recorded sessions can be replayed. [`attend`] joins one to a connection.

pub(crate) mod outside;
mod terminal;
pub(crate) mod vnc;

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::cluster::Cluster;
use crate::http::websocket::Line;
use crate::world::World;
use crate::world::console::{Console, Screen};
use crate::world::outside::Outside;

/// How often a session looks at a clock that moves on its own.
const GLANCE: Duration = Duration::from_millis(50);

/// One client at a console.
pub(crate) trait Session: Send {
    /// Takes what the client has sent, which is nothing at the beginning and when the world may have changed, and adds
    /// to `send` what it shall get.
    fn turn(
        &mut self,
        world: &mut World,
        received: &[u8],
        send: &mut Vec<u8>,
    ) -> ControlFlow<End, Mood>;

    /// How the console's task ends when the client leaves.
    fn left(&self) -> End;
}

/// What a client does after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It may go on by itself.
    Content,
    /// It waits for something to happen.
    Waiting,
}

/// How a session ends: with a last line in the log of its task, and the task's exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The line.
    pub(crate) line: Option<String>,
    /// The status.
    pub(crate) status: String,
}

impl End {
    /// Nothing went wrong.
    pub(crate) fn ok() -> Self {
        Self {
            line: None,
            status: "OK".to_owned(),
        }
    }
}

/// The session of a client that has just connected.
pub(crate) fn open(console: &Console) -> Box<dyn Session> {
    match &console.screen {
        Screen::Display(vmid) => Box::new(vnc::Vnc::new(*vmid, console.vnc_password())),
        Screen::Container(_) | Screen::Serial(..) | Screen::Shell(_) => {
            Box::new(terminal::Terminal::new(console.clone()))
        }
    }
}

/// Serves a console until one side leaves, and ends its task.
pub(crate) async fn attend(mut line: Line, console: &Console, cluster: &Mutex<Cluster>) {
    let outside = outside_of(console, &lock(cluster).world);
    let end = match outside {
        Some((vmid, outside)) => {
            let password = console.vnc_password();
            outside::relay(&mut line, &outside, password, (vmid, cluster)).await
        }
        None => converse(&mut line, console, cluster).await,
    };
    {
        let world = &mut lock(cluster).world;
        if let Screen::Display(vmid) = console.screen
            && let Some(guest) = world.guests.get_mut(&vmid)
        {
            guest.lift_all_keys();
        }
        world.end_task(&console.upid, end.line, &end.status);
    }
    line.hang_up().await;
}

/// The real display of a running machine, if it has one.
fn outside_of(console: &Console, world: &World) -> Option<(u32, Outside)> {
    let Screen::Display(vmid) = console.screen else {
        return None;
    };
    let guest = world.guests.get(&vmid).filter(|guest| guest.is_running())?;
    Some((vmid, guest.outside.clone()?))
}

async fn converse(line: &mut Line, console: &Console, cluster: &Mutex<Cluster>) -> End {
    let mut session = open(console);
    let mut changes = lock(cluster).watch();
    let mut received = Vec::new();
    loop {
        let mut send = Vec::new();
        let flow = turn(
            session.as_mut(),
            &mut lock(cluster),
            &received,
            &mut send,
            &mut changes,
        );
        if line.send(&send).await.is_none() {
            return session.left();
        }
        if let ControlFlow::Break(end) = flow {
            return end;
        }
        if !lock(cluster).is_reachable(&console.node) {
            return session.left();
        }
        let restless = lock(cluster).moves_on_its_own();
        received = tokio::select! {
            message = line.receive() => match message {
                Some(bytes) => bytes,
                None => return session.left(),
            },
            _ = changes.changed() => Vec::new(),
            () = tokio::time::sleep(GLANCE), if restless => Vec::new(),
        };
    }
}

/// One turn in the world as it is now. Where time passes with requests, it also passes for a client that has sent
/// something and waits: that looks again a step later. Others who watch are told.
fn turn(
    session: &mut dyn Session,
    cluster: &mut Cluster,
    received: &[u8],
    send: &mut Vec<u8>,
    changes: &mut watch::Receiver<()>,
) -> ControlFlow<End, Mood> {
    cluster.idle();
    let mut flow = session.turn(&mut cluster.world, received, send);
    if !received.is_empty() {
        if flow == ControlFlow::Continue(Mood::Waiting) {
            cluster.tick();
            flow = session.turn(&mut cluster.world, &[], send);
        }
        cluster.touch();
    }
    changes.mark_unchanged();
    flow
}

fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}
