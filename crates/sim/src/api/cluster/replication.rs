//! `/cluster/replication`: the jobs that copy a guest's disks to another node.

use serde_json::{Value, json};

use crate::api::section;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::{Section, World};

/// The routes of replication jobs.
pub const ROUTES: &[Route] = &[get("/cluster/replication", list).allow(Perm::User)];

/// The jobs of the guests that the caller may see.
fn list(world: &mut World, call: &Call) -> Reply {
    let visible = world.replication_jobs.iter().filter(|(id, _)| {
        let guest = id.split('-').next().unwrap_or_default();
        world.may(&call.who, &format!("/vms/{guest}"), "VM.Audit")
    });
    let entries = visible.map(|(id, job)| to_json(world, id, job));
    Ok(entries.collect::<Value>().into())
}

fn to_json(world: &World, id: &str, job: &Section) -> Value {
    let mut entry = section::to_json(job, &["guest", "jobnum", "disable"]);
    let (guest, number) = id.split_once('-').unwrap_or_default();
    let number_of = |text: &str| text.parse::<u32>().unwrap_or_default();
    entry.insert("id".to_owned(), json!(id));
    entry.insert("guest".to_owned(), json!(number_of(guest)));
    entry.insert("jobnum".to_owned(), json!(number_of(number)));
    let source = world.guests.get(&number_of(guest)).map(|guest| &guest.node);
    if let Some(source) = source {
        entry.insert("source".to_owned(), json!(source));
    }
    entry.into()
}
