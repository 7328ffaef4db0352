//! A tool at work: what it tells before its answer goes to the caller at once.

use tokio::sync::mpsc;

use super::Talk;
use crate::context::Context;
use crate::fault::Fault;
use crate::tool::{Object, Ran, Tool};

/// Runs a tool, and passes on what it tells meanwhile.
pub(super) async fn run(
    tool: &dyn Tool,
    arguments: Object,
    mut context: Context,
    talk: &dyn Talk,
) -> Result<Ran, Fault> {
    let (tell, mut news) = mpsc::unbounded_channel();
    context.news = Some(tell);
    let mut running = tool.run(arguments, &context);
    loop {
        tokio::select! {
            biased;
            Some(progress) = news.recv() => talk.progress(progress),
            ran = &mut running => {
                while let Ok(progress) = news.try_recv() {
                    talk.progress(progress);
                }
                return ran;
            }
        }
    }
}
