//! Everything that speaks HTTP: requests and responses as values, decoding, rendering, TLS, the listeners.

pub(crate) mod decode;
pub(crate) mod message;
mod multipart;
pub(crate) mod render;
pub(crate) mod server;
pub(crate) mod tls;

pub use message::{Request, Response};
