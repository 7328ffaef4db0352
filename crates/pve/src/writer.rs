//! The half of a connection that can only change.

use std::sync::Arc;

use crate::client::Client;
use crate::error::Error;
use crate::request::{Method, Request};
use crate::source::Source;

/// Sends changes to a cluster. Made only by [`connect`](crate::connect), and there is one per connection.
///
/// ```compile_fail
/// fn two_of_them(writer: pve::Writer) -> (pve::Writer, pve::Writer) {
///     (writer.clone(), writer)
/// }
/// ```
#[derive(Debug)]
pub struct Writer {
    client: Arc<Client>,
}

impl Writer {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a POST, PUT or DELETE and gives its `data`, often the UPID of a task.
    ///
    /// It is repeated only while PVE has certainly not seen it. After an error with
    /// [`is_maybe_sent`](Error::is_maybe_sent) the caller must find out what became of it. A GET and a request with
    /// holes are refused before anything is sent.
    pub async fn send(&self, request: &Request) -> Result<serde_json::Value, Error> {
        if request.method == Method::Get {
            return Err(request.build_error("a writer does not send GET"));
        }
        self.client.call(request).await?.decode()
    }

    /// Sends a POST whose last parameter is a file: the parameter's value is its name, and `source` holds its bytes. The
    /// others become the parts of the form before it, in their order, which matters to PVE.
    ///
    /// The same rules as for [`send`](Self::send) hold. What takes long is not lost as long as bytes move.
    pub async fn upload(
        &self,
        request: &Request,
        source: Arc<dyn Source>,
    ) -> Result<serde_json::Value, Error> {
        if request.method != Method::Post {
            return Err(request.build_error("a file goes with a POST"));
        }
        self.client.upload(request, source).await?.decode()
    }
}
