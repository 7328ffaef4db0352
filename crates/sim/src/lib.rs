//! A Proxmox VE cluster in memory.
