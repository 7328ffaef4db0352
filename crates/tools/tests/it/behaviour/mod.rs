//! One story each: what happens when the world is not as the caller thinks.

mod agreed;
mod backup;
mod bad_input;
mod bulk;
mod clone;
mod confirm;
mod create;
mod delete;
mod digest;
mod drift;
mod findings;
mod handles;
mod keys;
mod lists;
mod lost_answer;
mod metrics;
mod migrate;
mod policy;
mod power;
mod restore;
mod rollback;
mod snapshot;
mod store;
mod strangers;
mod trouble;
mod update;
