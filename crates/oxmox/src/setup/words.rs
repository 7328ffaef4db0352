//! A plan in words: for each thing what it is, and exactly what is sent or written.

use std::fmt::Write as _;

use pve::Request;
use tools::clean;

use super::plan::Plan;
use crate::files::Draft;

/// `POST /access/roles roleid=oxmox-read privs=…`
pub fn request(request: &Request) -> String {
    let mut text = request.to_string();
    for (key, value) in &request.params {
        let _ = write!(text, " {key}={value}");
    }
    text
}

/// The whole plan.
pub fn plan(plan: &Plan, place: &str) -> String {
    let mut text = String::new();
    let first = plan.steps.iter();
    let first = first.map(|step| (&step.says, step.request.clone()));
    let last = plan.last.iter().map(|last| (&last.says, last.gone.undo()));
    let steps: Vec<_> = first.chain(last).collect();
    if !steps.is_empty() || !plan.stays.is_empty() {
        let _ = writeln!(text, "on {place}:");
    }
    for (at, (says, sent)) in steps.iter().enumerate() {
        let _ = writeln!(text, "  {}. {says}", at + 1);
        let _ = writeln!(text, "     {}", request(sent));
    }
    for stays in &plan.stays {
        let _ = writeln!(text, "  stays as it is: {stays}");
    }
    let _ = writeln!(text, "on this machine:");
    if let Some(secret) = &plan.secret {
        let _ = writeln!(text, "  - keep the token's secret in {secret}");
    }
    let authority = (plan.authority.iter()).map(|draft| {
        let act = if draft.after.is_none() {
            "remove"
        } else {
            "write"
        };
        (
            format!("{act} the certificate of the cluster's authority"),
            draft,
        )
    });
    let config = [("write the configuration of oxmox".to_owned(), &plan.config)];
    let clients = (plan.clients.iter())
        .map(|(client, draft)| (format!("enter oxmox in {}", client.title()), draft));
    let mut files = 0;
    let all = authority.chain(config).chain(clients);
    for (what, draft) in all.filter(|(_, draft)| draft.is_change()) {
        text.push_str(&file(&what, draft));
        files += 1;
    }
    for keep in &plan.superseded {
        let _ = writeln!(text, "  - remove the secret of an earlier token: {keep}");
    }
    if files == 0 && plan.secret.is_none() && plan.superseded.is_empty() {
        text.push_str("  nothing\n");
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    clean::text(&text)
}

fn file(what: &str, draft: &Draft) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "  - {what}, {}:", draft.path.display());
    for line in draft.diff().lines() {
        let _ = writeln!(text, "      {line}");
    }
    if draft.keeps_copy() {
        let _ = writeln!(
            text,
            "    what it held is kept as {}",
            draft.backup().display()
        );
    }
    text
}
