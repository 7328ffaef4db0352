//! Questions to the person at the terminal. Where nobody is there, a question that has no answer yet names its flag.

use std::fmt::Write as _;

use secrecy::SecretString;
use tools::fault::Fault;

use super::keyboard;
use crate::cli::{out, person};
use crate::config::is_text;

/// How often a question is put again whose answer is none.
const TRIES: usize = 3;

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

    /// For questions that are not to be put: their defaults hold.
    #[must_use]
    pub fn silent(self) -> Self {
        Self { there: false }
    }

    /// Whether somebody can be asked.
    pub fn is_there(self) -> bool {
        self.there
    }

    /// A line. Without a default, it is needed.
    pub async fn line(
        self,
        question: &str,
        default: Option<&str>,
        flag: &str,
    ) -> Result<String, Fault> {
        match (self.there, default) {
            (false, Some(default)) => Ok(default.to_owned()),
            (false, None) => Err(needed(question, flag)),
            (true, default) => {
                let offered = default.map(|default| format!(" [{default}]"));
                let prompt = format!("{question}{}: ", offered.unwrap_or_default());
                let hint = instead(flag);
                let answer = until(
                    &hint,
                    || keyboard::line(prompt.clone()),
                    |line| {
                        let line = line.trim();
                        match default {
                            _ if !line.is_empty() => Ok(line.to_owned()),
                            Some(default) => Ok(default.to_owned()),
                            None => Err("something has to be said here".to_owned()),
                        }
                    },
                );
                answer.await
            }
        }
    }

    /// A secret, which is not shown.
    pub async fn secret(self, question: &str, flag: &str) -> Result<SecretString, Fault> {
        // Also with `--yes`: it has no default.
        if !person::is_there() {
            return Err(needed(question, flag));
        }
        let prompt = format!("{question} (not shown): ");
        let hint = instead(flag);
        let answer = until(
            &hint,
            || keyboard::hidden(prompt.clone()),
            |line| {
                if line.is_empty() {
                    return Err("nothing was typed".to_owned());
                }
                let secret = SecretString::from(line);
                is_text(&secret).map_err(|fault| fault.message)?;
                Ok(secret)
            },
        );
        answer.await
    }

    /// One of several.
    pub async fn choose(
        self,
        question: &str,
        items: &[String],
        default: usize,
    ) -> Result<usize, Fault> {
        if !self.there {
            return Ok(default);
        }
        out::say(listed(question, items));
        let prompt = format!("Which one? [{}] ", default + 1);
        let answer = until(
            FLAGS,
            || keyboard::line(prompt.clone()),
            |line| match line.trim() {
                "" => Ok(default),
                word => which(items, word),
            },
        );
        answer.await
    }

    /// Any of several.
    pub async fn pick(
        self,
        question: &str,
        items: &[String],
        on: &[bool],
    ) -> Result<Vec<usize>, Fault> {
        let marked = on.iter().enumerate().filter(|(_, on)| **on);
        let marked: Vec<usize> = marked.map(|(at, _)| at).collect();
        if !self.there {
            return Ok(marked);
        }
        out::say(listed(question, items));
        let offered: Vec<_> = marked.iter().map(|at| (at + 1).to_string()).collect();
        let offered = if offered.is_empty() {
            NONE.to_owned()
        } else {
            offered.join(",")
        };
        let prompt = format!("Which ones, such as 1,2, or {NONE}? [{offered}] ");
        let answer = until(
            FLAGS,
            || keyboard::line(prompt.clone()),
            |line| {
                let words = line.split([',', ' ']).filter(|word| !word.is_empty());
                let words: Vec<&str> = words.collect();
                match words.as_slice() {
                    [] => Ok(marked.clone()),
                    [word] if word.eq_ignore_ascii_case(NONE) => Ok(Vec::new()),
                    words => words.iter().map(|word| which(items, word)).collect(),
                }
            },
        );
        let mut picked = answer.await?;
        picked.sort_unstable();
        picked.dedup();
        Ok(picked)
    }

    /// Whether somebody is there to say yes.
    pub fn can_agree(self) -> Result<(), Fault> {
        if self.there {
            return Ok(());
        }
        Err(Fault::bad_input("nobody is at a terminal to agree to this")
            .hint("--yes agrees beforehand; --dry-run only shows it"))
    }

    /// Yes or no, and no if nobody is there.
    pub async fn agree(self, question: &str) -> Result<bool, Fault> {
        if !self.there {
            return Ok(false);
        }
        let line = keyboard::line(format!("{question} [y/N] ")).await?;
        let word = line.trim().to_ascii_lowercase();
        Ok(word == "y" || word == "yes")
    }
}

const NONE: &str = "none";

/// Where the answer can come from that nobody gave.
const FLAGS: &str = "`oxmox setup --help` lists the flags that say it beforehand";

fn instead(flag: &str) -> String {
    format!("give it by {flag} instead")
}

/// Asks until the answer is one, and no more often than is worth it.
async fn until<T, Asking>(
    hint: &str,
    ask: impl Fn() -> Asking,
    understand: impl Fn(String) -> Result<T, String>,
) -> Result<T, Fault>
where
    Asking: Future<Output = Result<String, Fault>>,
{
    for _ in 1..TRIES {
        match understand(ask().await?) {
            Ok(answer) => return Ok(answer),
            Err(why) => out::say(why),
        }
    }
    understand(ask().await?).map_err(|why| {
        Fault::bad_input(format!("{why}, {TRIES} times; nothing was changed")).hint(hint)
    })
}

fn listed(question: &str, items: &[String]) -> String {
    let mut text = question.to_owned();
    for (at, item) in items.iter().enumerate() {
        let _ = write!(text, "\n  {}  {}", at + 1, tools::clean::line(item));
    }
    text
}

/// By its number, or by how it begins.
fn which(items: &[String], word: &str) -> Result<usize, String> {
    if let Ok(number) = word.parse::<usize>() {
        let at = number.checked_sub(1).filter(|at| *at < items.len());
        return at.ok_or_else(|| format!("there is no {number}: 1 to {}", items.len()));
    }
    let word = word.to_lowercase();
    let mut found = items.iter().enumerate().filter(|(_, item)| {
        let item = item.to_lowercase();
        item.starts_with(&word)
    });
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        _ => Err(format!("a number, please, 1 to {}", items.len())),
    }
}

fn needed(what: &str, flag: &str) -> Fault {
    Fault::bad_input(format!("nobody is at a terminal to say: {what}"))
        .hint(format!("say it with {flag}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_says_nothing_is_told_where_it_can_come_from() {
        let asked = std::cell::Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            std::future::ready(Ok(String::new()))
        };
        let none = |_| Err::<(), _>("nothing was typed".to_owned());
        let fault = until(&instead("stdin"), ask, none).await.unwrap_err();
        assert_eq!(asked.get(), TRIES);
        assert_eq!(fault.hint.as_deref(), Some("give it by stdin instead"));
    }

    #[test]
    fn an_answer_is_a_number_or_a_beginning() {
        let items = ["Claude Desktop", "Claude Code", "Zed"].map(str::to_owned);
        assert_eq!(which(&items, "3"), Ok(2));
        assert_eq!(which(&items, "zed"), Ok(2));
        assert_eq!(which(&items, "claude c"), Ok(1));
        for wrong in ["0", "4", "claude", "vim"] {
            assert!(which(&items, wrong).is_err(), "{wrong}");
        }
    }
}
