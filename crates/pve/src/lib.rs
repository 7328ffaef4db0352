//! A client for the Proxmox VE API.
