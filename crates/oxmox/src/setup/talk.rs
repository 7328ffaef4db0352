//! Questions to the person at the terminal. Where nobody is there, a question that has no answer yet names its flag.

use dialoguer::theme::ColorfulTheme;
use dialoguer::{Confirm, Input, MultiSelect, Password, Select};
use secrecy::SecretString;
use tools::fault::{Fault, Kind};

use crate::cli::person;

/// Whoever can be asked.
#[derive(Debug, Clone, Copy)]
pub struct Talk {
    there: bool,
}

impl Talk {
    /// The terminal of this process; with `yes`, what has a default is not asked.
    pub fn new(yes: bool) -> Self {
        Self {
            there: person::is_there() && !yes,
        }
    }

    /// Whether somebody can be asked.
    pub fn is_there(self) -> bool {
        self.there
    }

    /// A line. Without a default, it is needed.
    pub fn line(self, question: &str, default: Option<&str>, flag: &str) -> Result<String, Fault> {
        match (self.there, default) {
            (false, Some(default)) => Ok(default.to_owned()),
            (false, None) => Err(needed(question, flag)),
            (true, default) => {
                let theme = ColorfulTheme::default();
                let mut input = Input::with_theme(&theme).with_prompt(question);
                if let Some(default) = default {
                    input = input.default(default.to_owned());
                }
                input.interact_text().map_err(gone)
            }
        }
    }

    /// A secret, which is not shown.
    pub fn secret(self, question: &str, flag: &str) -> Result<SecretString, Fault> {
        // Also with `--yes`: it has no default.
        if !person::is_there() {
            return Err(needed(question, flag));
        }
        let theme = ColorfulTheme::default();
        let answer = Password::with_theme(&theme)
            .with_prompt(question)
            .interact();
        answer.map(SecretString::from).map_err(gone)
    }

    /// One of several.
    pub fn choose(self, question: &str, items: &[String], default: usize) -> Result<usize, Fault> {
        if !self.there {
            return Ok(default);
        }
        let theme = ColorfulTheme::default();
        let select = Select::with_theme(&theme).with_prompt(question);
        select
            .items(items)
            .default(default)
            .interact()
            .map_err(gone)
    }

    /// Any of several.
    pub fn pick(self, question: &str, items: &[String], on: &[bool]) -> Result<Vec<usize>, Fault> {
        if !self.there {
            let picked = on.iter().enumerate().filter(|(_, on)| **on);
            return Ok(picked.map(|(at, _)| at).collect());
        }
        let theme = ColorfulTheme::default();
        let question = format!("{question} (space marks, enter goes on)");
        let select = MultiSelect::with_theme(&theme).with_prompt(question);
        select.items(items).defaults(on).interact().map_err(gone)
    }

    /// Yes or no, and no if nobody is there.
    pub fn agree(self, question: &str) -> Result<bool, Fault> {
        if !self.there {
            return Ok(false);
        }
        let theme = ColorfulTheme::default();
        let confirm = Confirm::with_theme(&theme).with_prompt(question);
        confirm.default(false).interact().map_err(gone)
    }
}

fn needed(what: &str, flag: &str) -> Fault {
    Fault::bad_input(format!("nobody is at a terminal to say: {what}"))
        .hint(format!("say it with {flag}"))
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn gone(error: dialoguer::Error) -> Fault {
    Fault::new(
        Kind::Failed,
        format!("the terminal gave no answer: {error}"),
    )
    .hint("nothing was changed; `oxmox setup --help` lists the flags that say it all beforehand")
}
