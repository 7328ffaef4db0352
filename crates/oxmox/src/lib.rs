//! The oxmox program, as a library so that its tests reach it; `main.rs` only calls [`cli::main`].
//!
//! | module | what lives there |
//! |---|---|
//! | [`cli`] | the commands |
//! | [`config`] | flags, environment and file into one value |
//! | [`doctor`] | what works, what does not, and what to type about it |
//! | [`clients`], [`files`] | the configuration files of MCP clients, and writing what belongs to a person |
//! | [`setup`], [`keep`] | `oxmox setup`, and where secrets are kept |
//! | [`program`] | asking programs of others, with an end |
//! | [`session`], [`demo`] | from a configuration, or from nothing, to an engine |
//! | [`mcp`], [`http`] | the transports; rmcp's API is used there and nowhere else, since it moves |
//! | `lasting` | answers that go on, and when they end |
//! | [`syslog`] | copies of the audit trail for the system's log |
//! | [`token`] | how callers over the network are known |
//! | `unanswered` | what was asked and not answered, in words |
//! | [`web`] | the page for people, and what it asks for |
//! | [`generate`] | the documents that are made from the registry and the configuration |

pub mod cli;
pub mod clients;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod generate;
pub mod http;
pub mod keep;
mod lasting;
pub mod mcp;
pub mod program;
pub mod session;
pub mod setup;
pub mod syslog;
pub mod token;
mod unanswered;
pub mod web;
