//! Asking many things without asking too much at once.

use futures_util::StreamExt as _;
use futures_util::stream;

/// How many questions are open at a time. A PVE node answers with three workers.
const AT_ONCE: usize = 8;

/// Asks about each item, a few at a time; the answers come in the order of the items. Items are owned: the compiler
/// cannot prove a future that holds borrowed ones to be Send.
pub(super) async fn each<T, F: Future>(items: Vec<T>, ask: impl FnMut(T) -> F) -> Vec<F::Output> {
    each_then(items, ask, |answer| answer).await
}

/// The same, each answer made into what is kept of it as soon as it is there: all of them together may be large.
pub(super) async fn each_then<T, F: Future, K>(
    items: Vec<T>,
    ask: impl FnMut(T) -> F,
    keep: impl FnMut(F::Output) -> K,
) -> Vec<K> {
    stream::iter(items)
        .map(ask)
        .buffered(AT_ONCE)
        .map(keep)
        .collect()
        .await
}
