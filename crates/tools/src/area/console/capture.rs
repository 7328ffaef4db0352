//! capture_vm_screen

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pve::Vmid;
use pve::console::{Area, Screen, Settled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target;
use crate::area::power::State;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::need;
use crate::screen;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Image, Reads};
use crate::words::{self, line};

/// No screen reaches farther.
const FARTHEST: usize = 100_000;

/// Takes a picture of a VM's screen, and its text where the screen shows only text (firmware, boot loader, console).
///
/// Use it to see why a VM does not boot, what an installer asks, or what keys did; send_vm_key and type_vm_text can
/// show the screen themselves (look). It presses nothing. The VM must be running; containers have no screen. Needs
/// VM.Console, and leaves a trace in the audit log.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct CaptureScreen {
    /// The VM's id.
    vmid: Vmid,
    /// Only this part, in pixels: "x,y,width,height".
    area: Option<String>,
    /// Make the picture at most this wide.
    #[schemars(range(min = 16))]
    width: Option<usize>,
    /// Wait up to so many seconds for the screen to change first.
    #[schemars(range(max = 40))]
    wait_for_change: Option<u64>,
}

/// What was on the screen.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::area) struct Captured {
    /// The VM's id.
    vmid: Vmid,
    /// The VM's name.
    name: String,
    /// The screen's size in pixels.
    screen_width: usize,
    /// The screen's size in pixels.
    screen_height: usize,
    /// The picture's size in pixels.
    width: usize,
    /// The picture's size in pixels.
    height: usize,
    /// When it was taken.
    time: String,
    /// Whether it was still being painted.
    still_changing: bool,
    /// With wait_for_change: whether it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    /// The text, if it shows nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Why there may be more than can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    #[schemars(skip)]
    picture: Image,
}

impl Reads for CaptureScreen {
    const SPEC: Spec = Spec {
        name: "capture_vm_screen",
        title: "See a VM's screen",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special {
            looks_inside: true,
            ..Special::NONE
        },
        needs: need::CONSOLE,
        examples: &[
            Example {
                ask: "What is on the web server's screen?",
                args: r#"{"vmid": 100}"#,
            },
            Example {
                ask: "Show me the top lines of its console",
                args: r#"{"vmid": 100, "area": "0,0,720,64", "width": 360}"#,
            },
        ],
    };
    type Answer = Captured;

    async fn read(self, cx: &Context) -> Result<Captured, Fault> {
        let area = self.area.as_deref().map(parse_area).transpose()?;
        let guest = target::vm(cx, self.vmid).await?;
        if !State::of(&guest).await?.running {
            let stopped = target::stopped(&guest);
            return Err(Fault::refused(stopped.because).hint(stopped.instead));
        }
        let began = Instant::now();
        let (shown, settled, changed) = self.look(&guest).await?;
        let took = i64::try_from(began.elapsed().as_secs()).unwrap_or_default();
        let area = match area {
            None => shown.whole(),
            Some(area) if shown.holds(area) && area.width > 0 && area.height > 0 => area,
            Some(_) => {
                let (width, height) = (shown.width(), shown.height());
                return Err(Fault::bad_input(format!(
                    "area lies outside of the screen, which has {width}x{height} pixels"
                ))
                .hint(format!("send for example \"0,0,{width},{height}\"")));
            }
        };
        let picture = screen::picture(&shown, area, self.width);
        Ok(Captured {
            vmid: guest.at.vmid,
            name: guest.name().to_owned(),
            screen_width: shown.width(),
            screen_height: shown.height(),
            width: picture.size.0,
            height: picture.size.1,
            time: words::time(cx.now + took),
            still_changing: settled == Settled::Changing,
            changed,
            text: picture.text,
            note: unseen(&guest).await,
            picture: picture.image,
        })
    }
}

impl CaptureScreen {
    async fn look(&self, guest: &Guest) -> Result<(Screen, Settled, Option<bool>), Fault> {
        let pve = guest.pve();
        let Some(seconds) = self.wait_for_change else {
            let (shown, settled) = screen::settled(pve, &guest.at).await?;
            return Ok((shown, settled, None));
        };
        let mut view = pve.watch_screen(&guest.at, screen::OPENING).await?;
        let changed = view.change(Duration::from_secs(seconds)).await?.is_some();
        let settled = screen::settle(&mut view).await?;
        Ok((view.screen().clone(), settled, Some(changed)))
    }
}

/// Why a picture may show less than there is.
async fn unseen(guest: &Guest) -> Option<String> {
    let config = guest.config().await.ok()?;
    let port = target::serial_display(&config)?;
    Some(format!(
        "the VM has the serial port {port} in place of a screen, and PVE draws only what is written there while \
         somebody looks: send_vm_terminal_line and read_vm_terminal (toolset console) make it say something, and read it \
         as text"
    ))
}

fn parse_area(text: &str) -> Result<Area, Fault> {
    let number = |part: &str| {
        part.trim()
            .parse()
            .ok()
            .filter(|pixels| *pixels <= FARTHEST)
    };
    let numbers: Option<Vec<usize>> = text.split(',').map(number).collect();
    match numbers.as_deref() {
        Some([x, y, width, height]) => Ok(Area {
            x: *x,
            y: *y,
            width: *width,
            height: *height,
        }),
        _ => Err(Fault::bad_input(
            "area is four numbers of pixels: from the left, from the top, width, height",
        )
        .hint("send for example \"0,0,720,200\"")),
    }
}

impl Answer for Captured {
    fn text(&self) -> String {
        let mut out = format!(
            "screen of VM {} ({}), {}x{} pixels, at {}",
            self.vmid,
            crate::clean::line(&self.name),
            self.screen_width,
            self.screen_height,
            self.time
        );
        if (self.width, self.height) != (self.screen_width, self.screen_height) {
            let _ = write!(out, ", shown as {}x{}", self.width, self.height);
        }
        if self.still_changing {
            out.push_str(", still changing");
        }
        match self.changed {
            Some(true) => out.push_str("; it changed"),
            Some(false) => out.push_str("; it did not change"),
            None => {}
        }
        out.push('\n');
        let shown = self.text.iter().flat_map(|text| text.lines());
        out.push_str(&words::each_set_off(shown));
        if let Some(note) = &self.note {
            line!(out, "{note}");
        }
        out
    }

    fn images(&self) -> Vec<Image> {
        vec![self.picture.clone()]
    }
}
