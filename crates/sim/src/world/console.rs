//! Consoles: a proxy waits on a port for one client, and gives up after a while.

use std::time::Duration;

use crate::call::Identity;
use crate::clock::Time;
use crate::world::World;

/// How long a proxy waits for its client.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The ports that proxies listen on.
const PORTS: std::ops::Range<u16> = 5900..6000;

/// What a client will see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The display of a machine, over VNC.
    Display(u32),
    /// A terminal inside a container.
    Container(u32),
    /// A serial port of a machine: the one that was asked for, or the first.
    Serial(u32, Option<String>),
    /// A shell of a node.
    Shell(String),
}

/// A proxy that waits.
#[derive(Clone, Debug)]
pub struct Console {
    /// The node it listens on, which is the one that was asked.
    pub node: String,
    /// Where it listens.
    pub port: u16,
    /// What is behind it.
    pub screen: Screen,
    /// Who opened it; nobody else may connect.
    pub who: Identity,
    /// What a VNC client must know, if it is not the ticket.
    pub password: Option<String>,
    /// The ticket it was opened with.
    pub ticket: String,
    /// The task that waits. Empty until it has started.
    pub upid: String,
    /// How that task ends if something goes wrong.
    pub failure: String,
    /// Until when it waits.
    pub until: Time,
}

impl Console {
    /// What a VNC client must know: the generated password, or else the ticket. VNC uses eight characters of it.
    pub fn vnc_password(&self) -> &str {
        self.password.as_deref().unwrap_or(&self.ticket)
    }
}

impl World {
    /// Opens a console on the first free port of a node; `None` if all are taken.
    pub fn open_console(
        &mut self,
        node: &str,
        screen: Screen,
        who: &Identity,
        (ticket, password): (&str, Option<String>),
    ) -> Option<u16> {
        let now = self.now;
        self.consoles.retain(|console| console.until > now);
        let taken = |port: &u16| {
            self.consoles
                .iter()
                .any(|console| console.node == node && console.port == *port)
        };
        let port = PORTS.into_iter().find(|port| !taken(port))?;
        self.consoles.push(Console {
            node: node.to_owned(),
            port,
            screen,
            who: who.clone(),
            password,
            ticket: ticket.to_owned(),
            upid: String::new(),
            failure: String::new(),
            until: now + PATIENCE,
        });
        Some(port)
    }

    /// Tells the console on that port which task waits there, and how that ends if something goes wrong.
    pub fn set_console_task(&mut self, node: &str, port: u16, (upid, failure): (&str, &str)) {
        let here = |console: &&mut Console| console.node == node && console.port == port;
        if let Some(console) = self.consoles.iter_mut().find(here) {
            upid.clone_into(&mut console.upid);
            failure.clone_into(&mut console.failure);
        }
    }

    /// Connects a client to the console that waits on that port, which takes no second one. Its task goes on until
    /// [`World::end_task`].
    pub fn claim_console(&mut self, node: &str, port: u16) -> Option<Console> {
        let now = self.now;
        let here =
            |console: &Console| console.node == node && console.port == port && console.until > now;
        let at = self.consoles.iter().position(here)?;
        let console = self.consoles.remove(at);
        self.hold_task(&console.upid);
        if !matches!(console.screen, Screen::Display(_)) {
            let line = format!("client connection: 127.0.0.1:{}", 40_000 + u32::from(port));
            self.log_task(&console.upid, line);
        }
        Some(console)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::upid::Upid;
    use crate::world::work::Work;

    #[test]
    fn a_port_is_free_again_when_nobody_came() {
        let mut world = World::empty("test", Time::from_secs(1_000_000));
        let root = Identity::user("root@pam");
        let open = |world: &mut World, node: &str| {
            world.open_console(node, Screen::Display(100), &root, ("ticket", None))
        };
        assert_eq!(open(&mut world, "pve1"), Some(5900));
        assert_eq!(open(&mut world, "pve1"), Some(5901));
        assert_eq!(open(&mut world, "pve2"), Some(5900));
        world.advance(PATIENCE);
        assert_eq!(open(&mut world, "pve1"), Some(5900));
    }

    #[test]
    fn one_client_comes_and_the_task_waits_no_longer() {
        let mut world = World::empty("test", Time::from_secs(1_000_000));
        let root = Identity::user("root@pam");
        let display = Screen::Display(100);
        let port = world.open_console("pve1", display, &root, ("PVEVNC:6AFA0665::x", None));
        assert_eq!(port, Some(5900));
        let late = Work::new("vncproxy", 100).wait(PATIENCE.as_secs());
        let upid = world.start_task(&root, "pve1", late.run(|_, _| Err("late".to_owned())));
        world.set_console_task("pve1", 5900, (&upid, "late"));

        assert!(world.claim_console("pve2", 5900).is_none());
        let console = world.claim_console("pve1", 5900).expect("it waits");
        assert_eq!(console.vnc_password(), "PVEVNC:6AFA0665::x");
        assert!(world.claim_console("pve1", 5900).is_none());
        world.advance(PATIENCE * 2);
        let end = |world: &World| {
            let upid = Upid::parse(&upid).expect("a UPID");
            let task = world.tasks.find(&upid).expect("known");
            task.end.clone().map(|end| end.status)
        };
        assert_eq!(end(&world), None);
        world.end_task(&console.upid, None, "OK");
        assert_eq!(end(&world).as_deref(), Some("OK"));
    }
}
