//! The decoder against servers of every kind: right, wrong, and random.

use proptest::prelude::*;
use secrecy::SecretString;
use tokio::io::{Join, Sink, join, sink};

use super::*;
use crate::console::screen::Area;

type Scripted<'a> = Join<&'a [u8], Sink>;

/// What a server without a password says up to its first update.
fn opening(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"RFB 003.008\n\x01\x01\0\0\0\0".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([0; 16]);
    bytes.extend(4_u32.to_be_bytes());
    bytes.extend(b"QEMU");
    bytes
}

/// An update of one rectangle.
fn update(area: [u16; 4], encoding: i32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 1];
    bytes.extend(area.iter().flat_map(|number| number.to_be_bytes()));
    bytes.extend(encoding.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn packed(plain: &[u8]) -> Vec<u8> {
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(plain, 1);
    let length = u32::try_from(zlib.len()).unwrap();
    [length.to_be_bytes().to_vec(), zlib].concat()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(work)
}

async fn open(bytes: &[u8]) -> Result<Rfb<Scripted<'_>>, Error> {
    Rfb::open(join(bytes, sink()), &SecretString::from(String::new())).await
}

/// The screen after the first message of a server with a screen of 4 by 2 pixels.
fn painted(message: &[u8]) -> Result<Screen, Error> {
    let bytes = [opening(4, 2), message.to_vec()].concat();
    run(async {
        let mut rfb = open(&bytes).await?;
        rfb.next().await?;
        Ok(rfb.screen().clone())
    })
}

fn refusal(message: &[u8]) -> String {
    painted(message).unwrap_err().to_string()
}

const BLUE: [u8; 3] = [0, 0, 255];
const RED: [u8; 3] = [255, 0, 0];
const BLACK: [u8; 3] = [0; 3];

#[test]
fn raw_pixels_are_painted_where_they_belong() {
    let screen = painted(&update([1, 0, 1, 2], RAW, &[255, 0, 0, 0, 0, 0, 255, 0])).unwrap();
    assert_eq!(screen.row(0), [BLACK, BLUE, BLACK, BLACK]);
    assert_eq!(screen.row(1), [BLACK, RED, BLACK, BLACK]);
}

#[test]
fn every_kind_of_tile_is_read() {
    let (blue, red): (&[u8], &[u8]) = (&[255, 0, 0], &[0, 0, 255]);
    let rows = [[RED, BLUE, BLUE, RED], [RED, RED, RED, BLUE]];
    let plain: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|[r, g, b]| [*b, *g, *r])
        .collect();
    let tiles = [
        [&[0], &plain[..]].concat(),
        // Two colours: a bit for each pixel, each row from a new byte.
        [&[2], red, blue, &[0b0110_0000, 0b0001_0000]].concat(),
        // Runs: 1 red, 2 blue, 4 red, 1 blue.
        [&[128], red, &[0], blue, &[1], red, &[3], blue, &[0]].concat(),
        [&[130], red, blue, &[0, 0x81, 1, 0x80, 3, 1]].concat(),
    ];
    for tile in tiles {
        let screen = painted(&update([0, 0, 4, 2], ZRLE, &packed(&tile))).unwrap();
        assert_eq!(
            (screen.row(0), screen.row(1)),
            (&rows[0][..], &rows[1][..]),
            "{tile:?}"
        );
    }
    let solid = [&[1], blue].concat();
    let screen = painted(&update([0, 0, 4, 1], ZRLE, &packed(&solid))).unwrap();
    assert_eq!(
        (screen.row(0), screen.row(1)),
        (&[BLUE; 4][..], &[BLACK; 4][..])
    );
}

