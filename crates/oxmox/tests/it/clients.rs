//! A client's configuration, written and read back as that client reads it.

use std::path::{Path, PathBuf};

use oxmox::clients::{Before, Client, Server};
use oxmox::config::{Environment, Places, System};
use serde_json::{Value, json};

fn server() -> Server {
    Server {
        program: PathBuf::from("/opt/oxmox"),
        arguments: vec!["--config".to_owned(), "/home/ann/a \"b\".toml".to_owned()],
    }
}

fn places(home: &Path, system: System) -> Places {
    let home = home.to_str().unwrap();
    Environment::from([("HOME", home)]).places(system).unwrap()
}

/// What a client that reads comments and trailing commas, and nothing looser, makes of a text. Nothing of the parser that
/// writes these files has a part in it.
fn read(text: &str) -> Value {
    let plain = plain(text);
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
}

/// The text as strict JSON: blanks in the place of comments, and of commas before a closing bracket.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").unwrap() + 2,
            _ => first.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        if first == '}' || first == ']' {
            let kept = plain.trim_end().len();
            if plain[..kept].ends_with(',') {
                plain.truncate(kept - 1);
            }
        }
        plain.push_str(if part.starts_with('/') { " " } else { part });
        rest = after;
    }
    plain
}

/// With both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    panic!("a string has no end: {text}")
}

#[test]
fn what_the_clients_do_not_read_is_not_read_here() {
    let text = "// a\n{\"x\": [1, 2,], /* b, */ \"//\": \"\\\"/* no, */,}\",}\n";
    let value = json!({"x": [1, 2], "//": "\"/* no, */,}"});
    assert_eq!(read(text), value);
    for loose in ["{a: 1}", "{'a': 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": 0x1}"] {
        let read = serde_json::from_str::<Value>(&plain(loose));
        assert!(read.is_err(), "{loose}");
    }
}

/// Enters oxmox, reads it back, enters it again, takes it out.
fn round_trip(client: Client, text: &str) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let file = client.file(&places(home.path(), System::Linux));
    if !text.is_empty() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let draft = client.entered(&file, &server()).unwrap();
    assert!(draft.is_change() && draft.diff().contains("+ "));
    draft.write().unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(client.is_here(&places(home.path(), System::Linux)));
    assert!(!client.entered(&file, &server()).unwrap().is_change());
    if !text.is_empty() {
        assert_eq!(std::fs::read_to_string(draft.backup()).unwrap(), text);
    }
    let before = match client.before(draft.before.as_deref()) {
        Before::Words(_) => Before::Nothing,
        before => before,
    };
    client.left(&file, &before).unwrap().write().unwrap();
    let left = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(client.entry_in(&left), None);
    (written, left)
}

fn arguments() -> Value {
    json!(["--config", "/home/ann/a \"b\".toml"])
}

#[test]
fn claude_desktop_from_nothing() {
    let (written, left) = round_trip(Client::ClaudeDesktop, "");
    let plain: Value = serde_json::from_str(&written).expect("plain JSON");
    let entry = json!({"command": "/opt/oxmox", "args": arguments()});
    assert_eq!(plain, json!({"mcpServers": {"oxmox": entry}}));
    assert_eq!(left, "", "the file was made for it, and goes with it");
}

#[test]
fn claude_code_keeps_what_is_the_programs_own() {
    let text = "{\n  \"numStartups\": 7,\n  \"projects\": {\"/x\": {\"mcpServers\": {\"a\": {\"command\": \"a\"}}}},\n  \"big\": 12345678901234567890\n}";
    let (written, left) = round_trip(Client::ClaudeCode, text);
    let plain: Value = serde_json::from_str(&written).expect("plain JSON");
    let entry = json!({"type": "stdio", "command": "/opt/oxmox", "args": arguments(), "env": {}});
    assert_eq!(plain["mcpServers"], json!({"oxmox": entry}));
    assert_eq!(plain["projects"]["/x"]["mcpServers"]["a"]["command"], "a");
    assert_eq!(left, text, "as if nothing had been");
}

#[test]
fn cursor_keeps_the_other_servers() {
    let text =
        "{\n\t\"mcpServers\": {\n\t\t\"other\": {\n\t\t\t\"url\": \"https://x\"\n\t\t}\n\t}\n}\n";
    let (written, left) = round_trip(Client::Cursor, text);
    let plain: Value = serde_json::from_str(&written).expect("plain JSON");
    assert_eq!(plain["mcpServers"]["other"]["url"], "https://x");
    assert_eq!(plain["mcpServers"]["oxmox"]["command"], "/opt/oxmox");
    assert!(written.contains("\n\t\t\"oxmox\": {\n\t\t\t"), "{written}");
    assert_eq!(left, text, "as if nothing had been");
}

