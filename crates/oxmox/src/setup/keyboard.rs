//! Lines from the person at the terminal, and their leaving: Ctrl-C, or the end of what they type.
//!
//! Whole lines, as the terminal itself edits them: works where nothing can be drawn, and leaves nothing behind that would
//! have to be drawn away.

use std::io::BufRead as _;

use tokio_util::task::AbortOnDropHandle;
use tools::fault::{Fault, Kind};

use super::signals::Signals;
use crate::cli::exit::Exit;
use crate::cli::out;
use crate::files;

/// Shows a question and reads the line that answers it.
pub(super) async fn line(question: String) -> Result<String, Fault> {
    read(move || {
        out::ask(question);
        typed()
    })
    .await
}

/// The same for what nobody else should see.
pub(super) async fn hidden(question: String) -> Result<String, Fault> {
    read(move || {
        // First, so that what is typed early is not seen either.
        let echo = echo::off();
        out::ask(question);
        let line = echo::read();
        drop(echo);
        // The return was not shown either.
        out::say("");
        line
    })
    .await
}

/// On a thread of its own: meanwhile somebody has to hear Ctrl-C.
async fn read(
    reading: impl FnOnce() -> std::io::Result<Option<String>> + Send + 'static,
) -> Result<String, Fault> {
    let read = tokio::task::spawn_blocking(reading).await;
    if !matches!(read, Ok(Ok(Some(_)))) {
        // A terminal that is closed sends a signal first: whoever listens for it shall have their turn.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }
    match read {
        Ok(Ok(Some(line))) => Ok(line),
        Ok(Ok(None)) => {
            out::say("");
            Err(gone("what was typed has ended"))
        }
        Ok(Err(error)) => Err(gone(&format!("the terminal cannot be read: {error}"))),
        Err(error) => Err(Fault::new(Kind::Internal, error.to_string())),
    }
}

/// `None`: there will be no more lines.
fn typed() -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn gone(why: &str) -> Fault {
    Fault::new(Kind::Failed, format!("{why}; nothing was changed")).hint(HINT)
}

const HINT: &str = "run the command again, or say everything beforehand: --help lists the flags";

/// While this is held, Ctrl-C and its like end the program with a word. Once it is dropped, nothing hears them any more.
pub type Leaving = AbortOnDropHandle<()>;

/// For as long as nothing has been changed.
pub fn may_leave() -> Leaving {
    let mut signals = Signals::listen();
    AbortOnDropHandle::new(tokio::spawn(async move {
        signals.next().await;
        echo::restore();
        out::say("\ninterrupted; nothing was changed");
        files::let_go();
        std::process::exit(Exit::Interrupted as i32);
    }))
}

#[cfg(unix)]
mod echo {
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// How the terminal was before it was told to show nothing.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) struct Off;

    impl Drop for Off {
        fn drop(&mut self) {
            restore();
        }
    }

    /// Until it is dropped, nothing that is typed is shown.
    pub(super) fn off() -> Off {
        if let Ok(before) = tcgetattr(std::io::stdin()) {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            let mut kept = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
            *kept = Some(before);
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent);
        }
        Off
    }

    /// Shows again what is typed. Also for whoever leaves meanwhile: a shell would go on without.
    pub(super) fn restore() {
        let mut kept = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = kept.take() {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
        }
    }

    pub(super) fn read() -> std::io::Result<Option<String>> {
        super::typed()
    }
}

#[cfg(not(unix))]
mod echo {
    /// Nothing has to be told beforehand here.
    pub(super) struct Off;

    impl Drop for Off {
        fn drop(&mut self) {
            restore();
        }
    }

    pub(super) fn off() -> Off {
        Off
    }

    pub(super) fn restore() {}

    /// The console's own way to read without showing.
    pub(super) fn read() -> std::io::Result<Option<String>> {
        console::Term::stderr().read_secure_line().map(Some)
    }
}
