//! The door of the terminal's decoder; see [`crate::fuzzing`].

use std::time::Duration;

use secrecy::SecretString;

use super::line::{Line, MOST_NEWS};
use super::{Program, Size, Stands, TerminalScreen, Until};
use crate::error::Error;
use crate::fuzzing::{Server, run, server};

/// Nothing is waited for so long: the server hangs up when it has said everything.
const LIMIT: Duration = Duration::from_mins(1);

/// A byte each for the columns, the rows, and the number of pieces; then all that a terminal's proxy says, from its
/// welcome on.
pub fn terminal(bytes: &[u8]) {
    let Some((&[columns, rows, pieces], said)) = bytes.split_first_chunk() else {
        return;
    };
    let size = Size {
        columns: u16::from(columns % 64),
        rows: u16::from(rows % 16),
    };
    let in_pieces = said.len().div_ceil(1 + usize::from(pieces % 8));
    let shown = run(session(server(said, in_pieces), size));
    let shown_at_once = run(session(server(said, said.len()), size));
    assert_eq!(
        shown.ok(),
        shown_at_once.ok(),
        "it matters how bytes are cut into packets"
    );
}

/// What a terminal shows when it is over.
type Shown = (String, (String, String), Stands);

/// Waits for a prompt, runs a program, and stays until the terminal closes.
async fn session(server: Server<'_>, size: Size) -> Result<Shown, Error> {
    let ticket = SecretString::from("ticket");
    let mut line = Line::open(server, ("root@pam", &ticket), size).await?;
    line.wait(&Until::Text("# ".to_owned()), LIMIT).await?;
    let _ = line.news().stands();

    let program = Program::new(&["x"], "m");
    line.send(program.line().as_bytes()).await?;
    let end = Until::Line(program.end_mark().into());
    line.wait(&end, LIMIT).await?;
    let ended = program
        .read(line.raw_news())
        .filter(|ran| ran.code.is_some());
    line.wait(&Until::Quiet(LIMIT), LIMIT).await?;
    let all = program.read(line.raw_news());
    assert!(
        ended.is_none() || line.lost_news() || ended == all,
        "what came after the end changed it: {ended:?}, {all:?}"
    );
    assert!(line.raw_news().len() <= MOST_NEWS);
    check(line.news());
    Ok(shown(line.screen()))
}

fn shown(screen: &TerminalScreen) -> Shown {
    check(screen);
    (screen.text(), screen.cursor_line(), screen.stands())
}

/// What is shown is text, whatever was written.
fn check(screen: &TerminalScreen) {
    let text = screen.text();
    let odd = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(odd, None, "{text:?}");
}