#[test]
fn vscode_keeps_comments_and_trailing_commas() {
    let text = "// mine\n{\n  \"inputs\": [],\n  \"servers\": {\n    // the other one\n    \"other\": { \"type\": \"http\", \"url\": \"https://x\" }, // keep\n  },\n}\n";
    let (written, left) = round_trip(Client::VsCode, text);
    let entry = json!({"type": "stdio", "command": "/opt/oxmox", "args": arguments()});
    assert_eq!(read(&written)["servers"]["oxmox"], entry);
    for kept in ["// mine", "// the other one", "// keep"] {
        assert!(written.contains(kept) && left.contains(kept), "{written}");
    }
    assert_eq!(left, text, "as if nothing had been");
}

#[test]
fn zed_keeps_a_persons_settings() {
    let text =
        "// Zed settings\n//\n{\n  \"theme\": \"One Dark\", /* dark */\n  \"vim_mode\": true,\n}\n";
    let (written, left) = round_trip(Client::Zed, text);
    let entry =
        json!({"source": "custom", "command": "/opt/oxmox", "args": arguments(), "env": {}});
    assert_eq!(read(&written)["context_servers"]["oxmox"], entry);
    for kept in [
        "// Zed settings\n//\n",
        "\"theme\": \"One Dark\", /* dark */",
    ] {
        assert!(written.contains(kept), "{written}");
    }
    assert_eq!(left, text, "as if nothing had been");
}

#[test]
fn an_entry_of_another_place_is_replaced_and_not_doubled() {
    let text = "{\"mcpServers\": {\"oxmox\": {\"command\": \"old\", \"args\": []}, \"b\": {}}}";
    let (written, left) = round_trip(Client::Cursor, text);
    assert_eq!(written.matches("\"oxmox\"").count(), 1, "{written}");
    assert_eq!(read(&left), json!({"mcpServers": {"b": {}}}));
}

#[test]
fn what_stands_in_one_line_keeps_its_words() {
    let text = r#"{"b":  1.50,"mcpServers":{"z":{"command":"z z"}},"a":[1,2]}"#;
    let (written, left) = round_trip(Client::Cursor, text);
    let plain: Value = serde_json::from_str(&written).expect("plain JSON");
    assert_eq!(plain["mcpServers"]["oxmox"]["command"], "/opt/oxmox");
    assert_eq!(written.lines().count(), 1, "{written}");
    assert_eq!(left, text, "as if nothing had been");
}

/// What was made for the entry goes with it, and what somebody else made or has used since stays.
#[test]
fn what_was_made_for_the_entry_goes_with_it() {
    for (text, then, after) in [
        // Nothing else came into it.
        ("{}\n", ("", ""), "{}\n"),
        ("{\"a\": 1}", ("", ""), "{\"a\": 1}"),
        ("// mine\n", ("", ""), "// mine\n"),
        // It was there, empty.
        ("{\"mcpServers\": {}}", ("", ""), "{\"mcpServers\": {}}"),
        // Somebody added something elsewhere, above it, to it, and about it.
        ("{}", ("{\n", "{\n  \"x\": 1,\n"), "{\n  \"x\": 1\n}"),
        (
            "{\"a\": 1}",
            ("\"a\"", "/* c */ \"a\""),
            "{/* c */ \"a\": 1}",
        ),
        (
            "{}",
            ("    \"oxmox\"", "    \"b\": {},\n    \"oxmox\""),
            "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}",
        ),
        (
            "{}",
            ("    \"oxmox\"", "    // mine\n    \"oxmox\""),
            "{\n  \"mcpServers\": {\n    // mine\n  }\n}",
        ),
        (
            "{\n  // first\n  \"a\": 1 // last\n}\n",
            ("first", "second"),
            "{\n  // second\n  \"a\": 1 // last\n}\n",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        let draft = Client::Cursor.entered(&file, &server()).unwrap();
        let before = Client::Cursor.before(draft.before.as_deref());
        draft.write().unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        read(&written);
        assert!(written.contains(then.0), "{written}");
        std::fs::write(&file, written.replacen(then.0, then.1, 1)).unwrap();
        Client::Cursor
            .left(&file, &before)
            .unwrap()
            .write()
            .unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after, "{text}");
    }
}

