//! The opening: versions, the password, the size of the screen, and in which form we want its pixels.

use secrecy::SecretString;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use super::zrle::Inflater;
use super::{COPY_RECT, DESKTOP_SIZE, EXTENDED_KEYS, LIGHTS, RAW, Rfb, ZRLE, bytes, password};
use crate::console::screen::Screen;
use crate::console::{broken, ended};
use crate::error::Error;

const VERSION: &[u8; 12] = b"RFB 003.008\n";
const NO_PASSWORD: u8 = 1;
const VNC_PASSWORD: u8 = 2;
/// Reasons and names longer than this are cut off by an error.
const MAX_TEXT: u32 = 4096;

/// 32 bits per pixel, 24 of them used, little-endian true colour: blue, green, red, nothing.
#[rustfmt::skip]
const PIXEL_FORMAT: [u8; 16] = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];

impl<S: AsyncRead + AsyncWrite + Unpin> Rfb<S> {
    /// Goes through the opening, beside others that may be watching.
    pub(in crate::console) async fn open(
        mut stream: S,
        secret: &SecretString,
    ) -> Result<Self, Error> {
        let version: [u8; 12] = bytes(&mut stream).await?;
        // Every server since 2007 speaks 3.8, and QEMU's is one.
        if !version.starts_with(b"RFB 003.") {
            return Err(broken("what answers is no VNC server"));
        }
        write(&mut stream, VERSION).await?;
        authenticate(&mut stream, secret).await?;
        write(&mut stream, &[1]).await?;
        let screen = server_init(&mut stream).await?;
        let mut rfb = Self {
            stream: BufReader::new(stream),
            screen,
            inflater: Inflater::new(),
        };
        rfb.prefer().await?;
        Ok(rfb)
    }
}

async fn authenticate(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    secret: &SecretString,
) -> Result<(), Error> {
    let [count] = bytes(stream).await?;
    if count == 0 {
        let reason = text(stream).await?;
        return Err(broken(format!("it was refused: {reason}")));
    }
    let mut kinds = vec![0; usize::from(count)];
    stream.read_exact(&mut kinds).await.map_err(ended)?;
    if kinds.contains(&VNC_PASSWORD) {
        write(stream, &[VNC_PASSWORD]).await?;
        let challenge = bytes(stream).await?;
        write(stream, &password::response(challenge, secret)).await?;
    } else if kinds.contains(&NO_PASSWORD) {
        write(stream, &[NO_PASSWORD]).await?;
    } else {
        return Err(broken("it wants a kind of password that is not known"));
    }
    let result = u32::from_be_bytes(bytes(stream).await?);
    if result == 0 {
        return Ok(());
    }
    let reason = text(stream).await?;
    Err(broken(format!("it was refused: {reason}")))
}

/// A black screen of the server's size; its pixel format and name do not matter.
async fn server_init(stream: &mut (impl AsyncRead + Unpin)) -> Result<Screen, Error> {
    let [w1, w2, h1, h2] = bytes(stream).await?;
    let _its_format: [u8; 16] = bytes(stream).await?;
    text(stream).await?;
    let (width, height) = (u16::from_be_bytes([w1, w2]), u16::from_be_bytes([h1, h2]));
    Screen::black(width.into(), height.into())
        .ok_or_else(|| broken(format!("a screen of {width}x{height} is not taken")))
}

/// A text with its length before it, cleaned of what is not printable: it may become part of an error.
async fn text(stream: &mut (impl AsyncRead + Unpin)) -> Result<String, Error> {
    let length = u32::from_be_bytes(bytes(stream).await?);
    if length > MAX_TEXT {
        return Err(broken("it speaks no RFB"));
    }
    let mut text = vec![0; length as usize];
    let read = stream.read_exact(&mut text).await;
    read.map_err(ended)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.chars().filter(|c| !c.is_control()).collect())
}

/// How we want pixels, and which forms of them we understand, best first.
pub(super) fn preferences() -> Vec<u8> {
    let encodings = [ZRLE, COPY_RECT, RAW, DESKTOP_SIZE, EXTENDED_KEYS, LIGHTS];
    let mut message = vec![0, 0, 0, 0];
    message.extend(PIXEL_FORMAT);
    message.extend([2, 0, 0]);
    message.push(u8::try_from(encodings.len()).unwrap_or(u8::MAX));
    message.extend(encodings.iter().flat_map(|encoding| encoding.to_be_bytes()));
    message
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> Result<(), Error> {
    stream.write_all(message).await.map_err(ended)?;
    stream.flush().await.map_err(ended)
}
