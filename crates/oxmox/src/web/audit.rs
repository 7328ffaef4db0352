//! The audit trail, one row for each attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::caller::Caller;
use tools::store::{AuditEntry, Link};
use tools::tool::Object;

use super::Page;
use super::answer::{Answer, Json, sent};
use super::door::Person;

/// So many of the last entries are searched at most.
const SEARCHED: usize = 100_000;
/// So many attempts are shown at a time.
const SHOWN: usize = 100;

/// What to show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Filter {
    /// All of these words are somewhere in the row.
    words: String,
    /// How it ended; empty: however.
    result: String,
    /// Only before this entry: the next page.
    before: Option<i64>,
}

/// The last attempts that match, newest first.
pub(super) async fn list(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    body: Bytes,
) -> Answer {
    let filter: Filter = sent(&body)?;
    let store = page.engine.store().await?;
    let wanted = Wanted::new(filter, &person.caller);
    let mut attempts = Attempts::default();
    let (mut rows, mut searched, mut oldest) = (Vec::new(), 0, None);
    let mut next = Some(i64::MAX);
    while let Some(before) = next.filter(|_| rows.len() <= SHOWN && searched < SEARCHED) {
        let (links, after) = store.audit_before(before).await?;
        next = after;
        for link in links {
            searched += 1;
            let (AuditEntry::Opened { at, .. }
            | AuditEntry::Closed { at, .. }
            | AuditEntry::Decided { at, .. }) = &link.entry;
            oldest = Some(*at);
            let row = attempts.back_to(link);
            rows.extend(row.filter(|row| wanted.matches(row)));
        }
    }
    let more = rows.len() > SHOWN;
    rows.truncate(SHOWN);
    let rows: Vec<_> = rows.into_iter().map(Value::Object).collect();
    // Plainly how far it looked, where that is not to the beginning.
    let back_to = oldest.filter(|_| next.is_some());
    Ok(Json(
        json!({ "rows": rows, "more": more, "searched": searched, "back_to": back_to }),
    ))
}

/// Which attempts are asked for, and may be seen.
struct Wanted {
    words: Vec<String>,
    result: String,
    before: Option<i64>,
    /// About which clusters or, whatever they are about, whose; `None`: all.
    within: Option<(Vec<String>, String)>,
}

impl Wanted {
    fn new(filter: Filter, person: &Caller) -> Self {
        let words = filter.words.split_whitespace().map(str::to_lowercase);
        // Entries of calls that came to no plan, and old ones, do not say which cluster they are about: of these, whoever does
        // not reach all clusters sees what is their own.
        let clusters = &person.bounds.clusters;
        Self {
            words: words.collect(),
            result: filter.result,
            before: filter.before,
            within: (!clusters.is_empty()).then(|| (clusters.clone(), person.name.clone())),
        }
    }

    fn matches(&self, row: &Object) -> bool {
        let is = |field: &str, wanted: &str| row.get(field).is_some_and(|value| value == wanted);
        let by = ["caller", "confirmed_by", "decided_by"];
        let is_seen = |(clusters, name): &(Vec<String>, String)| {
            clusters.iter().any(|cluster| is("cluster", cluster))
                || by.iter().any(|field| is(field, name))
        };
        let seq = row.get("seq").and_then(Value::as_i64);
        self.within.as_ref().is_none_or(is_seen)
            && self.before.is_none_or(|before| seq < Some(before))
            && (self.result.is_empty() || is("result", &self.result))
            && holds(row, &self.words)
    }
}

/// One row for each attempt, with what became of it, and for each decision, from the newest entry backwards.
#[derive(Default)]
struct Attempts {
    /// What became of those whose beginning is further back.
    closings: BTreeMap<String, Object>,
}

impl Attempts {
    /// One entry further back: a row, if it is the beginning of an attempt or a decision.
    fn back_to(&mut self, Link { seq, entry, .. }: Link) -> Option<Object> {
        let plan = match &entry {
            AuditEntry::Opened { plan, .. }
            | AuditEntry::Closed { plan, .. }
            | AuditEntry::Decided { plan, .. } => plan.clone(),
        };
        let is_opening = matches!(entry, AuditEntry::Opened { .. });
        let is_decision = matches!(entry, AuditEntry::Decided { .. });
        let Ok(Value::Object(mut entry)) = serde_json::to_value(&entry) else {
            return None;
        };
        entry.remove("kind");
        tools::clean::object(&mut entry);
        if is_decision {
            // A row of its own, which nothing closes.
            entry.insert("seq".to_owned(), json!(seq));
            if let Some(decision) = entry.remove("decision") {
                entry.insert("result".to_owned(), decision);
            }
            return Some(entry);
        }
        if !is_opening {
            if let Some(at) = entry.remove("at") {
                entry.insert("ended".to_owned(), at);
            }
            // The last word on it counts.
            self.closings.entry(plan).or_insert(entry);
            return None;
        }
        entry.insert("seq".to_owned(), json!(seq));
        if let Some(mut closing) = self.closings.remove(&plan) {
            entry.append(&mut closing);
        }
        Some(entry)
    }
}

fn holds(row: &Object, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let fields = [
        "caller",
        "cluster",
        "tool",
        "summary",
        "plan",
        "risk",
        "confirmed_by",
        "decided_by",
        "pve_identity",
        "result",
        "reason",
    ];
    let mut text = String::new();
    for value in fields.iter().filter_map(|field| row.get(*field)?.as_str()) {
        text.push_str(&value.to_lowercase());
        text.push('\n');
    }
    words.iter().all(|word| text.contains(word))
}
