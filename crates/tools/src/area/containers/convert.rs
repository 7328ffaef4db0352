//! convert_container_to_template

use pve::{GuestKind, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::area::conversion::conversion;
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Makes a stopped container a template for good: its disks become the read-only base of clones.
///
/// Afterwards it cannot be started; clone_container makes containers of it, linked or full. To keep it usable clone it
/// first. Refused: running, locked and protected containers, and those with snapshots (delete_container_snapshot). A
/// person confirms. Needs VM.Allocate. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ConvertContainer {
    /// The container's id.
    vmid: Vmid,
}

impl Changes for ConvertContainer {
    const SPEC: Spec = Spec {
        name: "convert_container_to_template",
        title: "Make a container a template",
        toolset: Toolset::Lxc,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[need::SEES_GUEST, need::guest("VM.Allocate")]),
        examples: &[Example {
            ask: "Make a template of the media container",
            args: r#"{"vmid": 203}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/lxc/{}/template")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cx = cx.only(GuestKind::Lxc, Self::SPEC.name);
        let guest = cx.guest(self.vmid, None, None).await?;
        conversion(&Self::SPEC, &guest).await
    }
}
