//! The door of the decoders of answers; see [`crate::fuzzing`].

use hyper::Response;
use hyper::body::Bytes;
use hyper::ext::ReasonPhrase;

use super::reply::{Answer, Reply};
use crate::answer::{
    GuestStatus, MigratePreconditions, NodeStatus, Permissions, Resource, SnapshotEntry,
    StorageStatus, Version, Volume,
};
use crate::guest::{GuestConfig, Identity, PropertyString};
use crate::id::GuestKind;
use crate::request::Request;
use crate::task::{TaskSummary, Upid};

/// The body of an answer, taken for every kind that PVE gives, and for the reason and body of a refusal.
pub fn answer(body: &[u8]) {
    let _ = reply(500, body).leaves_doubt();
    drop(reply(500, body).into_error());

    let read = |as_kind: fn(Answer)| {
        let answer = reply(200, body).into_answer(&Request::get("/version"));
        answer.into_iter().for_each(as_kind);
    };
    read(|answer| drop(answer.decode_list::<Resource>()));
    read(|answer| drop(answer.decode_list::<SnapshotEntry>()));
    read(|answer| drop(answer.decode_list::<StorageStatus>()));
    read(|answer| drop(answer.decode_list::<TaskSummary>()));
    read(|answer| drop(answer.decode_list::<Volume>()));
    read(|answer| drop(answer.decode::<GuestStatus>()));
    read(|answer| drop(answer.decode::<MigratePreconditions>()));
    read(|answer| drop(answer.decode::<NodeStatus>()));
    read(|answer| drop(answer.decode::<Permissions>()));
    read(|answer| drop(answer.decode::<Version>()));
    read(|answer| answer.decode().iter().for_each(config));
    read(|answer| answer.decode().iter().for_each(task_id));
}

fn reply(status: u16, body: &[u8]) -> Reply {
    let mut head = Response::new(());
    *head.status_mut() = status.try_into().unwrap_or_default();
    if let Ok(reason) = ReasonPhrase::try_from(body) {
        head.extensions_mut().insert(reason);
    }
    Reply::new(&head.into_parts().0, Bytes::copy_from_slice(body))
}

/// Reads what is read of every guest's configuration.
fn config(config: &GuestConfig) {
    let _ = (config.tags(), config.agent_enabled(), config.volumes());
    let _ = (config.disks(), config.nets());
    for kind in [GuestKind::Qemu, GuestKind::Lxc] {
        let _ = Identity::of(kind, config);
    }
    for key in config.values().keys() {
        let properties = config.properties(key).unwrap_or_default();
        let written = properties.to_string();
        assert_eq!(PropertyString::parse(&written), properties, "{written:?}");
    }
}

fn task_id(upid: &Upid) {
    assert_eq!(upid.as_str().parse().as_ref(), Ok(upid));
    let _ = (upid.vmid(), upid.node());
}
