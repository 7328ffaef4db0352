//! An answer without end, and how much of it was taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Semaphore;

/// More than the buffers of a connection hold.
pub(crate) const UNDER_WAY: u64 = 24 << 20;

/// Where an answer without end does end, if nobody hangs up before.
const ENOUGH: u64 = 1 << 30;

/// How long a client may take to hang up once it has given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A beginning, and then the same piece again and again until the client hangs up.
pub(crate) struct Pour {
    head: Vec<u8>,
    piece: Vec<u8>,
    poured: Arc<Poured>,
}

/// What became of all answers without end of one test.
#[derive(Debug)]
pub(crate) struct Poured {
    bytes: AtomicU64,
    hung_up: Semaphore,
}

impl Poured {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            hung_up: Semaphore::new(0),
        })
    }

    /// One more answer.
    pub(crate) fn pour(self: &Arc<Self>, head: &[u8], piece: &[u8]) -> super::super::server::Act {
        super::super::server::Act::Pour(Pour {
            head: head.to_vec(),
            piece: piece.to_vec(),
            poured: Arc::clone(self),
        })
    }

    /// How much was taken until the client hung up on so many answers.
    pub(crate) async fn taken(&self, answers: u32) -> u64 {
        let hung_up = self.hung_up.acquire_many(answers);
        let hung_up = tokio::time::timeout(PATIENCE, hung_up).await;
        assert!(hung_up.is_ok(), "the client stays on the line");
        self.bytes.load(Ordering::SeqCst)
    }
}

impl Pour {
    pub(crate) async fn into(self, stream: &mut (impl AsyncWrite + Unpin)) {
        let mut next = &self.head;
        while self.poured.bytes.load(Ordering::SeqCst) < ENOUGH {
            let sent = async {
                stream.write_all(next).await?;
                stream.flush().await
            };
            if sent.await.is_err() {
                break;
            }
            let count = u64::try_from(next.len()).unwrap();
            self.poured.bytes.fetch_add(count, Ordering::SeqCst);
            next = &self.piece;
            // A client on the same thread has to have its turn.
            tokio::task::yield_now().await;
        }
        self.poured.hung_up.add_permits(1);
    }
}
