//! The report for people and for programs.

use serde_json::{Value, json};
use tools::words;

use super::finding::{Level, Report};

impl Report {
    /// A table, each finding with its hint below it; readable without colour.
    pub fn text(&self) -> String {
        let rows: Vec<_> = self
            .findings
            .iter()
            .map(|finding| {
                [
                    finding.level.word().to_owned(),
                    finding.cluster.clone().unwrap_or_else(|| "-".to_owned()),
                    finding.check.to_owned(),
                    finding.says.clone(),
                ]
            })
            .collect();
        let table = words::table(["result", "cluster", "check", "what is so"], &rows);
        let mut lines = table.lines();
        let mut out: Vec<String> = lines.next().map(str::to_owned).into_iter().collect();
        for (line, finding) in lines.zip(&self.findings) {
            out.push(line.to_owned());
            out.extend(finding.hint.iter().map(|hint| format!("  hint: {hint}")));
        }
        out.push(String::new());
        out.push(self.summary());
        out.join("\n")
    }

    fn summary(&self) -> String {
        let count = |level: Level| self.findings.iter().filter(|f| f.level == level).count();
        let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
        match (problems, warnings) {
            (0, 0) => "Everything that was looked at works.".to_owned(),
            (0, _) => format!("It works; {}.", words::count(warnings, "warning")),
            _ => format!(
                "{}, {}.",
                words::count(problems, "problem"),
                words::count(warnings, "warning")
            ),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({
            "worst": self.worst(),
            "findings": self.findings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Finding;
    use super::*;

    #[test]
    fn each_hint_stands_below_its_finding() {
        let report = Report {
            findings: vec![
                Finding::ok("store", "fine"),
                Finding::problem("tls", "the \u{1b}[31mpin is wrong", "set pin").at("lab"),
                Finding::warning("clock", "late").at("lab"),
            ],
        };
        assert_eq!(
            report.text(),
            "result   cluster  check  what is so\n\
             ok       -        store  fine\n\
             PROBLEM  lab      tls    the [31mpin is wrong\n  \
             hint: set pin\n\
             WARNING  lab      clock  late\n\n\
             1 problem, 1 warning."
        );
        assert_eq!(report.worst(), Level::Problem);
        assert_eq!(report.json()["findings"][1]["level"], "problem");
    }
}
