//! The form in which a plan is put to a person, and the reading of what comes back. Pure.

use std::fmt::Write as _;

use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema,
};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tools::clean;
use tools::engine::{Asked, Question};
use tools::outcome::Outcome;
use tools::plan::Effect;
use tools::spec::Risk;

/// The box that says yes.
const APPROVE: &str = "approve";
/// The box that lets the yes cover the next ten minutes of key presses.
const LEASE: &str = "ten_minutes";
/// Things that come to be or stay which are named one by one, where nothing is handed out.
const MOST_NAMED: usize = 20;
/// Characters of a line, before it is broken.
const WIDTH: usize = 100;
/// Characters of a question that a person still reads to its end in a form.
const LONGEST: usize = 8_000;

/// Whether a form can hold the question. Nothing is cut to make it fit: who says yes has seen what it is to.
pub(super) fn fits(question: &Question) -> bool {
    message(question).chars().count() <= LONGEST
}

/// The question as a form.
pub(super) fn of(question: &Question) -> ElicitRequest {
    let mut form =
        ElicitationSchema::builder().required_bool_property(APPROVE, |tick: BooleanSchema| {
            tick.title("Approve")
                .description("Ticked: do exactly this, once. Not ticked: do not.")
        });
    if question.can_lease {
        form = form.bool_property(LEASE, |tick| {
            tick.title("Also for the next ten minutes")
                .description("Approve all keys and text on this VM's console for ten minutes, except secrets.")
                .with_default(false)
        });
    }
    // What is required was added in the line before.
    let requested_schema = form.build_unchecked();
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(question),
        requested_schema,
    })
}

/// The question whether to stop what is unsafe to stop.
pub(super) fn of_stop(steps: &[String]) -> ElicitRequest {
    let form = ElicitationSchema::builder().required_bool_property(APPROVE, |tick| {
        tick.title("Stop it all the same")
            .description("Ticked: stop it half-way. Not ticked: let it come to its end.")
    });
    let mut message = "It was cancelled, but this still runs and is unsafe to stop: a guest or disk may be left half-done \
                       or locked.\n"
        .to_owned();
    for step in steps {
        let _ = writeln!(message, "{}", line("- ", step));
    }
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        // What is required was added in the line before.
        requested_schema: form.build_unchecked(),
    })
}

/// What the person decided.
pub(super) fn answer(result: &ElicitResult, caller: &str) -> Asked {
    let by = format!("the person at {caller}");
    let ticked = |name: &str| {
        let content = result.content.as_ref();
        // The content is the client's, and nothing has checked it: only a real `true` is a tick.
        content.and_then(|content| content.get(name)) == Some(&Value::Bool(true))
    };
    match result.action {
        ElicitationAction::Accept if ticked(APPROVE) => Asked::Yes {
            by,
            lease: ticked(LEASE),
        },
        // Dismissed: put away without an answer.
        ElicitationAction::Cancel => Asked::Undecided,
        _ => Asked::No { by },
    }
}

/// The plan in words: what is done, what it costs, what to know. A secret text is shown to the person who is asked: it may be
/// a command, and the client that asked has it anyway.
fn message(question: &Question) -> String {
    let outcome = &question.outcome;
    let mut lines = vec![
        line("", &outcome.summary),
        line("Cluster: ", &outcome.cluster),
        line("Risk: ", outcome.risk.word()),
    ];
    lines.extend(steps(outcome));
    let secrets = question.secret_texts.iter();
    lines.extend(secrets.map(|text| line("Secret text: ", &quoted(text.expose_secret()))));
    if !outcome.affects.is_empty() {
        lines.push("Affected:".to_owned());
        lines.extend(affected(outcome));
    }
    lines.extend(outcome.warnings.iter().map(|it| line("Warning: ", it)));
    lines.push(format!("Plan {}", outcome.plan));
    lines.join("\n")
}

/// A text in quotation marks, as a string of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// What is done, and what is sent for it: all of it, for that is what a yes is to.
fn steps(outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    let several = outcome.steps.len() > 1;
    if several {
        lines.push("Steps:".to_owned());
    }
    for (index, step) in outcome.steps.iter().enumerate() {
        if several {
            lines.push(line(&format!("{}. ", index + 1), &step.step));
        }
        let sends = outcome.sends.get(index);
        lines.extend(sends.map(|sends| line("Sends: ", sends)));
    }
    lines
}

