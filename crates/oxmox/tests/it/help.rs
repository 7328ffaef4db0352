//! The help of every command, so that a change of what people read shows in the diff.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};
use oxmox::cli::Cli;

fn collect(command: &mut Command, path: &str, all: &mut String) {
    writeln!(all, "$ {path} --help\n{}", command.render_help()).unwrap();
    for below in command
        .get_subcommands_mut()
        .filter(|below| below.get_name() != "help")
    {
        let path = format!("{path} {}", below.get_name());
        collect(below, &path, all);
    }
}

#[test]
fn the_help_tree() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut all = String::new();
    collect(&mut command, "oxmox", &mut all);
    assert!(!all.contains("simply"));
    insta::assert_snapshot!(all);
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}
