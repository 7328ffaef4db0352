//! The engine's line to the client during one call: progress out, a question out and its answer in.

use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitResult, ProgressNotificationParam, ProgressToken,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;
use tools::engine::{Asked, Progress, Question, Talk};
use tools::fault::Fault;

use super::form;
use super::peer::{self, Context};
use crate::http::Admission;

/// How often a client is told that a person is still being waited for; many give up on a silent call after a minute.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// What the engine gets to talk to.
pub(super) struct Line<'a> {
    ctx: &'a Context,
    caller: &'a str,
    patience: Duration,
    news: UnboundedSender<Progress>,
    admission: Option<Admission>,
    /// Cancelled once the caller is not admitted any more.
    shut_out: CancellationToken,
}

impl<'a> Line<'a> {
    /// A line to the client of this request, and the progress that comes out of it, for [`Notes`].
    pub(super) fn new(
        ctx: &'a Context,
        caller: &'a str,
        patience: Duration,
    ) -> (Self, UnboundedReceiver<Progress>) {
        let (news, feed) = unbounded_channel();
        let line = Self {
            ctx,
            caller,
            patience,
            news,
            admission: peer::admission(ctx),
            shut_out: CancellationToken::new(),
        };
        (line, feed)
    }

    /// Returns once the caller is not admitted any more: what waits for them has to end.
    pub(super) async fn shut_out(&self) {
        match &self.admission {
            Some(admission) => admission.ended().await,
            None => std::future::pending().await,
        }
        self.shut_out.cancel();
    }

    async fn put(&self, question: &Question) -> Asked {
        if !peer::can_show_form(self.ctx) {
            return Asked::Nobody;
        }
        if !form::fits(question) {
            return Asked::Undecided;
        }
        if peer::is_stateless(self.ctx) {
            return Asked::Later;
        }
        match self.elicit(form::of(question)).await {
            Some(said) => form::answer(&said, self.caller),
            None => Asked::Undecided,
        }
    }

    /// Puts a form to the person at a client that waits for its call. Whoever gives no answer, for whatever reason, has
    /// not said no, and the plan stays open for `oxmox approve`; but there is somebody to ask, so it is not the model's to
    /// confirm either.
    pub(super) async fn elicit(&self, form: ElicitRequest) -> Option<ElicitResult> {
        let request = ServerRequest::ElicitRequest(form);
        let options = PeerRequestOptions::with_timeout(self.patience);
        // Sent from the call's own task: rmcp finds by it the stream that the client listens on.
        let asked = self.ctx.peer.send_request_with_option(request, options);
        self.hear(asked.await.ok()?).await
    }

    async fn hear(&self, asked: RequestHandle<rmcp::RoleServer>) -> Option<ElicitResult> {
        let answer = asked.await_response();
        tokio::pin!(answer);
        let mut alive = interval_at(Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
        loop {
            tokio::select! {
                () = self.ctx.ct.cancelled() => return None,
                () = self.shut_out.cancelled() => return None,
                _ = alive.tick() => self.progress(Progress {
                    fraction: None,
                    message: "waiting for a person to decide".to_owned(),
                }),
                answer = &mut answer => return match answer {
                    Ok(ClientResult::ElicitResult(said)) => Some(said),
                    Err(ServiceError::Timeout { .. }) => None,
                    // Without the client's words: they may repeat the question, and with it a secret text.
                    Err(ServiceError::McpError(error)) => {
                        let code = error.code.0;
                        tracing::warn!(code, "the client could not ask the person");
                        None
                    }
                    _ => {
                        tracing::warn!("the client could not ask the person");
                        None
                    }
                },
            }
        }
    }
}

impl Talk for Line<'_> {
    fn progress(&self, progress: Progress) {
        // The receiver lives as long as the call.
        let _ = self.news.send(progress);
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(self.put(question))
    }

    fn gone(&self) -> bool {
        self.ctx.ct.is_cancelled() || self.shut_out.is_cancelled()
    }

    fn admitted(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async {
            match &self.admission {
                Some(admission) => admission.check().await,
                None => Ok(()),
            }
        })
    }
}

/// Sends progress as notifications, to a client that asked for them.
pub(super) struct Notes<'a> {
    ctx: &'a Context,
    token: Option<ProgressToken>,
    scale: Scale,
}

impl<'a> Notes<'a> {
    /// For the client of this request.
    pub(super) fn new(ctx: &'a Context) -> Self {
        Self {
            ctx,
            token: ctx.meta.get_progress_token(),
            scale: Scale::default(),
        }
    }

    /// Sends one.
    pub(super) async fn send(&mut self, progress: Progress) {
        let Some(token) = self.token.clone() else {
            return;
        };
        let note = ProgressNotificationParam::new(token, self.scale.next(progress.fraction))
            .with_total(Scale::TOTAL)
            .with_message(progress.message);
        if let Err(error) = self.ctx.peer.notify_progress(note).await {
            tracing::debug!(%error, "nobody listens to the progress");
            self.token = None;
        }
    }
}

/// MCP wants every value above the one before. A plan's tasks each count from 0, and some do not count.
#[derive(Default)]
struct Scale {
    last: f64,
}

impl Scale {
    const TOTAL: f64 = 100.0;
    /// The end is told by the answer, not by progress.
    const MOST: f64 = 99.0;

    fn next(&mut self, fraction: Option<f64>) -> f64 {
        let told = fraction.map_or(0.0, |fraction| {
            (fraction * Self::TOTAL).clamp(0.0, Self::MOST)
        });
        let a_little_more = self.last + (Self::TOTAL - self.last) / 100.0;
        self.last = if told > self.last {
            told
        } else {
            a_little_more
        };
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_only_ever_grows_and_never_arrives() {
        let mut scale = Scale::default();
        let mut last = 0.0;
        let told = [
            None,
            Some(0.5),
            Some(0.1),
            Some(1.0),
            None,
            Some(f64::NAN),
            Some(1.0),
        ];
        for fraction in told.into_iter().chain([None; 100]) {
            let next = scale.next(fraction);
            assert!(next > last && next < Scale::TOTAL, "{next} after {last}");
            last = next;
        }
    }

    #[test]
    fn what_pve_says_is_passed_on() {
        let mut scale = Scale::default();
        assert!((scale.next(Some(0.5)) - 50.0).abs() < f64::EPSILON);
        assert!((scale.next(Some(0.75)) - 75.0).abs() < f64::EPSILON);
    }
}