/// What is affected, one by one. Only of what nobody loses anything by, the end of a long list is left out.
fn affected(outcome: &Outcome) -> Vec<String> {
    let is_harmless = |item: &str| {
        let is = |effect: Effect| item.starts_with(&format!("{}: ", effect.word()));
        outcome.risk != Risk::Grant && (is(Effect::Created) || is(Effect::Kept))
    };
    let (mut lines, mut harmless) = (Vec::new(), 0_usize);
    for item in &outcome.affects {
        harmless += usize::from(is_harmless(item));
        if harmless <= MOST_NAMED || !is_harmless(item) {
            lines.push(line("- ", item));
        }
    }
    let more = harmless.saturating_sub(MOST_NAMED);
    lines.extend((more > 0).then(|| format!("- and {more} more that come to be or stay")));
    lines
}

/// What the plan brings along, as one line after its heading. Where it is long it is broken, and what follows is set in:
/// no name in it can begin a line of its own.
fn line(heading: &str, text: &str) -> String {
    let mut out = heading.to_owned();
    let mut column = heading.chars().count();
    let mut is_first = true;
    // Line and paragraph separators are white space too. A run of it could push what follows out of sight.
    for word in clean::marked(text).split_whitespace() {
        let word = clean::line(word);
        if !is_first && column + 1 + word.chars().count() > WIDTH {
            (out, column) = broken(out);
        } else if !is_first {
            out.push(' ');
            column += 1;
        }
        is_first = false;
        for letter in word.chars() {
            if column >= WIDTH {
                (out, column) = broken(out);
            }
            out.push(letter);
            column += 1;
        }
    }
    out
}

