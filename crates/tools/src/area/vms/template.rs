//! convert_vm_to_template

use pve::Vmid;
use schemars::JsonSchema;
use serde::Deserialize;

use super::vm;
use crate::area::conversion::conversion;
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Turns one VM into a template for good: it never starts again, and its disks become the read-only base of clones.
///
/// clone_vm makes VMs of it, or a copy beforehand. Refused: a running VM (shutdown_vm), one with snapshots
/// (delete_vm_snapshot), locked and protected ones. It asks for a confirmation. Needs VM.Allocate and VM.Audit on
/// /vms/VMID. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct ConvertVm {
    /// The VM's id.
    vmid: Vmid,
}

impl Changes for ConvertVm {
    const SPEC: Spec = Spec {
        name: "convert_vm_to_template",
        title: "Turn a VM into a template",
        toolset: Toolset::Qemu,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[need::SEES_GUEST, need::guest("VM.Allocate")]),
        examples: &[Example {
            ask: "Make staging a template",
            args: r#"{"vmid": 105}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/qemu/{}/template")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = vm(cx, self.vmid, Self::SPEC.name).await?;
        conversion(&Self::SPEC, &guest).await
    }
}
