//! The doors of the screen's decoder; see [`crate::fuzzing`].

use secrecy::SecretString;

use super::{Message, Rfb, ZRLE};
use crate::console::screen::{MAX_PIXELS, Screen};
use crate::error::Error;
use crate::fuzzing::{Server, run, server};

/// Short enough that messages are cut in the middle, long enough to be fast.
const PIECE: usize = 61;

/// All that a VNC server says, from its version on.
pub fn rfb(said: &[u8]) {
    // Whatever ends it is fine: it ends with the bytes at the latest.
    let _ = run(watch(server(said, PIECE)));
}

/// Watches as [`ScreenView`](crate::console::ScreenView) does, until something is wrong.
async fn watch(server: Server<'_>) -> Result<(), Error> {
    let mut rfb = Rfb::open(server, &SecretString::from("secret")).await?;
    rfb.request(false).await?;
    let before = rfb.screen().clone();
    let ended = loop {
        match rfb.next().await {
            Ok(Message::Update) => rfb.request(true).await?,
            Ok(Message::Resized) => rfb.request(false).await?,
            Ok(Message::TakesKeys | Message::Other) => {}
            Err(error) => break error,
        }
    };
    check(rfb.screen(), &before);
    Err(ended)
}

fn check(screen: &Screen, before: &Screen) {
    let count = screen.pixels().len();
    assert_eq!(count, screen.width() * screen.height());
    assert!((1..=MAX_PIXELS).contains(&count));
    let changed = screen.difference(before);
    assert!(changed.is_none_or(|area| screen.holds(area)));
}

/// The inside of packed pixels: rectangles of a screen of 255 by 255, each as `x y width height`, the length of its
/// tiles in two bytes, and the tiles. Packing them here spares the fuzzer from having to find out how.
pub fn tiles(mut plain: &[u8]) {
    const SIDE: [u8; 2] = [0, 255];
    let mut said = b"RFB 003.008\n\x01\x01\0\0\0\0".to_vec();
    said.extend([SIDE, SIDE].concat());
    said.extend([0; 16 + 4]);
    let mut zlib_head: &[u8] = &[0x78, 0x01];
    while let Some((&[x, y, width, height, high, low], rest)) = plain.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
        let (tiles, rest) = rest.split_at(length);
        said.extend([0, 0, 0, 1, 0, x, 0, y, 0, width, 0, height]);
        said.extend(ZRLE.to_be_bytes());
        let packed = [zlib_head, &stored(tiles)].concat();
        said.extend(u32::try_from(packed.len()).unwrap_or(0).to_be_bytes());
        said.extend(packed);
        (plain, zlib_head) = (rest, &[]);
    }
    rfb(&said);
}

/// A block of a zlib stream that holds these bytes as they are, at most 65,535.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let mut block = vec![0];
    block.extend(length.to_le_bytes());
    block.extend((!length).to_le_bytes());
    block.extend(bytes);
    block
}
