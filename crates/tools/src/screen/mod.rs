//! A VM's screen as it leaves the house: a picture that models can read, and its text where it is one of text.

mod text;

use std::time::Duration;

use pve::console::{Area, Screen, ScreenView, Settled};
use pve::{GuestRef, Reader};

use crate::picture::{Colour, shrink, true_colour};
use crate::tool::Image;

/// The most pixels that models look at without making the picture smaller themselves.
const PIXELS: usize = 1_150_000;
/// The size of a file that a picture should stay under.
const BYTES: usize = 200 * 1024;
/// How long a console may take to show its first picture.
pub const OPENING: Duration = Duration::from_secs(15);
/// A screen that does not change for this long has said what it had to say.
const QUIET: Duration = Duration::from_millis(400);
/// How long to wait for that.
const PATIENCE: Duration = Duration::from_secs(4);
/// Below this width letters can no longer be read, whatever the file's size.
const NARROWEST: usize = 640;

/// A screen, or a part of one, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The PNG file.
    pub image: Image,
    /// Its size in pixels, which may be smaller than what it shows.
    pub size: (usize, usize),
    /// The lines of text that it shows, if it shows only text; a letter that is not known is U+FFFD.
    pub text: Option<String>,
}

/// A VM's screen once it stands still, or after a few seconds in any case.
pub async fn settled(pve: &Reader, at: &GuestRef) -> Result<(Screen, Settled), pve::Error> {
    let mut view = pve.watch_screen(at, OPENING).await?;
    let settled = settle(&mut view).await?;
    Ok((view.screen().clone(), settled))
}

/// Waits until an open view stands still, a few seconds at most.
pub async fn settle(view: &mut ScreenView) -> Result<Settled, pve::Error> {
    view.settle(QUIET, PATIENCE).await
}

/// The picture of a part of a screen, no wider than asked for.
pub fn picture(screen: &Screen, area: Area, width: Option<usize>) -> Picture {
    let rows = (area.y..area.y + area.height).map(|y| screen.row(y));
    let pixels: Vec<Colour> = rows
        .flat_map(|row| row.get(area.x..area.x + area.width).unwrap_or_default())
        .copied()
        .collect();
    let from = (area.width, area.height);
    let mut to = fit(from, width.unwrap_or(area.width));
    let mut png = encode(&pixels, from, to);
    while png.len() > BYTES && to.0 * 3 / 4 >= NARROWEST {
        to = (to.0 * 3 / 4, (to.1 * 3 / 4).max(1));
        png = encode(&pixels, from, to);
    }
    Picture {
        image: Image { png },
        size: to,
        text: text::read(&pixels, area, screen.width()),
    }
}

/// The size that is shown: at most so wide, at most so many pixels, and in proportion.
fn fit((width, height): (usize, usize), widest: usize) -> (usize, usize) {
    let mut to = (width.min(widest.max(1)), height);
    to.1 = (height * to.0 / width.max(1)).max(1);
    while to.0 * to.1 > PIXELS {
        to = (to.0 * 15 / 16, (to.1 * 15 / 16).max(1));
    }
    to
}

fn encode(pixels: &[Colour], from: (usize, usize), to: (usize, usize)) -> Vec<u8> {
    if from == to {
        return true_colour(to.0, pixels);
    }
    true_colour(to.0, &shrink(pixels, from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_cannot_look_at_is_made_smaller() {
        assert_eq!(fit((720, 400), 720), (720, 400));
        assert_eq!(fit((1024, 768), 512), (512, 384));
        let (width, height) = fit((3840, 2160), 3840);
        assert!(width * height <= PIXELS && width > 1300, "{width}x{height}");
    }

    #[test]
    fn a_part_is_cut_out() {
        let screen = Screen::black(720, 400).unwrap();
        let area = Area {
            x: 9,
            y: 16,
            width: 90,
            height: 32,
        };
        let picture = picture(&screen, area, None);
        assert_eq!(picture.size, (90, 32));
        assert!(picture.image.png.starts_with(b"\x89PNG"));
    }
}
