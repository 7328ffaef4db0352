//! Ready-made worlds. Each is a file that reads like a description of the cluster; `file.rs` says what may stand in it.

mod agent;
mod build;
mod degraded;
mod file;
mod fleet;
mod standalone;

use std::sync::LazyLock;

use crate::world::World;
use file::WorldFile;

pub use degraded::degraded;
pub use fleet::fleet;
pub use standalone::standalone;

/// The API token of root that every world here has, without privilege separation: user, name, secret.
pub const ROOT_TOKEN: (&str, &str, &str) =
    ("root@pam", "oxmox", "5e1f0000-0000-4000-8000-000000000001");

/// The password of `root@pam` in every world here.
pub const ROOT_PASSWORD: &str = "simulated";

/// The demo: three nodes, a dozen machines and as many containers, with everything that hangs on them.
pub fn homelab() -> World {
    static FILE: LazyLock<WorldFile> = LazyLock::new(|| read(include_str!("homelab.toml")));
    load(&FILE)
}

/// The cluster whose exchanges were recorded, as it was when the recording began.
pub fn recorded() -> World {
    static FILE: LazyLock<WorldFile> = LazyLock::new(|| read(include_str!("recorded.toml")));
    load(&FILE)
}

fn read(text: &str) -> WorldFile {
    toml::from_str(text).expect("the embedded worlds are well formed, a test reads them all")
}

/// Reading a file takes longer than most of what a test then does with its world, so that it is read once.
fn load(file: &WorldFile) -> World {
    with_root(build::build(file.clone()))
}

/// Gives root the token and the password that it has in every world here.
fn with_root(mut world: World) -> World {
    let (user, token, secret) = ROOT_TOKEN;
    world.add_token(&format!("{user}!{token}"), secret);
    if let Some(root) = world.access.users.get_mut(user) {
        root.password = Some(ROOT_PASSWORD.to_owned());
    }
    world
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a world refers to must be there.
    fn check(world: &World) {
        for guest in world.guests.values() {
            let vmid = guest.vmid;
            assert!(world.nodes.contains_key(&guest.node), "node of {vmid}");
            for volid in guest.volumes() {
                let volume = world.volume(&guest.node, volid);
                let volume = volume.unwrap_or_else(|| panic!("{volid} of {vmid} does not exist"));
                let storage = world.storages.get(volume.storage());
                let storage = storage.unwrap_or_else(|| panic!("storage of {volid}"));
                assert!(
                    storage.is_on(&guest.node),
                    "{volid} is not on {}",
                    guest.node
                );
            }
        }
        for volume in &world.volumes {
            let storage = world
                .storages
                .get(volume.storage())
                .expect("a known storage");
            assert!(
                storage.content.contains(&volume.content),
                "{} on its storage",
                volume.volid
            );
        }
        for rule in &world.access.acl {
            assert!(
                world.access.roles.contains_key(&rule.role),
                "role {}",
                rule.role
            );
        }
    }

    #[test]
    fn all_worlds_are_consistent() {
        check(&homelab());
        check(&recorded());
        check(&degraded());
        check(&fleet(600));
    }
}
