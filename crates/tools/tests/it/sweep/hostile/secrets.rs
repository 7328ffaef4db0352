//! Secrets come back nowhere.

use tools::policy::Mode;

use crate::house::{Furnish, House};

#[tokio::test]
async fn secrets_come_back_nowhere() {
    let canary = "canary-5e1f-secret";
    let mut furnish = Furnish::default();
    furnish.world.add_token("root@pam!canary", canary);
    furnish.token = (
        "root@pam".to_owned(),
        "canary".to_owned(),
        canary.to_owned(),
    );
    furnish.policy.mode = Mode::Trusted;
    let house = House::furnished(furnish).await;
    house.sim.world(|world| {
        for guest in world.guests.values_mut() {
            guest.config.set("cipassword", canary);
        }
        let proxy = format!("http://joe:{canary}@proxy:3128");
        world.options.insert("http_proxy".to_owned(), proxy);
        for server in world.metric_servers.values_mut() {
            for name in ["token", "otel-headers"] {
                server.props.insert(name.to_owned(), canary.to_owned());
            }
        }
        for realm in world.access.realms.values_mut() {
            realm
                .settings
                .insert("client-key".to_owned(), canary.to_owned());
        }
    });
    let mut seen = vec![format!("{:?}", house.engine.clusters())];
    for (tool, args) in super::super::examples() {
        seen.push(match house.call(tool.spec().name, args).await {
            Ok(answer) => format!("{}{:?}", answer.text, answer.data),
            Err(fault) => format!("{fault:?}"),
        });
    }
    seen.push(format!("{:?}", house.trail().await));
    for text in seen {
        assert!(!text.contains(canary), "{text}");
    }
}
