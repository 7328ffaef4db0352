//! Asking many things without asking too much at once.

use futures_util::StreamExt as _;
use futures_util::stream;

/// How many questions are open at a time. A PVE node answers with three workers.
const AT_ONCE: usize = 8;

/// Asks about each item, a few at a time; the answers come in the order of the items. Items are owned: the compiler
/// cannot prove a future that holds borrowed ones to be Send.
pub(super) async fn each<T, F: Future>(items: Vec<T>, ask: impl FnMut(T) -> F) -> Vec<F::Output> {
    stream::iter(items)
        .map(ask)
        .buffered(AT_ONCE)
        .collect()
        .await
}
