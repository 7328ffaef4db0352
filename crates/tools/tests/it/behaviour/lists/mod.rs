//! Lists: what each kind shows, what filters and cursors do, and what is said of what cannot be seen.

mod kinds;
mod pages;
mod scale;
mod trouble;

use serde_json::Value;
use sim::World;
use tools::tool::Rendered;

use crate::house::{Furnish, House};

const LIST: &str = "list_proxmox_resources";

async fn in_world(world: World) -> House {
    House::furnished(Furnish {
        world,
        ..Furnish::default()
    })
    .await
}

impl House {
    async fn list(&self, args: &Value) -> Rendered {
        self.call(LIST, &args.to_string())
            .await
            .unwrap_or_else(|fault| panic!("{args}: {fault}"))
    }

    /// The values of one field.
    async fn listed(&self, args: &Value, field: &str) -> Vec<String> {
        values(&self.list(args).await, field)
    }

    /// The values of one field over all pages.
    async fn paged(&self, mut args: Value, field: &str) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let page = self.list(&args).await;
            all.extend(values(&page, field));
            match page.data.get("next_cursor") {
                Some(cursor) => args["cursor"] = cursor.clone(),
                None => return all,
            }
        }
    }
}

fn values(answer: &Rendered, field: &str) -> Vec<String> {
    let rows = answer.data["resources"].as_array().unwrap();
    rows.iter()
        .map(|row| match &row[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}

fn snapshot(name: &str) -> sim::world::guest::Snapshot {
    sim::world::guest::Snapshot {
        name: name.to_owned(),
        parent: None,
        time: sim::Time::from_secs(1_794_000_000),
        description: String::new(),
        config: sim::world::config::Config::default(),
        vmstate: None,
        state: None,
    }
}
