//! A call as a span: what its client calls the trace that it belongs to, and what became of it. What sends spans anywhere is
//! not in here.

use std::fmt::Write as _;
use std::time::SystemTime;

use tokio::sync::{mpsc, oneshot};
use tools::fault::Kind;
use tools::keys;

use super::peer::Context;

/// Where spans go. Full, or gone, it costs spans and nothing else.
pub(crate) type Traces = mpsc::Sender<Export>;

/// What is handed over.
pub(crate) enum Export {
    /// One that has ended.
    Span(Box<Span>),
    /// All before this should be on their way.
    Flush(oneshot::Sender<()>),
}

/// A call that has ended.
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) tool: String,
    pub(crate) caller: String,
    pub(crate) begun: SystemTime,
    pub(crate) ended: SystemTime,
    pub(crate) failed: Option<&'static str>,
}

/// A call that is under way.
pub(super) struct Begun {
    traces: Traces,
    span: Span,
}

/// Begins a span for a call, unless its client wants none.
pub(super) fn begin(
    traces: Option<&Traces>,
    tool: &str,
    caller: &str,
    ctx: &Context,
) -> Option<Begun> {
    let traces = traces?.clone();
    let parent = ctx.meta.get_traceparent().and_then(Parent::parse);
    if parent.as_ref().is_some_and(|parent| !parent.sampled) {
        return None;
    }
    let state = parent.as_ref().and(ctx.meta.get_tracestate());
    let state = state.map(|state| tools::words::clip(state, 512));
    let (trace, parent) = match parent {
        Some(parent) => (parent.trace, Some(parent.span)),
        None => (hex(&keys::random::<16>()), None),
    };
    let now = SystemTime::now();
    Some(Begun {
        traces,
        span: Span {
            trace,
            id: hex(&keys::random::<8>()),
            parent,
            state,
            tool: tools::words::clip(tool, 128),
            caller: caller.to_owned(),
            begun: now,
            ended: now,
            failed: None,
        },
    })
}

impl Begun {
    /// It has ended.
    pub(super) fn end(mut self, failed: Option<Kind>) {
        self.span.ended = SystemTime::now();
        self.span.failed = failed.map(Kind::word);
        let _ = self.traces.try_send(Export::Span(Box::new(self.span)));
    }
}

/// `00-TRACE-SPAN-FLAGS`: <https://www.w3.org/TR/trace-context/>
#[derive(Debug, PartialEq, Eq)]
struct Parent {
    trace: String,
    span: String,
    sampled: bool,
}

impl Parent {
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<_> = text.split('-').collect();
        let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
            return None;
        };
        let is_hex = |part: &str, length| {
            let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            part.len() == length && part.bytes().all(digit)
        };
        let is_some = |part: &str| part.bytes().any(|byte| byte != b'0');
        let is_right = is_hex(version, 2)
            && *version != "ff"
            && (*version != "00" || rest.is_empty())
            && is_hex(trace, 32)
            && is_some(trace)
            && is_hex(span, 16)
            && is_some(span)
            && is_hex(flags, 2);
        let flags = u8::from_str_radix(flags, 16).ok()?;
        is_right.then(|| Self {
            trace: (*trace).to_owned(),
            span: (*span).to_owned(),
            sampled: flags & 1 == 1,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_as_it_is_written_or_not_at_all() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let span = "00f067aa0ba902b7";
        let parent = Parent::parse(&format!("00-{trace}-{span}-01")).unwrap();
        assert_eq!((parent.trace.as_str(), parent.span.as_str()), (trace, span));
        assert!(parent.sampled);
        assert!(
            !Parent::parse(&format!("00-{trace}-{span}-00"))
                .unwrap()
                .sampled
        );
        assert!(Parent::parse(&format!("cc-{trace}-{span}-01-more")).is_some());
        for wrong in [
            String::new(),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-01-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{trace}é-{span}-01"),
        ] {
            assert_eq!(Parent::parse(&wrong), None, "{wrong}");
        }
    }
}
