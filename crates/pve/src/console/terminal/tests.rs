//! Terminals of every kind: right, wrong, and random.

use proptest::prelude::*;
use tokio::io::{AsyncWriteExt as _, Join, Sink, join, sink};

use super::line::Line;
use super::*;

const SIZE: Size = Size {
    columns: 20,
    rows: 3,
};

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(work)
}

async fn open(bytes: &[u8]) -> Result<Line<Join<&[u8], Sink>>, Error> {
    let ticket = secrecy::SecretString::from("ticket".to_owned());
    Line::open(join(bytes, sink()), ("root@pam", &ticket), SIZE).await
}

/// The terminal after everything has come.
fn shown(bytes: &[u8]) -> Line<Join<&[u8], Sink>> {
    run(async {
        let mut line = open(bytes).await.unwrap();
        let end = line
            .wait(
                &Until::Quiet(Duration::from_secs(5)),
                Duration::from_secs(9),
            )
            .await;
        assert_eq!(end.unwrap(), Waited::Closed);
        line
    })
}

fn screen(bytes: &str) -> TerminalScreen {
    let mut screen = TerminalScreen::new(SIZE);
    screen.take(bytes.as_bytes());
    screen
}

#[test]
fn a_session_in_the_words_of_pve() {
    let line = shown(b"OK\x1b[H\x1b[J\x1b[?2004hroot@ct:/# echo a\r\r\n\x1b[?2004l\ra\r\r\n");
    assert_eq!(line.screen().text(), "root@ct:/# echo a\na");
    assert!(line.raw_news().ends_with(b"a\r\r\n"));
}

#[test]
fn who_is_not_let_in_is_told() {
    let refused = run(open(b"")).unwrap_err().to_string();
    assert!(refused.contains("before it let"), "{refused}");
    let other = run(open(b"RFB 003.008\n")).unwrap_err().to_string();
    assert!(other.contains("is no terminal"), "{other}");
}

#[test]
fn lines_that_left_the_screen_are_kept_and_broken_ones_joined() {
    let screen = screen("one\r\ntwo\r\nthree\r\n0123456789012345678901234\r\nend  ");
    assert_eq!(
        screen.text(),
        "one\ntwo\nthree\n0123456789012345678901234\nend"
    );
}

#[test]
fn a_letter_that_comes_in_two_pieces_costs_no_other() {
    let mut screen = TerminalScreen::new(SIZE);
    let bytes = "\u{e4}L\u{e4} \u{4e2d}x\u{e4}".as_bytes();
    for piece in [&bytes[..1], &bytes[1..7], &bytes[7..8], &bytes[8..]] {
        screen.take(piece);
    }
    assert_eq!(screen.text(), "\u{e4}L\u{e4} \u{4e2d}x\u{e4}");
}

#[test]
fn sequences_move_erase_and_scroll() {
    for (bytes, text) in [
        // The cursor: to a place, to the sides, up and down, back and to the next tab.
        (
            "\x1b[2;3Hx\x1b[2Dy\x1b[Az\x1b[2C!\x1b[2Bu",
            "  z  !\n yx\n      u",
        ),
        (
            "a\tb\x08c\x1b[Gd\x1b[5Ge\x1b[2dF\x1b[Eg\x1b[Fh",
            "d   e   c\nh    F\ng",
        ),
        ("\x1b7one\x1b8two\x1b[s\r1\x1b[u3", "1wo3"),
        // Letters and rows are put in, taken out, and erased.
        ("abcdef\x1b[3G\x1b[2@\x1b[5GX\x1b[P", "ab  Xef"),
        ("abcdef\x1b[3G\x1b[2X\x1b[2P", "abef"),
        ("abc\x1b[2G\x1b[1Kd\x1b[K", " d"),
        ("1\r\n2\r\n3\x1b[2H\x1b[L4\x1b[H\x1b[M", "4\n2"),
        ("1\r\n2\r\n3\x1b[2H\x1b[J", "1"),
        ("1\r\n2\r\n3\x1b[2H\x1b[1J", "3"),
        ("1\r\n2\r\n3\x1b[2J4", " 4"),
        // Only some rows scroll, and what leaves them in the middle is gone.
        ("1\r\n2\r\n3\x1b[2;3r\x1b[3H\nx", "1\n3\nx"),
        ("1\r\n2\r\n3\x1b[1;2r\x1bM0", "0\n1\n3"),
        ("1\r\n2\r\n3\x1b[2;3r\x1b[?6h\x1b[9;9Hx\x1b[T", "1\n\n2"),
        ("1\r\n2\r\n3\x1b[2S\x1b[Hx", "1\n2\nx"),
        ("1\r\n2\r\n3\r\n4\x1b[3J\x1b[2J\x1b[H5", "5"),
        // Lines that the terminal broke stay one as long as both halves are there.
        (
            "0123456789012345678901234\x1b[H\x1b[T",
            "0123456789012345678901234",
        ),
        (
            "0123456789012345678901234\x1b[H\x1b[@",
            " 0123456789012345678\n01234",
        ),
        // A program takes the screen and gives it back; the other one was not touched.
        ("a\x1b[?1049hb\x1b[?1049lc", "ac"),
        ("a\x1b[?1049hb", "b"),
        ("a\x1b[?1049h\x1bcb", "b"),
        // Titles, colours and sets of letters are no text.
        (
            "\x1b]0;title\x07a\x1b[1;38;5;7mb\x1b(B\x1bP1q\x1b\\c",
            "abc",
        ),
    ] {
        assert_eq!(screen(bytes).text(), text, "{bytes:?}");
    }
}

