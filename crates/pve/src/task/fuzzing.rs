//! The door of the reader of task ids; see [`crate::fuzzing`].

use super::Upid;

/// A task id as PVE, or a model, may write it: what is read stays what was written, and names its parts as they stand there.
pub fn upid(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(upid) = text.parse::<Upid>() else {
        return;
    };
    assert_eq!(upid.as_str(), text);
    assert_eq!(upid.to_string().parse().as_ref(), Ok(&upid));
    let parts: Vec<&str> = text.split(':').collect();
    assert_eq!(
        (upid.node().as_str(), upid.task_type(), upid.id()),
        (parts[1], parts[5], parts[6])
    );
    let as_json = serde_json::to_string(&upid).expect("a text");
    assert_eq!(serde_json::from_str::<Upid>(&as_json).ok(), Some(upid));
}