/// On the next line, set in.
fn broken(mut text: String) -> (String, usize) {
    const SET_IN: &str = "\n    ";
    text.push_str(SET_IN);
    (text, SET_IN.len() - 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::outcome::Status;

    use super::*;

    fn question(can_lease: bool) -> Question {
        let outcome = Outcome {
            status: Status::NeedsConfirmation,
            summary: "Delete VM 105 (staging) on pve1".to_owned(),
            cluster: "home".to_owned(),
            risk: Risk::Destroy,
            plan: "k3x".to_owned(),
            steps: Vec::new(),
            sends: Vec::new(),
            affects: vec!["destroyed: disk local-lvm:vm-105-disk-0, 32.0 GiB".to_owned()],
            warnings: vec!["2 backups stay".to_owned()],
            confirm: None,
            undo: None,
            next: None,
        };
        Question {
            outcome,
            state: "k3x.seal".to_owned(),
            can_lease,
            secret_texts: Vec::new(),
        }
    }

    fn said(action: &str, content: &Value) -> Asked {
        let result = json!({"action": action, "content": content});
        answer(&serde_json::from_value(result).unwrap(), "stdio:test")
    }

    fn no() -> Asked {
        Asked::No {
            by: "the person at stdio:test".to_owned(),
        }
    }

    #[test]
    fn the_plan_is_told_with_sizes() {
        assert_eq!(
            message(&question(false)),
            "Delete VM 105 (staging) on pve1\nCluster: home\nRisk: destroy\nAffected:\n\
             - destroyed: disk local-lvm:vm-105-disk-0, 32.0 GiB\nWarning: 2 backups stay\nPlan k3x"
        );
    }

    #[test]
    fn a_name_cannot_add_a_line() {
        let mut question = question(false);
        let outcome = &mut question.outcome;
        outcome.summary = "Delete VM 105 (x\nRisk: read\u{2028}Nothing is lost\u{202e})".to_owned();
        outcome.affects[0].push_str(" (a\r\nb)");
        let lines = message(&question);
        assert!(lines.starts_with(
            "Delete VM 105 (x Risk: read Nothing is lost)\nCluster: home\nRisk: destroy\n"
        ));
        assert!(lines.contains("32.0 GiB (a b)\n"));
    }

    #[test]
    fn a_long_list_says_what_it_leaves_out() {
        let mut question = question(false);
        question.outcome.affects = vec!["kept: backup nas:backup/x".to_owned(); MOST_NAMED + 3];
        let told = message(&question);
        assert_eq!(told.matches("nas:backup/x").count(), MOST_NAMED);
        assert!(told.contains("\n- and 3 more that come to be or stay\n"));
    }

    #[test]
    fn what_is_lost_is_named_to_the_last_or_not_asked_here() {
        let mut question = question(false);
        let many = |effect: &'static str, count| {
            let item = move |number| format!("{effect}: backup nas:backup/{effect}-{number}");
            (0..count).map(item)
        };
        let losses = ["changed", "interrupted", "destroyed"].map(|it| many(it, MOST_NAMED + 1));
        let affects = many("kept", MOST_NAMED + 1).chain(losses.into_iter().flatten());
        question.outcome.affects = affects.collect();
        let told = message(&question);
        for item in &question.outcome.affects[MOST_NAMED + 1..] {
            assert!(told.contains(&format!("\n- {item}\n")), "{item}");
        }
        assert!(fits(&question));
        question.outcome.affects.extend(many("destroyed", 300));
        assert!(!fits(&question));
    }

    #[test]
    fn what_is_granted_is_shown_in_full_or_not_asked_here() {
        let mut question = question(false);
        question.outcome.risk = Risk::Grant;
        let command = "x".repeat(700);
        question.outcome.affects =
            vec![format!("changed: setting args (unset -> -device {command})"); MOST_NAMED / 4];
        let told = message(&question);
        assert!(told.lines().all(|line| line.chars().count() <= WIDTH));
        let unbroken = told.replace("\n    ", "");
        assert_eq!(unbroken.matches(&command).count(), MOST_NAMED / 4);
        assert!(fits(&question));
        question.outcome.affects = vec!["changed: setting x".to_owned(); MOST_NAMED + 1];
        assert!(!message(&question).contains("more"));
        question.outcome.affects = vec![command.repeat(12)];
        assert!(!fits(&question));
    }

    #[test]
    fn everything_that_is_sent_is_told() {
        let mut question = question(false);
        let step = |says: &str| tools::outcome::StepOutcome::unsent(says);
        let words: Vec<_> = (0..400).map(|number| format!("word{number}")).collect();
        let command = format!("POST /x command=\"{}\"", words.join(" "));
        question.outcome.steps = vec![step("Run it")];
        question.outcome.sends = vec![command.clone()];
        let told = message(&question);
        assert!(told.contains("\nSends: POST /x command="), "{told}");
        assert!(told.replace("\n    ", " ").contains(&command), "{told}");
        question.outcome.steps.push(step("Then this"));
        question.outcome.sends.push("DELETE /y".to_owned());
        let told = message(&question);
        assert!(
            told.contains("\n2. Then this\nSends: DELETE /y\n"),
            "{told}"
        );
        question.outcome.sends = vec!["x".repeat(LONGEST)];
        assert!(!fits(&question));
    }

    #[test]
    fn secret_text_is_shown_to_the_person_who_is_asked() {
        let mut question = question(false);
        question.secret_texts = vec!["rm -rf /   \"x\"\u{202e}".into()];
        let told = message(&question);
        let shown = "\nSecret text: \"rm -rf / [3 blanks] \\\"x\\\"\"\n";
        assert!(told.contains(shown), "{told}");
        assert!(!format!("{question:?}").contains("rm -rf"));
    }

    #[test]
    fn blanks_push_nothing_out_of_sight() {
        let mut question = question(false);
        question.outcome.summary = format!("Run \"echo hello{}; rm -rf /\"", " ".repeat(1000));
        let told = message(&question);
        let shown = "Run \"echo hello [1000 blanks] ; rm -rf /\"\n";
        assert!(told.starts_with(shown), "{told}");
    }

    #[test]
    fn the_lease_is_offered_only_where_there_is_one() {
        let schema = |can_lease| {
            let form = serde_json::to_value(of(&question(can_lease))).unwrap();
            form["params"]["requestedSchema"].clone()
        };
        assert!(schema(false)["properties"].get(LEASE).is_none());
        assert!(schema(true)["properties"].get(LEASE).is_some());
        assert_eq!(schema(true)["required"], json!([APPROVE]));
    }

    #[test]
    fn only_a_real_tick_is_a_yes() {
        let yes = |lease| Asked::Yes {
            by: "the person at stdio:test".to_owned(),
            lease,
        };
        assert_eq!(said("accept", &json!({"approve": true})), yes(false));
        assert_eq!(
            said("accept", &json!({"approve": true, "ten_minutes": true})),
            yes(true)
        );
        for content in [
            json!({}),
            json!({"approve": false}),
            json!({"approve": "true"}),
            json!({"approve": 1}),
            json!(null),
        ] {
            assert_eq!(said("accept", &content), no());
        }
        assert_eq!(said("decline", &json!({"approve": true})), no());
        assert_eq!(said("cancel", &json!(null)), Asked::Undecided);
        assert_eq!(said("cancel", &json!({"approve": true})), Asked::Undecided);
    }
}
