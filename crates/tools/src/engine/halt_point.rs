//! Places where a test has this process stand still, to kill it there: each lies between two things that are written down.
//! In debug builds only; `OXMOX_STOP_AT` names the place.
//!
//! | place | what has happened by then |
//! |---|---|
//! | `plan-kept` | a plan that waits for a person is in the store |
//! | `unopened` | the last look is over: the plan may be sent |
//! | `intent-recorded` | the plan is used up and has a handle, and the audit trail the opening entry |
//! | `step-sending` | it is written down that the step is about to be sent |
//! | `sent` | it is on its way and nothing came back: keys, lines and files to fetch; a request is held up by the far side |
//! | `answered` | the answer was read |
//! | `task-kept` | the task, or the process inside the guest, is written down |
//! | `step-kept` | what became of the step is written down |
//! | `closing` | all steps are over |
//! | `look-recorded` | the audit trail has the opening entry of a look inside a guest |
//! | `looked` | the look was taken, and not told yet |
//! | `closed` | the outcome and the closing entry are written down |

/// Stands still here, if this is the place.
#[cfg(debug_assertions)]
pub(super) async fn at(place: &'static str) {
    use std::sync::LazyLock;

    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("OXMOX_STOP_AT").ok());
    if WANTED.as_deref() == Some(place) {
        eprintln!("stopped at {place}");
        std::future::pending::<()>().await;
    }
}

/// There are none in what people run.
#[cfg(not(debug_assertions))]
pub(super) fn at(_: &'static str) -> impl Future<Output = ()> {
    std::future::ready(())
}
