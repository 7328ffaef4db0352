//! Subscriptions to resources, in both eras: `resources/subscribe` in a 2025 session, `subscriptions/listen` as one long
//! request in 2026. What feeds them is in `watch`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::{self, SelectAll};
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use tokio::task::AbortHandle;

use super::Server;
use super::peer::{self, Context};
use super::resources;
use super::watch::{Listener, TooMany};

/// The most resources that one client listens to.
const MOST_PER_CLIENT: usize = 100;

/// What a 2025 session listens to. Ends with it.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, AbortHandle>>);

impl Subscriptions {
    fn has_room_for(&self, uri: &str) -> bool {
        let all = self.all();
        all.contains_key(uri) || all.len() < MOST_PER_CLIENT
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.all().drain().for_each(|(_, task)| task.abort());
    }
}

impl Server {
    /// resources/subscribe
    pub(super) async fn begin_listening(&self, uri: &str, ctx: &Context) -> Result<(), ErrorData> {
        let address = resources::find(&self.reached(ctx), uri)?;
        if !self.subscriptions.has_room_for(uri) {
            return Err(too_many(&TooMany::Resources));
        }
        let who = peer::known_as(ctx);
        let listener = self.shared.watcher.listen(uri, &address, who).await;
        let listener = listener.map_err(|why| too_many(&why))?;
        let until = peer::acts_until(ctx);
        let forwarding = forward(listener, ctx.peer.clone());
        let task = tokio::spawn(until.run_until_cancelled_owned(forwarding));
        let old = self
            .subscriptions
            .all()
            .insert(uri.to_owned(), task.abort_handle());
        if let Some(old) = old {
            old.abort();
        }
        Ok(())
    }

    /// resources/unsubscribe. What was not subscribed to needs no end.
    pub(super) fn end_listening(&self, uri: &str) {
        if let Some(task) = self.subscriptions.all().remove(uri) {
            task.abort();
        }
    }

    /// What of a wish to listen is granted: changes of resources that there may be, on the clusters that the caller reaches.
    /// The lists never change.
    pub(super) fn granted(&self, wish: &SubscriptionFilter) -> SubscriptionFilter {
        let all = self.shared.engine.clusters().iter();
        let names = self.granted.as_ref();
        let granted = all.filter(|it| names.is_none_or(|names| names.contains(&it.name)));
        let clusters: Vec<_> = granted.cloned().collect();
        let uris = wish.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::find(&clusters, uri).is_ok());
        let mut granted = SubscriptionFilter::new();
        granted.resource_subscriptions = Some(known.take(MOST_PER_CLIENT).cloned().collect());
        granted
    }

    /// subscriptions/listen, until the client ends it, or nobody may act any more as it does.
    pub(super) async fn keep_listening(
        &self,
        subscription: &SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let until = peer::acts_until(subscription.request_context());
        // All along: the first looks alone can take long.
        tokio::select! {
            () = subscription.cancelled() => Ok(()),
            () = until.cancelled() => Ok(()),
            ended = self.pass_on(subscription) => ended,
        }
    }

    /// Tells of changes for as long as anybody hears of them.
    async fn pass_on(&self, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
        let ctx = subscription.request_context();
        // As the caller sees them: by the clusters that it reaches, and by its own token of PVE if it has one.
        let clusters = self.reached(ctx);
        let mut news = SelectAll::new();
        let accepted = subscription.accepted().resource_subscriptions.iter();
        for uri in accepted.flatten() {
            let Ok(address) = resources::find(&clusters, uri) else {
                continue;
            };
            let who = peer::known_as(ctx);
            let listener = self.shared.watcher.listen(uri, &address, who).await;
            // Better an end than a stream that stays silent about what it has granted.
            let listener = listener.map_err(|why| too_many(&why))?;
            news.push(Box::pin(changes(listener)));
        }
        while let Some(uri) = news.next().await {
            let told = subscription.sink().notify_resource_updated(uri).await;
            if told.is_err() {
                return Ok(());
            }
        }
        // There was nothing to listen to, and the client ends what it has begun.
        std::future::pending().await
    }
}

/// Passes changes on to a 2025 session.
async fn forward(mut listener: Listener, peer: rmcp::Peer<rmcp::RoleServer>) {
    while listener.changed().await {
        let note = ResourceUpdatedNotificationParam::new(listener.uri.clone());
        if peer.notify_resource_updated(note).await.is_err() {
            return;
        }
    }
}

/// The address, once for every change.
fn changes(listener: Listener) -> impl stream::Stream<Item = String> {
    stream::unfold(listener, |mut listener| async {
        let changed = listener.changed().await;
        changed.then(|| (listener.uri.clone(), listener))
    })
}

fn too_many(why: &TooMany) -> ErrorData {
    let message = match why {
        TooMany::Resources => "too many resources are listened to; unsubscribe from some first",
        TooMany::Identities => {
            "this cluster is listened to by too many tokens of PVE; end what listens by one of them first"
        }
    };
    ErrorData::invalid_request(message, None)
}
