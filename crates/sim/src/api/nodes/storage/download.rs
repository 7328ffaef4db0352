//! `download-url`: a file from the network becomes a volume.

use super::storage_id;
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::layout::{Layout, import_format, is_iso, template_format};
use crate::world::storage::Volume;
use crate::world::work::{Job, Work};

/// Bytes of everything that is downloaded: there is no network to ask.
const SIZE: u64 = 700 << 20;

/// `POST download-url`.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let (id, content) = (
        storage_id(call).to_owned(),
        call.text("content").unwrap_or_default(),
    );
    let storage = world.storage_on(call.node(), &id).map_err(ApiError::fail)?;
    if storage.layout() != Layout::Files {
        let kind = &storage.kind;
        return Err(ApiError::fail(format!(
            "can't upload to storage type '{kind}', not a file based storage!"
        )));
    }
    if !storage.holds(content) {
        return Err(ApiError::fail(format!(
            "storage '{id}' is not configured for content-type '{content}'"
        )));
    }
    let file = safe_name(call.text("filename").unwrap_or_default());
    let format = check_name(content, &file)?;
    let volid = format!("{id}:{content}/{file}");
    let name = world.parse_volid(&volid).map_err(ApiError::fail)?;
    let path = storage.path_of(&name);
    let owner = (!storage.shared).then(|| call.node().to_owned());
    let volume = Volume {
        content: content.to_owned(),
        vmid: None,
        used: SIZE,
        ..Volume::image(volid.clone(), owner, 0, format, SIZE, world.now)
    };
    let url = call.text("url").unwrap_or_default().to_owned();
    let node = call.node().to_owned();
    let now = world.now;
    let work = Work::new("download", &file)
        .log(format!("downloading {url} to {path}"))
        .run(move |world, job| {
            if world.volume(&node, &volume.volid).is_some() {
                return Err(format!("refusing to override existing file '{path}'"));
            }
            job.log(format!("--{now}--  {url}"));
            reach(&url, job)?;
            fetch(job, &path);
            job.log(format!("download of '{url}' to '{path}' finished"));
            job.then(move |world, _| {
                let created = world.now;
                world.volumes.push(Volume { created, ..volume });
                Ok(())
            });
            Ok(())
        });
    spawn(world, call, work)
}

/// What wget says while it goes on: a dot for each megabyte, 32 of them in a line.
fn fetch(job: &mut Job, path: &str) {
    const LINE: u64 = 32 << 20;
    let (seconds, lines) = (seconds_to_copy(SIZE), SIZE.div_ceil(LINE));
    let rate = (SIZE / seconds) >> 20;
    job.log("HTTP request sent, awaiting response... 200 OK");
    job.log(format!("Length: {SIZE} ({}M)", SIZE >> 20));
    job.log(format!("Saving to: '{path}.tmp_dwnl.1'"));
    let mut passed = 0;
    for line in 0..lines {
        let done = ((line + 1) * LINE).min(SIZE);
        let until = seconds * done / SIZE;
        job.wait(until - passed);
        passed = until;
        let dots = usize::try_from((done - line * LINE) >> 20).unwrap_or_default();
        let dots: Vec<_> = (0..4)
            .map(|group| ".".repeat(dots.saturating_sub(group * 8).min(8)))
            .collect();
        job.log(format!(
            "{:>6}K {:<35} {:>3}% {:>5}M {}s",
            (line * LINE) >> 10,
            dots.join(" "),
            done * 100 / SIZE,
            rate,
            seconds - until
        ));
    }
}

/// Nothing listens on the node itself, and names below `.invalid` do not exist; everything else answers.
fn reach(url: &str, job: &mut Job) -> Result<(), String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    if name.ends_with(".invalid") {
        job.log(format!(
            "Resolving {name} ({name})... failed: Name or service not known."
        ));
        return Err(format!(
            "download failed: wget: unable to resolve host address '{name}'"
        ));
    }
    if name == "localhost" || name.starts_with("127.") {
        return Err(format!(
            "download failed: Connecting to {host}... failed: Connection refused."
        ));
    }
    Ok(())
}

/// The last part of the name, with `_` for what a file name should not hold.
pub(super) fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    last.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

/// The format of the new volume; its name must fit the content.
pub(super) fn check_name(content: &str, file: &str) -> Result<&'static str, ApiError> {
    let found = match content {
        "iso" => is_iso(file).then_some("iso"),
        "vztmpl" => template_format(file),
        _ => import_format(file),
    };
    found.ok_or_else(|| {
        let text = match content {
            "import" => "invalid filename or wrong extension",
            _ => "wrong file extension",
        };
        ApiError::param("filename", text)
    })
}
