//! Messages in which a name stands twice in one object, which are refused: of two values the last would hold, and a person
//! who approves may have seen the first.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use axum::middleware::Next;

use super::say;

/// Refuses such a request. Its body is all there, and no longer than the limits allow.
pub(super) async fn refuse(request: Request, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return say(StatusCode::BAD_REQUEST, "the request broke off\n");
    };
    if tools::schema::repeats_a_name(&bytes) {
        return say(
            StatusCode::BAD_REQUEST,
            "a name stands twice in an object of this message; nothing was done: send each name once\n",
        );
    }
    next.run(Request::from_parts(parts, Body::from(bytes)))
        .await
}
