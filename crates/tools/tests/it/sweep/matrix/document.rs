//! docs/reliability.md tells the matrix: its columns, its size, its exceptions. Compared here, and written anew on request.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::cases::cases;
use super::{Column, answers, cells, places, store, tasks};

const BEGIN: &str = "<!-- matrix begin -->\n";
const END: &str = "<!-- matrix end -->";

const COLUMNS: &[&Column] = &[
    &answers::CONNECTION_REFUSED,
    &answers::RESET_BEFORE,
    &answers::RESET_AFTER,
    &answers::REFUSED_500,
    &answers::BAD_GATEWAY,
    &answers::NO_ROUTE,
    &answers::BROKEN_PIPE,
    &answers::BROKEN_PIPE_AFTER,
    &answers::TIMEOUT,
    &answers::SLOW,
    &answers::CUT_ANSWER,
    &answers::GIBBERISH,
    &answers::LOGIN_PAGE,
    &answers::EMPTY_WORD,
    &answers::EXPIRED_TICKET,
    &answers::REFUSED_CREDENTIALS,
    &tasks::FAILED,
    &tasks::LOST,
    &tasks::IDLE,
    &places::NODE_GONE,
    &places::QUORUM_LOST,
];

const MOMENTS: &[&store::Moment] = &[
    &store::AT_FIRST,
    &store::AT_TAKING,
    &store::AFTER_SENDING,
    &store::AT_CLOSING,
];

async fn section() -> String {
    let mut table = String::new();
    let mut all = 0;
    for column in COLUMNS {
        let count = cells(column.meets).await.len();
        all += count;
        let _ = writeln!(table, "| {} | {} | {count} |", column.name, column.comes);
    }
    let plans = store::plans().await.len();
    for moment in MOMENTS {
        all += plans;
        let _ = writeln!(table, "| {} | {} | {plans} |", moment.name, moment.comes);
    }
    let tools: BTreeSet<_> = cases()
        .await
        .iter()
        .map(|case| case.tool.spec().name)
        .collect();
    let (tools, columns) = (tools.len(), COLUMNS.len() + MOMENTS.len());
    eprintln!("{tools} tools, {columns} faults: {all} cells");
    let mut excuses = String::new();
    for column in COLUMNS.iter().filter(|column| !column.excuses.is_empty()) {
        let _ = writeln!(excuses, "\n{}:\n", column.name);
        for (tool, why) in column.excuses {
            let _ = writeln!(excuses, "- `{tool}`: {why}");
        }
    }
    format!(
        "{tools} tools, {columns} faults: {all} cells.\n\n| what goes wrong | what is said and done | cells |\n\
         |---|---|---:|\n{table}\nWhat is typed on a console is `failed` wherever the console did not open: nothing was typed. A packet that \
         wakes a node is\nsent by another one, which does not know whether it came. Files and lists that are only read may be read \
         again, and the answer\nsays so: of these any word but a wrong one is right.\n\n## Exceptions\n\nOf these it is said that they are done although nothing was, because nobody \
         can see the difference:\nPVE says that it went well, and things are as they should be. The list is held to be \
         minimal.\n{excuses}\n"
    )
}

#[tokio::test]
async fn the_document_tells_the_matrix() {
    if !super::super::all_of_them() {
        return;
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}{}{END}{after}", section().await);
    if std::env::var_os("OXMOX_WRITE_DOCS").is_some() {
        std::fs::write(&file, expected).unwrap();
        return;
    }
    assert!(
        document == expected,
        "docs/reliability.md does not tell the matrix as it is: \
         OXMOX_WRITE_DOCS=1 cargo test -p oxmox-tools --test it matrix::document"
    );
}
