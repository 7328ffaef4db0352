//! Words to documents: a small full-text index that finds a method of PVE's API, or a tool, by what a person would
//! call it. No network, no files, no state: an [`Index`] is built from [`Document`]s and asked with [`Index::find`].
//!
//! | file | what it does |
//! |---|---|
//! | `document` | what can be found: fields of text, a verb, what a request for it must name |
//! | `method`, `tool` | from a method of PVE's API, and from a tool, to a document |
//! | `token`, `stem`, `terms` | from text to words, from words to stems, from stems to numbers |
//! | `vocabulary` (+ `.txt`) | what people say and what Proxmox calls it: reviewed data |
//! | `everyday` (+ `.txt`) | what people say for the methods at a path: reviewed data |
//! | `clause`, `reading`, `wish`, `intent` | from a request to clauses, to known words, to sayings and what they want |
//! | `query` | all of that together: weighted terms and an intent |
//! | `near` | the known words that an unknown one may be |
//! | `postings` | which documents have a term, and how much of it |
//! | `index` | BM25F over the fields, and what speaks for or against a document besides its words |

mod clause;
mod document;
mod everyday;
mod index;
mod intent;
mod method;
mod near;
mod postings;
mod query;
mod reading;
mod stem;
mod terms;
#[cfg(test)]
mod tests;
mod token;
mod tool;
mod vocabulary;
mod wish;

pub use document::{Document, Field};
pub use index::{Hit, Index};
pub use method::{ApiMethod, methods};
pub use tool::tool;