#[test]
fn wide_letters_and_accents_keep_their_places() {
    let narrow = |bytes: &str| {
        let (columns, rows) = (4, 3);
        let mut screen = TerminalScreen::new(Size { columns, rows });
        screen.take(bytes.as_bytes());
        screen.text()
    };
    assert_eq!(narrow("a\u{4e2d}b"), "a\u{4e2d}b");
    // No room for both halves: the terminal breaks the line.
    assert_eq!(narrow("abc\u{4e2d}\x1b[Hx"), "xbc\u{4e2d}");
    // Either half takes the other with it.
    assert_eq!(narrow("a\u{4e2d}\x1b[2Gb"), "ab");
    assert_eq!(narrow("a\u{4e2d}\x1b[3Gb"), "a b");
    assert_eq!(narrow("a\u{301}\u{4e2d}\u{301}"), "a\u{301}\u{4e2d}\u{301}");
    // A heart that asks to be an emoji where only one cell is left, and is overwritten.
    assert_eq!(narrow("abc\u{2764}\u{fe0f}\x1b[4Gd"), "abcd");
    let mut one = TerminalScreen::new(Size {
        columns: 1,
        rows: 1,
    });
    one.take("\u{4e2d}\u{4e2d}".as_bytes());
    assert_eq!(one.text(), "\u{4e2d}\u{4e2d}");
}

#[test]
fn a_few_bytes_cannot_write_for_ever() {
    let screen = screen("x\x1b[65535b");
    let most = usize::from(SIZE.columns * SIZE.rows);
    assert_eq!(screen.text().len(), 1 + most);
    // Accents neither.
    let mut accents = TerminalScreen::new(SIZE);
    accents.take(format!("a{}", "\u{301}".repeat(9999)).as_bytes());
    assert_eq!(accents.text().chars().count(), 5);
}

#[test]
fn what_is_waited_for_is_found_among_the_news() {
    run(async {
        let mut line = open(b"OKready# ").await.unwrap();
        let wait = |text: &str| Until::Text(text.to_owned());
        let soon = Duration::from_secs(5);
        assert_eq!(
            line.wait(&wait("ready# "), soon).await.unwrap(),
            Waited::Found
        );
        line.send(b"x").await.unwrap();
        assert_eq!(
            line.wait(&wait("ready"), soon).await.unwrap(),
            Waited::Closed
        );
    });
}

#[test]
fn an_echo_is_not_what_is_waited_for() {
    run(async {
        let (soon, at_last) = (Duration::from_millis(20), Duration::from_secs(20));
        let (client, mut server) = tokio::io::duplex(1024);
        let ticket = secrecy::SecretString::from("ticket".to_owned());
        server.write_all(b"OK").await.unwrap();
        let mut line = Line::open(client, ("root@pam", &ticket), SIZE)
            .await
            .unwrap();
        line.send(b"a; echo END; b\r").await.unwrap();
        let end = Until::Text("END".to_owned());
        // A part of the echo, the rest of it, what the program writes.
        for (part, waited, limit) in [
            (b"a; echo END".as_slice(), Waited::TimeUp, soon),
            (b"; b\r\n", Waited::TimeUp, soon),
            (b"END\r\n", Waited::Found, at_last),
        ] {
            server.write_all(part).await.unwrap();
            let now = line.wait(&end, limit).await.unwrap();
            assert_eq!(now, waited, "{part:?}");
        }
    });
}

#[test]
fn what_a_terminal_waits_for_is_guessed_from_its_last_line() {
    let stands = |text: &str| screen(text).stands();
    assert_eq!(stands(""), Stands::Blank);
    let heading = "starting serial terminal on interface serial0\r\n";
    assert_eq!(stands(heading), Stands::Blank);
    assert_eq!(stands(&format!("{heading}a login: ")), Stands::Login);
    assert_eq!(stands("ct1 login: "), Stands::Login);
    assert_eq!(stands("ct1 login: ro"), Stands::HalfTyped("ro".to_owned()));
    assert_eq!(stands("login: "), Stands::Login);
    assert_eq!(stands("login: ro"), Stands::HalfTyped("ro".to_owned()));
    for asked in [
        "Password: ",
        "Passwort: ",
        "[sudo] password for a: ",
        "passphrase for key: ",
    ] {
        assert_eq!(stands(asked), Stands::Password, "{asked}");
    }
    assert!(matches!(stands("password changed"), Stands::Busy(_)));
    assert_eq!(stands("root@ct:/# "), Stands::Prompt);
    assert_eq!(stands("user@ct:~$ "), Stands::Prompt);
    assert_eq!(
        stands("root@ct:/# rm -r"),
        Stands::HalfTyped("rm -r".to_owned())
    );
    // The cursor stands before what is there.
    assert_eq!(
        stands("a@b:/# ls\x1b[2D"),
        Stands::HalfTyped("ls".to_owned())
    );
    assert_eq!(stands("50% done"), Stands::Busy("50% done".to_owned()));
    assert!(matches!(stands("a@b:/# \x1b[?1049h~"), Stands::Busy(_)));
    // A line that goes over several rows is one.
    let long = format!("root@ct:/# {}", "x".repeat(30));
    assert_eq!(stands(&long), Stands::HalfTyped("x".repeat(30)));
}

