//! Files read and written by the agent. A character of a parameter or an answer is a byte of the file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;

use super::{agent_error, awake, check_allowed};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::World;

/// More is not read at once.
const MAX_READ: u64 = 16 << 20;

pub(super) fn read(world: &mut World, call: &Call) -> Reply {
    let path = call.text("file").unwrap_or_default();
    let guest = awake(world, call)?;
    check_allowed(guest, "file-open")?;
    let Some(content) = guest.file(path) else {
        return Err(cannot_open(path, "r"));
    };
    let limit = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let start = limit(call.int("offset").unwrap_or(0)).min(content.len());
    let count = limit(call.int("count").unwrap_or(MAX_READ));
    let end = content.len().min(start.saturating_add(count));
    let bytes = &content[start..end];
    let text = if call.text("decode") == Some("0") {
        BASE64.encode(bytes)
    } else {
        bytes.iter().copied().map(char::from).collect()
    };
    let mut answer = json!({ "content": text, "bytes-read": bytes.len() });
    // The end of a file shows only when something tries to read beyond it.
    if bytes.len() == count {
        answer["truncated"] = json!(1);
    }
    Ok(answer.into())
}

pub(super) fn write(world: &mut World, call: &Call) -> Reply {
    let (path, content) = (
        call.text("file").unwrap_or_default().to_owned(),
        call.text("content").unwrap_or_default(),
    );
    let bytes = if call.text("encode") == Some("0") {
        BASE64
            .decode(content.trim())
            .map_err(|_| agent_error("failed to decode base64"))?
    } else {
        let bytes: Result<Vec<u8>, _> = content.chars().map(u8::try_from).collect();
        bytes.map_err(|_| {
            ApiError::fail(
                "Wide character in subroutine entry at /usr/share/perl5/PVE/API2/Qemu/Agent.pm line 533.",
            )
        })?
    };
    let guest = awake(world, call)?;
    check_allowed(guest, "file-open")?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if !guest.has_directory(folder) {
        return Err(cannot_open(&path, "wb"));
    }
    guest.agent.files.insert(path, bytes);
    done()
}

fn cannot_open(path: &str, mode: &str) -> ApiError {
    agent_error(format!(
        "failed to open file '{path}' (mode: '{mode}'): No such file or directory"
    ))
}
