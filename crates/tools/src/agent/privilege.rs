//! The privileges that PVE asks for what an agent does: one for all of it in version 8, finer ones from version 9 on.

use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::Needs;

/// What is wanted of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// Programs and passwords.
    Unrestricted,
    /// Reading files.
    FileRead,
    /// Writing files.
    FileWrite,
    /// Freezing, thawing and trimming file systems.
    FileSystems,
}

impl Right {
    /// What it takes on this guest, its status and configuration included.
    pub(crate) async fn needs(self, guest: &Guest) -> Result<Needs, Fault> {
        let path = guest.at.acl_path();
        let on = |privilege| Needs::on(path.clone(), privilege);
        let either = |privilege| Needs::Any(vec![on(privilege), on("VM.GuestAgent.Unrestricted")]);
        let finer = guest.cluster.version().await?.at_least(9, 0);
        let right = match self {
            _ if !finer => on("VM.Monitor"),
            Self::Unrestricted => on("VM.GuestAgent.Unrestricted"),
            Self::FileRead => either("VM.GuestAgent.FileRead"),
            Self::FileWrite => either("VM.GuestAgent.FileWrite"),
            Self::FileSystems => either("VM.GuestAgent.FileSystemMgmt"),
        };
        Ok(Needs::All(vec![on("VM.Audit"), right]))
    }
}
