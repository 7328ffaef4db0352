//! The tools of oxmox, the plans they return, and the engine that applies them. No transport in here.
//!
//! Read in this order: [`tool`] (the two shapes of a tool), [`plan`] (what a change is), [`engine`] (the life of
//! a call), then any file in [`area`]: two read and you know them all.
//!
//! | module | what lives there |
//! |---|---|
//! | [`spec`], [`deed`], [`need`] | what a tool declares about itself |
//! | [`tool`], [`schema`], [`registry`] | from a declaration to tools/list and to parsed arguments |
//! | [`context`], [`begun`], [`claim`], [`filter`] | what a tool may look at, and how a caller picks from it |
//! | [`plan`], [`preview`], [`outcome`] | a change before, shown, and after |
//! | [`risk`], [`policy`] | what a change can cost, and whether it may run |
//! | [`engine`] | the one place that sends |
//! | [`store`], [`keys`], [`private_file`], [`baseline`] | what outlives a call |
//! | [`rights`] | what the tokens may do, and which tools are of no use for that |
//! | [`search`] | finding a method or a tool by what people call it |
//! | [`keyboard`], [`screen`], [`picture`] | what consoles need: keys, screens, PNG |
//! | `volume` | what the name of a volume tells |
//! | [`uploads`] | files of this machine that may be sent |
//! | [`hold`] | what the calls under way are about to make |
//! | `agent` | the guest agent inside a VM |
//! | `plain` | tools that are one method of PVE's API each, as data |
//! | [`fault`], [`words`], [`clean`], [`echo`] | what callers read |
//! | [`area`] | the tools |

mod agent;
pub mod area;
pub mod baseline;
pub mod begun;
pub mod caller;
pub mod claim;
pub mod clean;
pub mod context;
pub mod deed;
pub mod echo;
pub mod engine;
pub mod fault;
pub mod filter;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod hold;
pub mod inherited;
pub mod keyboard;
pub mod keys;
pub mod meter;
pub mod need;
pub mod outcome;
mod paths;
pub mod picture;
mod plain;
pub mod plan;
pub mod policy;
pub mod preview;
pub mod private_file;
#[cfg(test)]
mod reference;
pub mod registry;
pub mod rights;
pub mod risk;
pub mod schema;
pub mod screen;
pub mod search;
pub mod spec;
pub mod store;
pub mod terminal;
pub mod tool;
pub mod uploads;
mod volume;
pub mod words;
