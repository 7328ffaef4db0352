//! `vncproxy`, `termproxy`, `spiceproxy`: tickets for the consoles of guests and nodes. They run on the node that was
//! asked, and their tasks wait there for a client.

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::{Answer, ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::{NODE, VMID};
use crate::schema::network::address;
use crate::schema::{Param, flag, int, text};
use crate::world::World;
use crate::world::console::{PATIENCE, Screen};
use crate::world::guest::Kind::{self, Lxc, Qemu};
use crate::world::work::Work;

const GUEST: Perm = Perm::On("/vms/{vmid}", &["VM.Console"]);
const SHELL: Perm = Perm::On("/nodes/{node}", &["Sys.Console"]);
const PORT: Param = int("port").min(5900).max(5999);
const TICKET: Param = text("vncticket").longest(512);
const PROXY: Param = text("proxy").is(address).optional();

/// The routes of consoles.
pub const ROUTES: &[Route] = &[
    post("/nodes/{node}/qemu/{vmid}/vncproxy", vnc)
        .allow(GUEST)
        .params(&[
            NODE,
            VMID,
            flag("generate-password").optional(),
            flag("websocket").optional(),
        ]),
    post("/nodes/{node}/qemu/{vmid}/termproxy", serial_terminal)
        .allow(GUEST)
        .params(&[
            NODE,
            VMID,
            text("serial")
                .one_of(&["serial0", "serial1", "serial2", "serial3"])
                .optional(),
        ]),
    post("/nodes/{node}/qemu/{vmid}/spiceproxy", spice)
        .allow(GUEST)
        .proxied()
        .params(&[NODE, VMID, PROXY]),
    get("/nodes/{node}/qemu/{vmid}/vncwebsocket", |world, call| {
        guest_websocket(world, call, Qemu)
    })
    .allow(GUEST)
    .params(&[NODE, VMID, PORT, TICKET]),
    post("/nodes/{node}/lxc/{vmid}/termproxy", container_terminal)
        .allow(GUEST)
        .params(&[NODE, VMID]),
    post("/nodes/{node}/lxc/{vmid}/vncproxy", container_vnc)
        .allow(GUEST)
        .params(&[
            NODE,
            VMID,
            int("height").min(16).max(2160).optional(),
            flag("websocket").optional(),
            int("width").min(16).max(4096).optional(),
        ]),
    post("/nodes/{node}/lxc/{vmid}/spiceproxy", container_spice)
        .allow(GUEST)
        .proxied()
        .params(&[NODE, VMID, PROXY]),
    get("/nodes/{node}/lxc/{vmid}/vncwebsocket", |world, call| {
        guest_websocket(world, call, Lxc)
    })
    .allow(GUEST)
    .params(&[NODE, VMID, PORT, TICKET]),
    post("/nodes/{node}/termproxy", shell)
        .allow(SHELL)
        .params(&[
            NODE,
            text("cmd")
                .one_of(&["ceph_install", "login", "upgrade"])
                .optional(),
            text("cmd-opts").requires("cmd").optional(),
        ]),
    get("/nodes/{node}/vncwebsocket", |world, call| {
        websocket(world, call, &format!("/nodes/{}", call.node()))
    })
    .allow(SHELL)
    .params(&[NODE, PORT, TICKET]),
];

fn guest_path(call: &Call) -> String {
    format!("/vms/{}", call.vmid())
}

/// A machine's display. The proxy starts for a stopped machine too, and fails only when a client comes.
fn vnc(world: &mut World, call: &Call) -> Reply {
    world.need_guest(Qemu, call.node(), call.vmid())?;
    let generated = call.flag("generate-password").then(|| password(world));
    let work = |_: u16| {
        let failure = "connection timed out".to_owned();
        waiting("vncproxy", call.vmid(), failure)
    };
    let screen = Screen::Display(call.vmid());
    let path = guest_path(call);
    let mut answer = open(world, call, (screen, &path), generated.clone(), work)?;
    answer["cert"] = json!(world.certificate);
    if let Some(password) = generated {
        answer["password"] = json!(password);
    }
    Ok(answer.into())
}

/// Eight printable characters.
fn password(world: &mut World) -> String {
    let bytes = world.random();
    bytes[..8]
        .iter()
        .map(|byte| char::from(b'!' + (byte & 0x3f)))
        .collect()
}

fn serial_terminal(world: &mut World, call: &Call) -> Reply {
    let vmid = call.vmid();
    let guest = world.need_guest(Qemu, call.node(), vmid)?;
    let display = guest.config.get("vga").unwrap_or_default();
    let display = display.split(',').next().unwrap_or_default();
    let display = display.strip_prefix("type=").unwrap_or(display);
    let port = call
        .text("serial")
        .or_else(|| display.starts_with("serial").then_some(display));
    let port = port.map(str::to_owned);
    let option = port.as_ref().map(|port| format!(" -iface {port}"));
    let option = option.unwrap_or_default();
    let command = format!("/usr/sbin/qm terminal {vmid} -escape 0{option}");
    terminal(world, call, Screen::Serial(vmid, port), &command)
}

fn container_terminal(world: &mut World, call: &Call) -> Reply {
    let vmid = call.vmid();
    let guest = world.need_guest(Lxc, call.node(), vmid)?;
    let inside = match guest.config.get("cmode") {
        Some("shell") => format!("lxc-attach --clear-env -n {vmid}"),
        Some("console") => format!("lxc-console -n {vmid} -e -1 -t 0"),
        _ => format!("lxc-console -n {vmid} -e -1"),
    };
    let command =
        format!("/usr/bin/dtach -A /var/run/dtach/vzctlconsole{vmid} -r winch -z {inside}");
    terminal(world, call, Screen::Container(vmid), &command)
}

/// A container's terminal, drawn for VNC clients.
fn container_vnc(world: &mut World, call: &Call) -> Reply {
    world.need_guest(Lxc, call.node(), call.vmid())?;
    let work = |_: u16| {
        let failure = "connection timed out".to_owned();
        waiting("vncproxy", call.vmid(), failure)
    };
    let screen = Screen::Container(call.vmid());
    let mut answer = open(world, call, (screen, &guest_path(call)), None, work)?;
    answer["cert"] = json!(world.certificate);
    Ok(answer.into())
}

fn terminal(world: &mut World, call: &Call, screen: Screen, command: &str) -> Reply {
    let (vmid, path) = (call.vmid(), guest_path(call));
    let work = |port: u16| {
        waiting(
            "vncproxy",
            vmid,
            terminal_failed(port, &path, "VM.Console", command),
        )
    };
    Ok(open(world, call, (screen, &path), None, work)?.into())
}

fn shell(world: &mut World, call: &Call) -> Reply {
    let node = call.node().to_owned();
    let path = format!("/nodes/{node}");
    let command = match call.text("cmd") {
        Some("upgrade") => "/usr/bin/pveupgrade --shell",
        Some("ceph_install") => "/usr/bin/pveceph install",
        _ if call.who.user == "root@pam" => "/bin/login -f root",
        _ => "/bin/login",
    };
    let work = |port: u16| {
        waiting(
            "vncshell",
            "",
            terminal_failed(port, &path, "Sys.Console", command),
        )
    };
    let screen = Screen::Shell(node);
    Ok(open(world, call, (screen, &path), None, work)?.into())
}

/// How the task of a terminal ends when nobody connects, or not with the right words.
fn terminal_failed(port: u16, path: &str, privilege: &str, command: &str) -> String {
    format!(
        "command '/usr/bin/termproxy {port} --path {path} --perm {privilege} -- {command}' failed: exit code 1"
    )
}

/// A task that waits for a client in vain, and how it ends then.
fn waiting(kind: &str, id: impl std::fmt::Display, failure: String) -> (Work, String) {
    let end = failure.clone();
    let work = Work::new(kind, id).wait(PATIENCE.as_secs());
    (work.run(move |_, _| Err(end)), failure)
}

/// Opens a console, starts its task, and answers what every console answers.
fn open(
    world: &mut World,
    call: &Call,
    (screen, path): (Screen, &str),
    password: Option<String>,
    work: impl FnOnce(u16) -> (Work, String),
) -> Result<Value, ApiError> {
    let ticket = world.signer.vnc_ticket(&call.who, path, call.now);
    let node = &call.endpoint;
    let Some(port) = world.open_console(node, screen, &call.who, (&ticket, password)) else {
        return Err(ApiError::fail("unable to find free port (5900-6000)"));
    };
    let (work, failure) = work(port);
    let upid = world.start_task(&call.who, node, work);
    world.set_console_task(node, port, (&upid, &failure));
    Ok(json!({
        "port": port.to_string(),
        "ticket": ticket,
        "upid": upid,
        "user": call.who.to_string(),
    }))
}

/// The port that a websocket will be connected to; a client that asks for none gets it as an answer.
fn websocket(world: &mut World, call: &Call, path: &str) -> Reply {
    let ticket = call.text("vncticket").unwrap_or_default();
    if world.signer.is_oversigned(ticket) {
        return Err(ApiError::fail(
            "Signature longer than key at /usr/share/perl5/PVE/Ticket.pm line 84.",
        ));
    }
    if !world
        .signer
        .verify_vnc_ticket(ticket, &call.who, path, call.now)
    {
        return Err(ApiError {
            status: 401,
            ..ApiError::fail("permission denied - invalid PVEVNC ticket")
        });
    }
    Ok(Answer::Console(
        call.text("port").unwrap_or_default().to_owned(),
    ))
}

fn guest_websocket(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let answer = websocket(world, call, &guest_path(call))?;
    world.need_guest(kind, call.node(), call.vmid())?;
    Ok(answer)
}

/// The settings of a SPICE client. The machine must have a display of that kind.
fn spice(world: &mut World, call: &Call) -> Reply {
    let vmid = call.vmid();
    let guest = world.need_guest(Qemu, call.node(), vmid)?;
    if !guest.is_running() {
        return Err(ApiError::fail(format!("VM {vmid} not running")));
    }
    let display = guest.config.get("vga").unwrap_or_default();
    if !display.trim_start_matches("type=").starts_with("qxl") {
        return Err(ApiError::fail("no spice port"));
    }
    let title = match guest.config.get("name") {
        Some(name) => format!("VM {vmid} - {name}"),
        None => format!("VM {vmid}"),
    };
    Ok(viewer_settings(world, call, &title).into())
}

fn container_spice(world: &mut World, call: &Call) -> Reply {
    let vmid = call.vmid();
    let guest = world.need_guest(Lxc, call.node(), vmid)?;
    if !guest.is_running() {
        return Err(ApiError::fail(format!("CT {vmid} not running")));
    }
    let title = format!("CT {vmid} - {}", guest.name());
    Ok(viewer_settings(world, call, &title).into())
}

fn viewer_settings(world: &World, call: &Call, title: &str) -> Value {
    let (node, vmid) = (call.node(), call.vmid());
    let proxy = call.text("proxy").unwrap_or(node);
    let password = world
        .signer
        .vnc_ticket(&call.who, &guest_path(call), call.now);
    let made = call.now.secs();
    json!({
        "type": "spice",
        "title": title,
        "host": format!("pvespiceproxy:{made:08X}:{vmid}:{node}:61000::{password}"),
        "host-subject": format!("OU=PVE Cluster Node,O=Proxmox Virtual Environment,CN={node}"),
        "proxy": format!("http://{proxy}:3128"),
        "tls-port": 61000,
        "password": password,
        "ca": world.certificate.replace('\n', "\\n"),
        "secure-attention": "Ctrl+Alt+Ins",
        "toggle-fullscreen": "Shift+F11",
        "release-cursor": "Ctrl+Alt+R",
        "delete-this-file": 1,
    })
}
