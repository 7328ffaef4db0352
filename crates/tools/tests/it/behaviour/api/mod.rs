//! Any path of the API, by the cluster's own schema.

mod guests;
mod reading;
mod schema;
mod searching;
mod writing;
