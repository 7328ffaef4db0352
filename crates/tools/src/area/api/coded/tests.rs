use pve::apidoc::Schema;

use super::*;
use crate::deed::Deed;
use crate::reference::schemas;

/// Endpoints that count as what a tool does, and that the tool does not send itself: a rule about the tool holds for them.
/// A raw request to one is a raw request.
const NOT_SENT: &[&str] = &[
    "/nodes/{}/status",
    "/cluster/bulk-action/guest/shutdown",
    "/cluster/bulk-action/guest/start",
    "/cluster/bulk-action/guest/suspend",
    "/cluster/config/join",
    "/nodes/{}/migrateall",
    "/nodes/{}/suspendall",
    "/nodes/{}/{guest}/agent",
    "/nodes/{}/{guest}/agent/shutdown",
    "/nodes/{}/{guest}/agent/suspend-disk",
    "/nodes/{}/{guest}/agent/suspend-hybrid",
    "/nodes/{}/{guest}/agent/suspend-ram",
    "/nodes/{}/{guest}/remote_migrate",
];

#[test]
fn every_endpoint_of_a_coded_tool_has_a_row_or_a_declared_tool() {
    let mut wrong = Vec::new();
    for tool in registry::all() {
        for deed in tool.deeds() {
            let Deed::Sends { verb, path, .. } = *deed else {
                continue;
            };
            let is_row = |row: &Row| {
                let kinds = ["qemu/{vmid}", "lxc/{vmid}"];
                let mut paths = kinds.iter().map(|kind| row.path.replace("{guest}", kind));
                row.verb == verb && paths.any(|template| fits(&template, path))
            };
            let declared = super::super::declared::of_method;
            let is_here = rows().any(is_row) || declared(verb, path).is_some();
            if is_here == NOT_SENT.contains(&path) {
                wrong.push(format!("{}: {verb} {path}", tool.spec().name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_argument_of_a_row_is_one_of_its_tool() {
    for row in rows() {
        let tool = registry::find_change(row.tool).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(!tool.deeds().is_empty(), "{} is not coded", row.tool);
        let input = tool.input();
        let to = row.takes.iter().map(|take| take.to);
        for argument in to.chain(row.with.iter().map(|(name, _)| *name)) {
            let name = argument.split('.').next().unwrap_or_default();
            // What create_vm and create_container take besides is not listed.
            let is_known = matches!(name, "" | "more") || input["properties"].get(name).is_some();
            assert!(is_known, "{} has no argument {argument}", row.tool);
        }
    }
}

#[test]
fn every_parameter_of_a_row_is_one_of_its_endpoint() {
    let schemas = schemas();
    if schemas.is_empty() {
        return;
    }
    for row in rows() {
        let methods = || {
            let all = schemas.iter().flat_map(Schema::methods);
            all.filter(|it| it.verb == row.verb && fits(&it.path, row.path))
        };
        assert!(methods().next().is_some(), "{} {}", row.verb, row.path);
        for take in row.takes {
            let known = methods().any(|method| method.parameter(take.from).is_some());
            // Several endpoints share their parameters here.
            let is_shared = matches!(
                take.from,
                "archive"
                    | "background_delay"
                    | "ignore-unpack-errors"
                    | "import-working-storage"
                    | "live-restore"
                    | "ostemplate"
                    | "restore"
            );
            assert!(
                known || is_shared,
                "{} {}: {}",
                row.verb,
                row.path,
                take.from
            );
        }
    }
}

#[test]
fn only_a_disk_that_is_made_is_a_new_disk() {
    let reads = |text: &str| {
        let form = row::Form::NewDisk;
        form.read(&[text.to_owned()], &Object::new(), "more.scsi0")
            .is_some()
    };
    for new in ["local-lvm:8", "local-lvm:0.5,ssd=1"] {
        assert!(reads(new), "{new}");
    }
    for other in [
        "local-lvm:vm-101-disk-0",
        "local-lvm:1,volume=local-lvm:vm-101-disk-0",
        "local-lvm:1,file=local-lvm:vm-101-disk-0",
        "local-lvm:0,import-from=nas:101/vm-101-disk-0.raw",
        "local-lvm:1,local-lvm:vm-101-disk-0",
        "file=local-lvm:8",
        "/dev/sda",
        "none",
        "",
    ] {
        assert!(!reads(other), "{other}");
    }
}
