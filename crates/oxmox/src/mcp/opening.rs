//! What a client may send before its first request: notifications, which nobody answers and which end nothing.

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that leaves out the notifications before the first other message: rmcp would end the connection.
pub(super) struct Opening<T> {
    inner: T,
    begun: bool,
}

impl<T> Opening<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            begun: false,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await;
            let is_early = matches!(message, Some(JsonRpcMessage::Notification(_))) && !self.begun;
            if !is_early {
                self.begun = true;
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// The error in words of ours where rmcp would dump the message, which may hold anything.
pub(super) fn in_words(error: &ServerInitializeError) -> String {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "its first message is not a request".to_owned()
        }
        ServerInitializeError::UnexpectedInitializeResponse(_) => {
            "its first request could not be answered".to_owned()
        }
        other => other.to_string(),
    }
}
