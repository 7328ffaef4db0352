//! A question that PVE did not answer, told with what was asked.

use tools::fault::{Fault, explain};

/// `asked` is the request in short, `GET /access/users`. Some errors name it already.
pub(crate) fn told(asked: &str, error: pve::Error) -> Fault {
    let said = explain(&error);
    let message = if said.contains(asked) {
        said
    } else {
        format!("{asked}: {said}")
    };
    Fault {
        message,
        ..Fault::from(error)
    }
}