#[test]
fn an_entry_by_hand_gets_its_words_back_though_others_have_changed_the_file() {
    let words = "{ \"command\":\"/opt/mine\",  /* why */ \"args\": [] }";
    let text = |other: &str| format!("{{\"mcpServers\": {{\"oxmox\": {words}, {other}}}}}\n");
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.json");
    std::fs::write(&file, text("\"b\": 1")).unwrap();
    let draft = Client::Cursor.entered(&file, &server()).unwrap();
    let before = Client::Cursor.before(draft.before.as_deref());
    draft.write().unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("/opt/mine"), "{written}");
    std::fs::write(&file, written.replace("\"b\": 1", "\"b\": 2")).unwrap();
    Client::Cursor
        .left(&file, &before)
        .unwrap()
        .write()
        .unwrap();
    let left = std::fs::read_to_string(&file).unwrap();
    assert_eq!(left, text("\"b\": 2"));
}

/// A long file costs what its length does: twice the servers, about twice the time, and not four times.
#[test]
fn many_servers_are_no_burden() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.json");
    let entered = |count: usize| {
        let entries = (0..count)
            .map(|at| format!("\"server-{at}\": {{\"command\": \"x\", \"args\": [\"a\", \"b\"]}}"));
        // All in one line, as programs write it.
        let entries: Vec<_> = entries.collect();
        let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(", "));
        std::fs::write(&file, &text).unwrap();
        let begun = std::time::Instant::now();
        let draft = Client::Cursor.entered(&file, &server()).unwrap();
        draft.write().unwrap();
        let left = Client::Cursor.left(&file, &Before::Nothing).unwrap();
        assert_eq!(left.after.as_deref(), Some(text.as_str()));
        begun.elapsed()
    };
    // The best of several: another program may be in the way of any. The square would be sixteen times as much.
    let best = |count: usize| (0..3).map(|_| entered(count)).min().unwrap();
    let (few, many) = (best(1_500), best(6_000));
    assert!(many < few * 10, "{few:?} for 1,500 and {many:?} for 6,000");
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for text in [
        "{",
        "[]",
        "{\"mcpServers\": []}",
        "{\"a\" 1}",
        "{'a': 1 'b': 2}",
        "{\"a\": NaN}",
        "{\"a\": 0xff}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": \"\\x41\"}",
    ] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        let fault = Client::Cursor.entered(&file, &server()).unwrap_err();
        assert!(fault.message.contains("not understood"), "{fault}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn what_is_there_twice_is_named_by_its_lines_and_left_alone() {
    for (text, lines) in [
        (
            "{\n  \"mcpServers\": {},\n  \"a\": \"äöü€\",\n  \"mcp\\u0053ervers\": {}\n}\n",
            ["\"mcpServers\"", "line 2", "line 4"],
        ),
        (
            "{\r\n  \"mcpServers\": {\r\n    \"oxmox\": {}, \"oxmox\": {}\r\n  }\r\n}",
            ["\"oxmox\"", "line 3", "twice"],
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        let entered = Client::Cursor.entered(&file, &server()).unwrap_err();
        let left = Client::Cursor.left(&file, &Before::Nothing).unwrap_err();
        for fault in [entered, left] {
            for words in lines {
                assert!(fault.message.contains(words), "no {words}: {fault}");
            }
            assert!(
                fault
                    .hint
                    .is_some_and(|hint| hint.contains("mend the file"))
            );
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    // Of others, and elsewhere, it is theirs to mend.
    let theirs = "{\"mcpServers\": {\"b\": {\"oxmox\": 1, \"oxmox\": 2}, \"b\": {}}}";
    round_trip(Client::Cursor, theirs);
}

#[test]
fn line_ends_and_the_mark_at_the_beginning_stay() {
    let mark = '\u{feff}';
    for text in [
        "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"b\": {}\r\n  }\r\n}\r\n".to_owned(),
        format!("{mark}{{\n  \"mcpServers\": {{\n    \"b\": {{}}\n  }}\n}}\n"),
        format!("{mark}{{\r\n  \"mcpServers\": {{\r\n    \"b\": {{}}\r\n  }}\r\n}}"),
    ] {
        let (written, left) = round_trip(Client::Cursor, &text);
        assert_eq!(left, text, "as if nothing had been");
        assert_eq!(written.starts_with(mark), text.starts_with(mark));
        let ends = written.matches('\n').count();
        let by_windows = if text.contains('\r') { ends } else { 0 };
        assert_eq!(written.matches("\r\n").count(), by_windows, "{written:?}");
        let plain = read(written.trim_start_matches(mark));
        assert_eq!(plain["mcpServers"]["oxmox"]["command"], "/opt/oxmox");
    }
}

/// Old files end their lines so, and parsers end comments there.
#[test]
fn a_line_that_ends_with_a_carriage_return_ends_a_comment() {
    for text in [
        "{\"mcpServers\": {\"b\": {} // theirs\r}}",
        "{\r  \"mcpServers\": {\r    \"b\": {} // theirs\r  }\r}\r",
        "{\"mcpServers\": { // theirs\r}}",
        "{\"a\": 1 // theirs\r}",
        "// theirs\r{}",
    ] {
        let (written, left) = round_trip(Client::Cursor, text);
        assert!(written.contains("// theirs"), "{written:?}");
        assert_eq!(left, text, "as if nothing had been");
    }
    // With ours first, so that what follows it must not come behind the comment.
    let ours = "{\"mcpServers\": {\r// theirs\r\"oxmox\": {}, \"b\": {}}}";
    let (_, left) = round_trip(Client::Cursor, ours);
    assert_eq!(left, "{\"mcpServers\": {\r// theirs\r\"b\": {}}}");
}

#[test]
fn a_file_with_nothing_in_it_is_filled_and_emptied_again() {
    for text in ["", "\n", "\r\n", "\u{feff}", " \n"] {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mcp.json");
        std::fs::write(&file, text).unwrap();
        let draft = Client::Cursor.entered(&file, &server()).unwrap();
        let before = Client::Cursor.before(draft.before.as_deref());
        draft.write().unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let plain = read(written.trim_start_matches('\u{feff}'));
        assert_eq!(plain["mcpServers"]["oxmox"]["command"], "/opt/oxmox");
        assert_eq!(
            written.starts_with('\u{feff}'),
            text.starts_with('\u{feff}')
        );
        let left = Client::Cursor.left(&file, &before).unwrap();
        left.put_back().unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn only_our_own_entry_is_shown() {
    let canary = "canary-of-another-server";
    let others = format!("\"other\": {{\"env\": {{\"K\": \"{canary}\"}}}}");
    let old = "\"oxmox\": {\"command\": \"old\", \"env\": {\"X\": \"canary-of-ours\"}}";
    for client in Client::ALL {
        let empty = client.entered(Path::new("/nowhere/mcp.json"), &server());
        let key = read(&empty.unwrap().after.unwrap());
        let key = key.as_object().unwrap().keys().next().unwrap().clone();
        for text in [
            format!("{{\"{key}\": {{{others}}}}}"),
            format!("{{\"{key}\": {{{old}, {others}}}}}"),
            format!(
                "{{\n  // {canary}\n  \"{key}\": {{\n    {others},\n    {old}\n  }},\n  \"t\": \"{canary}\"\n}}"
            ),
        ] {
            let home = tempfile::tempdir().unwrap();
            let file = home.path().join("mcp.json");
            std::fs::write(&file, &text).unwrap();
            let draft = client.entered(&file, &server()).unwrap();
            let before = client.before(draft.before.as_deref());
            let entered = draft.diff();
            assert!(entered.contains("+ ") && entered.contains("/opt/oxmox"));
            draft.write().unwrap();
            let left = client.left(&file, &before).unwrap().diff();
            assert!(left.contains("- "), "{left}");
            for shown in [entered, left] {
                assert!(!shown.contains("canary"), "{shown}");
            }
        }
    }
}

#[test]
fn each_system_has_its_places() {
    let at = |system| {
        let places = places(Path::new("/u"), system);
        Client::ALL.map(|client| client.file(&places).to_str().unwrap().replace('\\', "/"))
    };
    assert_eq!(
        at(System::Linux),
        [
            "/u/.config/Claude/claude_desktop_config.json",
            "/u/.claude.json",
            "/u/.cursor/mcp.json",
            "/u/.config/Code/User/mcp.json",
            "/u/.config/zed/settings.json",
        ]
    );
    assert_eq!(
        at(System::Mac),
        [
            "/u/Library/Application Support/Claude/claude_desktop_config.json",
            "/u/.claude.json",
            "/u/.cursor/mcp.json",
            "/u/Library/Application Support/Code/User/mcp.json",
            "/u/.config/zed/settings.json",
        ]
    );
    assert_eq!(
        at(System::Windows),
        [
            "/u/AppData/Roaming/Claude/claude_desktop_config.json",
            "/u/.claude.json",
            "/u/.cursor/mcp.json",
            "/u/AppData/Roaming/Code/User/mcp.json",
            "/u/AppData/Roaming/Zed/settings.json",
        ]
    );
}
