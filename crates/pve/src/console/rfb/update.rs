//! An update: rectangles of pixels, each in its own form, painted as they come.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::{COPY_RECT, DESKTOP_SIZE, EXTENDED_KEYS, LIGHTS, Message, RAW, Rfb, ZRLE};
use crate::console::broken;
use crate::console::screen::{Area, MAX_PIXELS, Screen};
use crate::error::Error;

/// Packed pixels take less room than plain ones; a server that sends so much more means no good.
const PACKING_OVERHEAD: usize = 64 * 1024;

/// An update paints no more pixels than this: a new size and every pixel of it, with room to spare. A few bytes can paint
/// a whole screen, and while we paint, nobody looks at the clock.
const MOST_PAINTED: usize = 4 * MAX_PIXELS;

impl<S: AsyncRead + AsyncWrite + Unpin> Rfb<S> {
    pub(super) async fn update(&mut self) -> Result<Message, Error> {
        let [_, high, low] = self.bytes().await?;
        let mut message = Message::Other;
        let mut still_taken = MOST_PAINTED;
        for _ in 0..u16::from_be_bytes([high, low]) {
            message = match (self.rectangle(&mut still_taken).await?, message) {
                (EXTENDED_KEYS, _) => Message::TakesKeys,
                (DESKTOP_SIZE, _) => Message::Resized,
                // What is told besides pixels is what somebody waits for.
                (LIGHTS, told) | (_, told @ (Message::TakesKeys | Message::Resized)) => told,
                _ => Message::Update,
            };
        }
        Ok(message)
    }

    /// Paints one rectangle, and counts down the pixels that are still taken; its encoding.
    async fn rectangle(&mut self, still_taken: &mut usize) -> Result<i32, Error> {
        let head: [u8; 12] = self.bytes().await?;
        let number = |at: usize| usize::from(u16::from_be_bytes([head[at], head[at + 1]]));
        let encoding = i32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        let area = Area {
            x: number(0),
            y: number(2),
            width: number(4),
            height: number(6),
        };
        match encoding {
            DESKTOP_SIZE => self.resize(area)?,
            EXTENDED_KEYS => return Ok(encoding),
            LIGHTS => {
                self.u8().await?;
                return Ok(encoding);
            }
            _ if !self.screen.holds(area) => return Err(broken("it paints outside of the screen")),
            RAW => self.raw(area).await?,
            COPY_RECT => self.copy_rect(area).await?,
            ZRLE => self.zrle(area).await?,
            _ => {
                return Err(broken(format!(
                    "pixels in the form {encoding} are not known"
                )));
            }
        }
        *still_taken = still_taken
            .checked_sub(area.width * area.height)
            .ok_or_else(|| broken("an update paints the same again and again"))?;
        Ok(encoding)
    }

    fn resize(&mut self, area: Area) -> Result<(), Error> {
        let Area { width, height, .. } = area;
        self.screen = Screen::black(width, height)
            .ok_or_else(|| broken(format!("a screen of {width}x{height} is not taken")))?;
        Ok(())
    }

    async fn raw(&mut self, area: Area) -> Result<(), Error> {
        let mut line = vec![0; area.width * 4];
        for y in 0..area.height {
            let read = self.stream.read_exact(&mut line).await;
            read.map_err(|_| broken("it closed"))?;
            let row = self.screen.row_mut(area, y);
            for (pixel, bytes) in row.iter_mut().zip(line.chunks_exact(4)) {
                *pixel = [bytes[2], bytes[1], bytes[0]];
            }
        }
        Ok(())
    }

    async fn copy_rect(&mut self, area: Area) -> Result<(), Error> {
        let [x1, x2, y1, y2] = self.bytes().await?;
        let x = usize::from(u16::from_be_bytes([x1, x2]));
        let y = usize::from(u16::from_be_bytes([y1, y2]));
        if !self.screen.holds(Area { x, y, ..area }) {
            return Err(broken("it copies from outside of the screen"));
        }
        self.screen.copy((x, y), area);
        Ok(())
    }

    async fn zrle(&mut self, area: Area) -> Result<(), Error> {
        let length = self.u32().await? as usize;
        if length > area.width * area.height * 4 + PACKING_OVERHEAD {
            return Err(broken("packed pixels are larger than plain ones"));
        }
        // Grows as the bytes come: an announced length alone costs no memory.
        let mut packed = Vec::new();
        let mut rest = (&mut self.stream).take(length as u64);
        let read = rest.read_to_end(&mut packed).await;
        if read.ok() != Some(length) {
            return Err(broken("it closed"));
        }
        let plain = self.inflater.inflate(&packed, area)?;
        super::zrle::paint(&plain, area, &mut self.screen)
    }
}
