//! What there is: the answers of the tools that only look, as the person who is signed in.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;
use tools::engine::{Call, Silent};
use tools::tool::{Object, Rendered};

use super::Page;
use super::answer::{Answer, Failure, Json, sent};
use super::door::Person;

/// What the page shows. A person may do more at a terminal; a page that is taken over should not.
const TOOLS: &[&str] = &[
    "list_proxmox_resources",
    "get_proxmox_vm_status",
    "get_proxmox_metrics",
    "capture_vm_screen",
    "list_proxmox_findings",
];

/// A tool's answer, with its pictures.
pub(super) async fn look(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(tool): Path<String>,
    body: Bytes,
) -> Answer {
    if !TOOLS.contains(&tool.as_str()) {
        let error = "the page does not use that tool";
        return Err(Failure::new(StatusCode::NOT_FOUND, error));
    }
    let arguments: Object = sent(&body)?;
    let call = Call::new(&tool, arguments, person.caller);
    let Rendered { data, images, .. } = page.engine.look(call, &Silent).await?;
    let images: Vec<_> = images.iter().map(|it| BASE64.encode(&it.png)).collect();
    Ok(Json(json!({ "data": data, "images": images })))
}
