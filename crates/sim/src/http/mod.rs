//! Everything that speaks HTTP: requests and responses as values, decoding, rendering, TLS, the listeners, websockets.

mod accept;
pub(crate) mod cut;
pub(crate) mod decode;
pub(crate) mod message;
pub(crate) mod multipart;
pub(crate) mod render;
pub(crate) mod server;
pub(crate) mod tls;
pub(crate) mod websocket;

pub use message::{Request, Response};
pub use multipart::{Form, Received};
