//! Calls as spans of OpenTelemetry, sent as OTLP over HTTP in JSON: <https://opentelemetry.io/docs/specs/otlp/>. By hand, since one
//! kind of span needs none of the thirty crates of an exporter. A collector that is slow or gone costs spans, never calls.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::fetch;
use crate::mcp::trace::{Export, Span, Traces};

/// How many spans wait at most.
const WAITING: usize = 2048;
/// How many are sent at once.
const TOGETHER: usize = 256;
/// How long the first of them waits for others.
const PAUSE: Duration = Duration::from_secs(2);
/// How long the end waits for the last of them.
const LAST: Duration = Duration::from_secs(3);

/// Sends spans to a collector at this address.
pub(super) fn to(url: String) -> Traces {
    let (traces, spans) = mpsc::channel(WAITING);
    tokio::spawn(export(url, spans));
    traces
}

/// Waits until what was handed over before has been sent.
pub(super) async fn flush(traces: &Traces) {
    let (done, sent) = oneshot::channel();
    if traces.try_send(Export::Flush(done)).is_ok() {
        let _ = tokio::time::timeout(LAST, sent).await;
    }
}

async fn export(url: String, mut spans: mpsc::Receiver<Export>) {
    let mut is_lost = false;
    while let Some(first) = spans.recv().await {
        let mut batch = Vec::new();
        let mut waits = Vec::new();
        let collect = async {
            let mut next = Some(first);
            while let Some(export) = next {
                match export {
                    Export::Span(span) => batch.push(*span),
                    Export::Flush(done) => {
                        waits.push(done);
                        return;
                    }
                }
                if batch.len() >= TOGETHER {
                    return;
                }
                next = spans.recv().await;
            }
        };
        let _ = tokio::time::timeout(PAUSE, collect).await;
        if !batch.is_empty() {
            let sent = fetch::post(&url, message(&batch).to_string()).await;
            match (&sent, is_lost) {
                // Once, not for every batch of the night.
                (Err(why), false) => tracing::warn!(url, why, "traces cannot be sent"),
                (Ok(()), true) => tracing::warn!(url, "traces are sent again"),
                _ => {}
            }
            is_lost = sent.is_err();
        }
        for done in waits {
            let _ = done.send(());
        }
    }
}

fn message(spans: &[Span]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", "oxmox"), text("service.version", version)]},
        "scopeSpans": [{
            "scope": {"name": "oxmox", "version": version},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]})
}

fn span(span: &Span) -> Value {
    let mut attributes = vec![
        text("mcp.method.name", "tools/call"),
        text("gen_ai.tool.name", &span.tool),
        text("enduser.id", &span.caller),
    ];
    let mut told = json!({
        "traceId": span.trace,
        "spanId": span.id,
        "name": format!("tools/call {}", span.tool),
        "kind": 2,
        "startTimeUnixNano": nanos(span.begun),
        "endTimeUnixNano": nanos(span.ended),
        "status": {},
    });
    if let Some(kind) = span.failed {
        attributes.push(text("error.type", kind));
        told["status"] = json!({"code": 2});
    }
    if let Some(parent) = &span.parent {
        told["parentSpanId"] = parent.as_str().into();
    }
    if let Some(state) = &span.state {
        told["traceState"] = state.as_str().into();
    }
    told["attributes"] = attributes.into();
    told
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn nanos(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}
