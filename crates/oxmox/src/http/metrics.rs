//! What was counted, as Prometheus reads it: <https://prometheus.io/docs/instrumenting/exposition_formats/>. Written by hand,
//! since all of it fits on a page.

use std::fmt::{Display, Write as _};

use tools::caller::Bounds;
use tools::engine::Engine;
use tools::meter::CLASSES;

/// All that was counted since the process began, of the clusters within these bounds.
pub(super) fn render(engine: &Engine, bounds: &Bounds) -> String {
    let clusters = || {
        let all = engine.clusters().iter();
        all.filter(|cluster| bounds.reach_cluster(&cluster.name))
    };
    let mut page = Page::default();
    page.family("oxmox_build_info", "gauge", "The version that runs.");
    page.sample(
        "oxmox_build_info",
        &[("version", env!("CARGO_PKG_VERSION"))],
        1,
    );
    calls(&mut page, engine);
    page.family(
        "oxmox_plans_total",
        "counter",
        "Plans by what became of them.",
    );
    for (outcome, count) in engine.meter().plans() {
        let outcome = outcome.replace(' ', "_");
        page.sample("oxmox_plans_total", &[("outcome", &outcome)], count);
    }
    let name = "oxmox_pve_requests_total";
    page.family(name, "counter", "Requests to PVE; status 0 is no answer.");
    for cluster in clusters() {
        for (method, status, count) in cluster.pve.tally().requests() {
            let status = status.unwrap_or_default().to_string();
            let labels = [
                ("cluster", cluster.name.as_str()),
                ("method", method.as_str()),
                ("status", &status),
            ];
            page.sample(name, &labels, count);
        }
    }
    let name = "oxmox_cluster_answering";
    page.family(
        name,
        "gauge",
        "Whether the last request to a cluster was answered.",
    );
    for cluster in clusters() {
        if let Some(reached) = cluster.pve.tally().reached() {
            page.sample(name, &[("cluster", &cluster.name)], u8::from(reached));
        }
    }
    page.text
}

fn calls(page: &mut Page, engine: &Engine) {
    let counted = engine.meter().calls();
    let name = "oxmox_tool_errors_total";
    page.family(name, "counter", "Calls of tools that failed, by kind.");
    for (tool, calls) in &counted {
        for (kind, count) in &calls.failed {
            page.sample(name, &[("tool", tool), ("kind", kind)], count);
        }
    }
    let name = "oxmox_tool_duration_seconds";
    page.family(name, "histogram", "Calls of tools by how long they took.");
    for (tool, calls) in &counted {
        let mut so_far = 0;
        for (class, count) in CLASSES.iter().zip(calls.took) {
            so_far += count;
            let labels = [("tool", *tool), ("le", &class.to_string())];
            page.sample("oxmox_tool_duration_seconds_bucket", &labels, so_far);
        }
        let all = [("tool", *tool), ("le", "+Inf")];
        page.sample("oxmox_tool_duration_seconds_bucket", &all, calls.count);
        let tool = [("tool", *tool)];
        page.sample("oxmox_tool_duration_seconds_sum", &tool, calls.seconds);
        page.sample("oxmox_tool_duration_seconds_count", &tool, calls.count);
    }
    let name = "oxmox_tool_calls_total";
    page.family(name, "counter", "Calls of tools.");
    for (tool, calls) in &counted {
        page.sample(name, &[("tool", tool)], calls.count);
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<_> = labels
            .iter()
            .map(|(key, value)| format!("{key}=\"{}\"", escaped(value)))
            .collect();
        let _ = writeln!(self.text, "{name}{{{}}} {value}", labels.join(","));
    }
}

/// Names of clusters are a person's choice.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_end_its_line() {
        let mut page = Page::default();
        page.sample("x", &[("cluster", "a\"b\\c\nd")], 1);
        assert_eq!(page.text, "x{cluster=\"a\\\"b\\\\c\\nd\"} 1\n");
    }
}
