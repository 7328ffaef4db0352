//! Consoles: a proxy waits on a port for one client, and gives up after a while.

use std::time::Duration;

use crate::call::Identity;
use crate::clock::Time;
use crate::world::World;
use crate::world::guest::Kind;

/// How long a proxy waits for its client.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The ports that proxies listen on.
const PORTS: std::ops::Range<u16> = 5900..6000;

/// What a client will see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The display of a machine, over VNC.
    Display(u32),
    /// A terminal of a guest: a machine's serial port, or inside a container.
    Terminal(Kind, u32),
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
    /// Until when it waits.
    pub until: Time,
}

impl World {
    /// Opens a console on the first free port of a node; `None` if all are taken.
    pub fn open_console(
        &mut self,
        node: &str,
        screen: Screen,
        who: &Identity,
        password: Option<String>,
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
            until: now + PATIENCE,
        });
        Some(port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_free_again_when_nobody_came() {
        let mut world = World::empty("test", Time::from_secs(1_000_000));
        let root = Identity::user("root@pam");
        let open = |world: &mut World, node: &str| {
            world.open_console(node, Screen::Display(100), &root, None)
        };
        assert_eq!(open(&mut world, "pve1"), Some(5900));
        assert_eq!(open(&mut world, "pve1"), Some(5901));
        assert_eq!(open(&mut world, "pve2"), Some(5900));
        world.advance(PATIENCE);
        assert_eq!(open(&mut world, "pve1"), Some(5900));
    }
}
