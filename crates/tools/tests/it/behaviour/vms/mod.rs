//! VMs under the names of other servers.

mod disks;
mod life;
mod power;
mod shown;
