//! One judgement for everything that is sent: what it can cost, and what it is about.
//!
//! Risk comes from the request, never from the tool that planned it: the table says what each method and
//! each parameter can do, `judge` applies it, `settle` reads the facts that lower a risk and makes them guards.
//! Nothing in here knows a tool.

#[cfg(test)]
mod coverage;
mod danger;
mod facts;
mod judge;
mod path;
mod property;
mod row;
mod setting;
mod settle;
mod subject;
mod table;

pub use danger::{Danger, dangers};
pub use judge::Judgement;
#[cfg(test)]
pub(crate) use judge::worst_of_method;
pub(crate) use judge::{least_risk, node_power, read_risk, worst_risk};
pub(crate) use property::flag;
pub(crate) use settle::{is_stopped, judge_plan, settle};
pub(crate) use subject::{Subject, Use, Which, of_job, subjects};
