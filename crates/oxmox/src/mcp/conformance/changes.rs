//! Lists that change. Ours never do; the suite wants to see that who listens is told, and only of what it asked for.

use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use tokio::sync::broadcast;

#[derive(Clone, Copy)]
enum List {
    Tools,
    Prompts,
}

static CHANGED: LazyLock<broadcast::Sender<List>> = LazyLock::new(|| broadcast::Sender::new(16));

/// Tells all who listen.
pub(super) fn tell(fixture: &str) {
    let list = if fixture.contains("prompt") {
        List::Prompts
    } else {
        List::Tools
    };
    // Nobody listens: nobody has to be told.
    let _ = CHANGED.send(list);
}

/// What is granted of a wish to listen, with the changes of lists that were wished for.
pub(in crate::mcp) fn granted(
    mut granted: SubscriptionFilter,
    wish: &SubscriptionFilter,
) -> SubscriptionFilter {
    granted.tools_list_changed = wish.tools_list_changed;
    granted.prompts_list_changed = wish.prompts_list_changed;
    granted
}

/// Passes changes of lists on, as long as the server itself passes on what it has to tell.
pub(in crate::mcp) async fn beside_list_changes(
    listening: impl Future<Output = Result<(), ErrorData>>,
    subscription: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let mut changed = CHANGED.subscribe();
    let passing_on = async {
        while let Ok(list) = changed.recv().await {
            let sink = subscription.sink();
            // What was not wished for is held back here.
            let _ = match list {
                List::Tools => sink.notify_tool_list_changed().await,
                List::Prompts => sink.notify_prompt_list_changed().await,
            };
        }
    };
    tokio::select! {
        ended = listening => ended,
        () = passing_on => Ok(()),
    }
}
