//! One question to several clusters at the same time. One that does not answer must not keep the others' answers back.

use std::sync::Arc;

use futures_util::future::join_all;
use pve::Error;

use super::Cluster;

/// Asks all of them. Where there are several, each has its own time to answer; where there is one, there is nobody to
/// keep waiting.
pub(crate) async fn ask_each<T, F>(
    clusters: &[Arc<Cluster>],
    ask: impl Fn(Arc<Cluster>) -> F,
) -> Vec<(Arc<Cluster>, Result<T, Error>)>
where
    F: Future<Output = Result<T, Error>>,
{
    let bounded = clusters.len() > 1;
    let asked = clusters.iter().map(|cluster| {
        let answer = ask(cluster.clone());
        async move {
            let answer = if bounded {
                in_time(cluster, answer).await
            } else {
                answer.await
            };
            (cluster.clone(), answer)
        }
    });
    join_all(asked).await
}

async fn in_time<T>(
    cluster: &Cluster,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let limit = cluster.patience;
    let answer = tokio::time::timeout(limit, answer).await;
    answer.unwrap_or_else(|_| {
        if cluster.pve.waits_for_secret() {
            return Err(Error::Secret {
                what: format!(
                    "the secret of cluster {} is still being fetched after {limit:?}",
                    cluster.name
                ),
                hint: "what keeps it may wait for a person to unlock it; then ask again".to_owned(),
            });
        }
        Err(Error::MaybeSent {
            host: cluster.pve.current_host().to_string(),
            what: format!("it did not come within {limit:?}"),
            source: None,
        })
    })
}
