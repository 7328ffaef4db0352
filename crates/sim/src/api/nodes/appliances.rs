//! `/nodes/{node}/aplinfo`: container templates that can be downloaded.

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::{format, text};
use crate::world::World;
use crate::world::storage::Volume;
use crate::world::work::Work;

/// The routes of templates to download.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/aplinfo", list)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/aplinfo", download)
        .allow(Perm::On(
            "/storage/{storage}",
            &["Datastore.AllocateTemplate"],
        ))
        .params(&[
            NODE,
            text("storage").is(format::storage_id),
            text("template").longest(255),
        ])
        .proxied(),
];

fn list(world: &mut World, _: &Call) -> Reply {
    let entries = world.appliances.iter().map(|template| {
        let (package, rest) = template.split_once('_').unwrap_or((template, ""));
        let version = rest.split('_').next().unwrap_or_default();
        let system = package.split("-standard").next().unwrap_or_default();
        json!({
            "template": template,
            "package": package,
            "version": version,
            "os": system,
            "section": "system",
            "type": "lxc",
            "architecture": "amd64",
            "source": "https://download.proxmox.com",
            "location": format!("https://download.proxmox.com/images/system/{template}"),
            "headline": format!("{package} {version}"),
            "description": format!("A small {system} system."),
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn download(world: &mut World, call: &Call) -> Reply {
    let template = call.text("template").unwrap_or_default().to_owned();
    if !world.appliances.contains(&template) {
        return Err(ApiError::param("template", "no such template"));
    }
    let (node, id) = (call.node(), call.text("storage").unwrap_or_default());
    let Some(storage) = world.storages.get(id) else {
        return Err(ApiError::fail(format!("storage '{id}' does not exist")));
    };
    if !storage.content.iter().any(|content| content == "vztmpl") {
        return Err(ApiError::fail(format!(
            "cannot download to storage type '{}'",
            storage.kind
        )));
    }
    let volume = Volume {
        volid: format!("{id}:vztmpl/{template}"),
        node: (!storage.shared).then(|| node.to_owned()),
        content: "vztmpl".to_owned(),
        format: "tzst".to_owned(),
        size: 120 << 20,
        used: 120 << 20,
        vmid: None,
        created: world.now,
        notes: None,
        protected: false,
        config: None,
    };
    let work = Work::new("download", &template)
        .log(format!(
            "downloading https://download.proxmox.com/images/system/{template}"
        ))
        .wait(5)
        .run(move |world, job| {
            world.volumes.retain(|known| known.volid != volume.volid);
            world.volumes.push(volume);
            job.log("download finished");
            Ok(())
        });
    Ok(json!(world.start_task(&call.who, node, work)).into())
}