#[test]
fn a_program_is_read_between_its_marks() {
    let program = Program::new(&["echo", "it's", ""], "m7");
    let line = program.line();
    let typed = "; (exec echo 'it'\\''s' '') </dev/null; ";
    assert!(line.contains(typed), "{line}");
    // What the shell shows of the line is not taken for the marks.
    let echo = line.replace('\r', "\r\r\n");
    assert_eq!(program.read(echo.as_bytes()), None);
    assert_eq!(format!("{program:?}"), "Program");
    let begun = format!("{echo}\x1b[?2004l\r\r\r\nm7-begin\r\r\n\x1b[1mit's\x1b[0m \r\r\n");
    let ran = |output: &str, code| {
        Some(Ran {
            output: output.to_owned(),
            code,
        })
    };
    assert_eq!(program.read(begun.as_bytes()), ran("it's \n", None));
    let cut = format!("{begun}\r\r\nm7-end:1");
    assert_eq!(program.read(cut.as_bytes()), ran("it's \n", None));
    let done = format!("{cut}27\r\r\n\x1b[?2004hroot@ct:/# ");
    assert_eq!(program.read(done.as_bytes()), ran("it's \n", Some(127)));
}

#[test]
fn no_output_hides_its_own_end() {
    let program = Program::new(&["cat", "binary"], "m7");
    let read = |output: &str| {
        let bytes = format!("\r\nm7-begin\r\r\n{output}\r\r\nm7-end:3\r\r\n");
        program.read(bytes.as_bytes()).unwrap()
    };
    // A string, a sequence and a character that never end, no line end, the likeness of a mark.
    for output in ["a\x1b]0;", "a\x1b[", "a\x1b", "a", "a\r\r\nm6-end:0", ""] {
        let ran = read(output);
        assert_eq!(ran.code, Some(3), "{output:?}");
        let text = output.split('\x1b').next().unwrap().replace('\r', "");
        assert_eq!(ran.output, text, "{output:?}");
    }
    assert_eq!(read("a\r\r\n").output, "a\n");
    // A number that is no exit code is none.
    let odd = program.read(b"m7-begin\nx\nm7-end:999\n").unwrap();
    assert_eq!((odd.output.as_str(), odd.code), ("x", None));
}

#[test]
fn a_line_has_come_once_it_has_ended() {
    run(async {
        let soon = Duration::from_secs(5);
        for (bytes, waited) in [
            (b"OKm-end:1".as_slice(), Waited::Closed),
            (b"OKm-end:1\r\nmore", Waited::Found),
        ] {
            let mut line = open(bytes).await.unwrap();
            let until = Until::Line(b"m-end:".to_vec());
            assert_eq!(line.wait(&until, soon).await.unwrap(), waited);
        }
    });
}

#[test]
fn too_much_news_keeps_its_ends() {
    let mut bytes = b"OKm-begin\r\n".to_vec();
    bytes.resize(1024 * 1024, b'x');
    bytes.extend(b"\r\nm-end:0\r\n");
    let line = shown(&bytes);
    assert!(line.lost_news());
    assert!(line.raw_news().len() < 600 * 1024);
    let ran = Program::new(&["x"], "m").read(line.raw_news()).unwrap();
    assert_eq!(ran.code, Some(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_server_may_say_anything(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let said = [b"OK".to_vec(), bytes].concat();
        let line = shown(&said);
        let _ = line.screen().stands();
        let _ = Program::new(&["x"], "m").read(line.raw_news());
    }

    #[test]
    fn sequences_of_a_terminal_may_say_anything(
        parts in prop::collection::vec(
            ("[\x1b\u{9b}]?[\\[\\]()]?[?>]?[0-9;]{0,8}[@-~]", "[a-z\u{e4}\u{4e2d}\t\r\n\x08]{0,9}"),
            0..60,
        ),
        columns in 0_u16..40,
        rows in 0_u16..5,
    ) {
        let mut screen = TerminalScreen::new(Size { columns, rows });
        for (sequence, text) in &parts {
            screen.take(sequence.as_bytes());
            screen.take(text.as_bytes());
        }
        let _ = (screen.text(), screen.cursor_line(), screen.stands());
    }
}
