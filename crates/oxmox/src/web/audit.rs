//! The audit trail, one row for each attempt, and the state of its chain.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::store::{AuditEntry, Link, Verified};
use tools::tool::Object;

use super::Page;
use super::answer::{Answer, Json, sent};
use super::door::Person;

/// So many of the last entries are searched.
const SEARCHED: u32 = 10_000;
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
    let trail = store.audit_trail(SEARCHED).await?;
    let all = person.caller.bounds.clusters.is_empty();
    let words: Vec<_> = filter
        .words
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let is = |row: &Object, field: &str, wanted: &str| {
        row.get(field).is_some_and(|value| value == wanted)
    };
    let mut found = attempts(trail).into_iter().rev().filter(|row| {
        let name = &person.caller.name;
        // An entry does not say which cluster it is about: whoever does not reach all of them sees what is their own.
        let own = all || is(row, "caller", name) || is(row, "confirmed_by", name);
        let seq = row.get("seq").and_then(Value::as_i64);
        let before = filter.before.is_none_or(|before| seq < Some(before));
        let result = filter.result.is_empty() || is(row, "result", &filter.result);
        own && before && result && holds(row, &words)
    });
    let rows: Vec<_> = found.by_ref().take(SHOWN).map(Value::Object).collect();
    let more = found.next().is_some();
    Ok(Json(
        json!({ "rows": rows, "more": more, "searched": SEARCHED }),
    ))
}

/// Whether nobody tampered with the trail, as far as it can be seen without a head from before.
pub(super) async fn chain(State(page): State<Arc<Page>>) -> Answer {
    let store = page.engine.store().await?;
    Ok(Json(match store.verify_audit(None).await? {
        Verified::Whole { entries, head, .. } => {
            json!({ "whole": true, "entries": entries, "head": head })
        }
        Verified::Broken { seq } => json!({ "whole": false, "broken_at": seq }),
    }))
}

/// One row for each attempt, oldest first, with what became of it.
fn attempts(trail: Vec<Link>) -> Vec<Object> {
    let mut rows: Vec<Object> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for Link { seq, entry, .. } in trail {
        let plan = match &entry {
            AuditEntry::Opened { plan, .. } | AuditEntry::Closed { plan, .. } => plan.clone(),
        };
        let is_new = matches!(entry, AuditEntry::Opened { .. });
        let Ok(Value::Object(mut entry)) = serde_json::to_value(&entry) else {
            continue;
        };
        entry.remove("kind");
        tools::clean::object(&mut entry);
        if is_new {
            entry.insert("seq".to_owned(), json!(seq));
            open.insert(plan, rows.len());
            rows.push(entry);
        } else if let Some(row) = open.get(&plan).and_then(|at| rows.get_mut(*at)) {
            // The entry that it closes; one that is too old to be shown is passed over.
            if let Some(at) = entry.remove("at") {
                entry.insert("ended".to_owned(), at);
            }
            row.append(&mut entry);
        }
    }
    rows
}

fn holds(row: &Object, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let fields = [
        "caller",
        "tool",
        "summary",
        "plan",
        "risk",
        "confirmed_by",
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
