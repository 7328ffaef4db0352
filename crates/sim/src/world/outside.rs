//! A machine whose display is a real one: its VNC server and its monitor are elsewhere, and told what to do.

use std::net::SocketAddr;

use tokio::sync::{mpsc, oneshot};

/// Where a display is. Orders to its monitor are carried out later, in the order they were given.
#[derive(Clone, Debug)]
pub struct Outside {
    vnc: SocketAddr,
    monitor: mpsc::UnboundedSender<Order>,
}

/// Something for a monitor to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Press keys: `ctrl-alt-delete`.
    Keys(String),
    /// Let in VNC clients that know this, and say whether that worked.
    Password(String, oneshot::Sender<Result<(), String>>),
}

impl Outside {
    /// A display at this address, whose monitor gets its orders from the receiver.
    pub(crate) fn new(vnc: SocketAddr) -> (Self, mpsc::UnboundedReceiver<Order>) {
        let (monitor, orders) = mpsc::unbounded_channel();
        (Self { vnc, monitor }, orders)
    }

    /// Where its VNC server listens.
    pub(crate) fn vnc(&self) -> SocketAddr {
        self.vnc
    }

    /// Presses keys.
    pub(crate) fn press(&self, combination: &str) {
        // An error here is a machine that is gone.
        let _ = self.monitor.send(Order::Keys(combination.to_owned()));
    }

    /// Sets the password for the next client.
    pub(crate) async fn set_password(&self, password: &str) -> Result<(), String> {
        let (done, outcome) = oneshot::channel();
        let gone = || "VNC server is gone".to_owned();
        let order = Order::Password(password.to_owned(), done);
        self.monitor.send(order).map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }
}