#[test]
fn a_new_size_is_taken_and_an_absurd_one_is_not() {
    let screen = painted(&update([0, 0, 7, 3], DESKTOP_SIZE, &[])).unwrap();
    assert_eq!((screen.width(), screen.height()), (7, 3));
    let absurd = refusal(&update([0, 0, 65_535, 65_535], DESKTOP_SIZE, &[]));
    assert!(absurd.contains("65535x65535 is not taken"), "{absurd}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let outside = refusal(&update([1, 0, 4, 2], RAW, &[0; 32]));
    assert!(outside.contains("outside of the screen"), "{outside}");
    let copied = refusal(&update([0, 0, 4, 2], COPY_RECT, &[0, 1, 0, 0]));
    assert!(copied.contains("copies from outside"), "{copied}");
    let unknown = refusal(&update([0, 0, 1, 1], 7, &[]));
    assert!(unknown.contains("form 7"), "{unknown}");
    let bomb = packed(&vec![0; 10_000_000]);
    let bomb = refusal(&update([0, 0, 4, 2], ZRLE, &bomb));
    assert!(bomb.contains("too many"), "{bomb}");
    let long = refusal(&update([0, 0, 4, 2], ZRLE, &[0xff, 0xff, 0xff, 0xff]));
    assert!(long.contains("larger than plain ones"), "{long}");
    let run = [&[128_u8][..], &[0, 0, 255], &[200]].concat();
    let run = refusal(&update([0, 0, 4, 2], ZRLE, &packed(&run)));
    assert!(run.contains("tile of pixels is broken"), "{run}");
    let clipboard = refusal(&[3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert!(clipboard.contains("too long"), "{clipboard}");
    assert!(refusal(&[77]).contains("message 77"));
    assert!(refusal(&[0, 0]).contains("it closed"));
}

#[test]
fn an_update_cannot_keep_us_painting() {
    let copy = &update([0, 0, 5120, 2880], COPY_RECT, &[0; 4])[4..];
    let mut bytes = opening(5120, 2880);
    bytes.extend([0, 0, 0xff, 0xff]);
    bytes.extend(copy.repeat(9));
    let endless = run(async { open(&bytes).await.unwrap().next().await }).unwrap_err();
    assert!(endless.to_string().contains("again and again"), "{endless}");
}

#[test]
fn a_refused_password_is_said_in_the_servers_words() {
    let mut bytes = b"RFB 003.008\n\x01\x02".to_vec();
    bytes.extend([0; 16]);
    bytes.extend(b"\0\0\0\x01\0\0\0\x16Authentication failed\0");
    let error = run(open(&bytes)).unwrap_err().to_string();
    assert_eq!(error, "the console: it was refused: Authentication failed");
    let no_screen = run(open(&opening(0, 0))).unwrap_err().to_string();
    assert!(no_screen.contains("0x0 is not taken"), "{no_screen}");
    assert!(run(open(b"HTTP/1.1 200 OK\r\n")).is_err());
}

/// Messages that are right in their outer form, so that random ones reach the decoders inside.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let area = prop::array::uniform4(0_u16..80);
    let encoding = prop_oneof![
        Just(RAW),
        Just(COPY_RECT),
        Just(ZRLE),
        Just(DESKTOP_SIZE),
        Just(EXTENDED_KEYS),
        Just(LIGHTS),
        any::<i32>(),
    ];
    let tile = (any::<u8>(), prop::collection::vec(any::<u8>(), 0..600));
    let rectangle = (area, encoding, tile).prop_map(|(area, encoding, (kind, rest))| {
        let plain = [vec![kind], rest].concat();
        let payload = if encoding == ZRLE {
            packed(&plain)
        } else {
            plain
        };
        update(area, encoding, &payload)
    });
    prop_oneof![
        4 => rectangle,
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ]
}

proptest! {
    #[test]
    fn no_server_makes_it_panic(messages in prop::collection::vec(message(), 0..6)) {
        let bytes = [opening(70, 66), messages.concat()].concat();
        run(async {
            let mut rfb = open(&bytes).await.unwrap();
            while rfb.next().await.is_ok() {}
            let whole = rfb.screen().whole();
            prop_assert_eq!(rfb.screen().pixels().len(), whole.width * whole.height);
            Ok(())
        })?;
    }

    #[test]
    fn no_opening_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), cut in 0_usize..60) {
        let start = opening(4, 2);
        let bytes = [&start[..cut.min(start.len())], &bytes].concat();
        let _ = run(open(&bytes));
    }

    #[test]
    fn copies_stay_on_the_screen(x in 0_usize..6, y in 0_usize..6, from_x in 0_usize..6, from_y in 0_usize..6) {
        let mut screen = Screen::black(8, 8).unwrap();
        let to = Area { x, y, width: 3, height: 3 };
        screen.copy((from_x, from_y), to);
    }
}
