//! A VNC client of the tests' own: raw pixels, and a reader that knows VGA's font.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use futures_util::{SinkExt, StreamExt};
use sim::Sim;
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, Websocket};

const FONT: &[u8; 4096] = include_bytes!("../../src/console/vnc/vga8x16.bin");

/// What `vncproxy` answers.
pub(crate) struct Proxy {
    pub(crate) port: String,
    pub(crate) ticket: String,
    pub(crate) password: String,
    pub(crate) upid: String,
}

impl Proxy {
    /// Opens a console of a machine.
    pub(crate) async fn open(client: &Client, machine: &str) -> Self {
        let form = "websocket=1&generate-password=1";
        let answer = client.post(&format!("{machine}/vncproxy"), form).await;
        let text = |key: &str| answer.data()[key].as_str().expect(key).to_owned();
        Self {
            port: text("port"),
            ticket: text("ticket"),
            password: text("password"),
            upid: text("upid"),
        }
    }

    /// Where a websocket to it is asked for.
    pub(crate) fn target(&self, machine: &str) -> String {
        let ticket = self.ticket.replace(':', "%3A").replace('+', "%2B");
        format!(
            "{machine}/vncwebsocket?port={}&vncticket={ticket}",
            self.port
        )
    }
}

/// A message of the server, as far as it brings no pixels.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    Pixels,
    Size(u16, u16),
    ExtendedKeys,
}

/// A connected client.
pub(crate) struct Rfb {
    stream: Websocket,
    inbox: Vec<u8>,
    pub(crate) name: String,
    pub(crate) size: (u16, u16),
    pixels: Vec<[u8; 4]>,
}

impl Rfb {
    /// Connects to the display of a machine through the first node.
    pub(crate) async fn connect(sim: &Sim, machine: &str) -> Self {
        let client = Client::root(sim);
        let proxy = Proxy::open(&client, machine).await;
        let stream = client.websocket(&proxy.target(machine)).await;
        let stream = stream.expect("a websocket");
        Self::open(stream, &proxy.password)
            .await
            .expect("the password is right")
    }

    /// The opening; the error is what the server says to a wrong password.
    pub(crate) async fn open(stream: Websocket, password: &str) -> Result<Self, Vec<u8>> {
        let mut rfb = Self {
            stream,
            inbox: Vec::new(),
            name: String::new(),
            size: (0, 0),
            pixels: Vec::new(),
        };
        assert_eq!(rfb.take(12).await, b"RFB 003.008\n");
        rfb.send(b"RFB 003.008\n").await;
        assert_eq!(rfb.take(2).await, [1, 2]);
        rfb.send(&[2]).await;
        let challenge = rfb.take(16).await;
        rfb.send(&answer(&challenge, password)).await;
        let verdict = rfb.take(4).await;
        if verdict != [0; 4] {
            let rest = rfb.rest().await;
            return Err([verdict, rest].concat());
        }
        rfb.send(&[1]).await;
        let init = rfb.take(24).await;
        rfb.resize(u16_at(&init, 0), u16_at(&init, 2));
        let length = u32_at(&init, 20);
        rfb.name = String::from_utf8(rfb.take(length).await).expect("a name");
        Ok(rfb)
    }

    fn resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.pixels = vec![[0; 4]; usize::from(width) * usize::from(height)];
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let message = Message::binary(bytes.to_vec());
        self.stream.socket.send(message).await.expect("a server");
    }

    /// The next so many bytes.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.inbox.len() < count {
            let part = self.stream.socket.next().await;
            let part = part.expect("more to come").expect("more to come");
            self.inbox.extend(part.into_data());
        }
        self.inbox.drain(..count).collect()
    }

    /// What still comes until the server leaves.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        while let Some(Ok(part)) = self.stream.socket.next().await {
            self.inbox.extend(part.into_data());
        }
        std::mem::take(&mut self.inbox)
    }

    pub(crate) async fn encodings(&mut self, list: &[i32]) {
        let mut message = vec![2, 0];
        message.extend(u16::try_from(list.len()).expect("few").to_be_bytes());
        message.extend(list.iter().flat_map(|kind| kind.to_be_bytes()));
        self.send(&message).await;
    }

    /// Asks for the whole screen, or for what changes on it.
    pub(crate) async fn ask(&mut self, only_changes: bool) {
        let ([w1, w2], [h1, h2]) = (self.size.0.to_be_bytes(), self.size.1.to_be_bytes());
        let flag = u8::from(only_changes);
        self.send(&[3, flag, 0, 0, 0, 0, w1, w2, h1, h2]).await;
    }

    /// Reads one update.
    pub(crate) async fn update(&mut self) -> Vec<News> {
        let head = self.take(4).await;
        assert_eq!(head[0], 0, "an update");
        let mut news = Vec::new();
        for _ in 0..u16_at(&head, 2) {
            let head = self.take(12).await;
            let [x, y, width, height] = [0, 2, 4, 6].map(|at| u16_at(&head, at));
            news.push(
                match i32::from_be_bytes([head[8], head[9], head[10], head[11]]) {
                    0 => {
                        let pixels = usize::from(width) * usize::from(height);
                        let pixels = self.take(pixels * 4).await;
                        self.paint((x, y, width), &pixels);
                        News::Pixels
                    }
                    -223 => {
                        self.resize(width, height);
                        News::Size(width, height)
                    }
                    -258 => News::ExtendedKeys,
                    other => panic!("encoding {other}"),
                },
            );
        }
        news
    }

    fn paint(&mut self, (x, y, width): (u16, u16, u16), pixels: &[u8]) {
        let row_length = usize::from(self.size.0);
        for (index, pixel) in pixels.chunks_exact(4).enumerate() {
            let (row, column) = (index / usize::from(width), index % usize::from(width));
            let at = (usize::from(y) + row) * row_length + usize::from(x) + column;
            self.pixels[at].copy_from_slice(pixel);
        }
    }

    /// Looks at the whole screen.
    pub(crate) async fn look(&mut self) -> Vec<String> {
        self.ask(false).await;
        self.update().await;
        self.text()
    }

    /// Waits for changes until a line begins like this.
    pub(crate) async fn wait_for(&mut self, wanted: &str) -> Vec<String> {
        self.wait_until(|text| text.iter().any(|line| line.starts_with(wanted)))
            .await
    }

    /// Waits for changes until the screen is as wanted.
    pub(crate) async fn wait_until(&mut self, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        for _ in 0..100 {
            let text = self.text();
            if wanted(&text) {
                return text;
            }
            self.ask(true).await;
            self.update().await;
        }
        panic!("never: {:#?}", self.text());
    }

    /// Reads the characters off the pixels; the cursor does not count.
    pub(crate) fn text(&self) -> Vec<String> {
        let cell_width = if self.size.0 == 720 { 9 } else { 8 };
        let (width, height) = (usize::from(self.size.0), usize::from(self.size.1));
        let row_bits = |x: usize, y: usize| {
            let lit = |bit: usize| self.pixels[y * width + x + bit][..3] != [0, 0, 0];
            (0..8).fold(0_u8, |bits, bit| bits << 1 | u8::from(lit(bit)))
        };
        let read = |column: usize, row: usize| {
            let drawn: Vec<u8> = (0..14)
                .map(|line| row_bits(column * cell_width, row * 16 + line))
                .collect();
            let known = (32..127_u8).find(|code| {
                let glyph = &FONT[usize::from(*code) * 16..][..14];
                glyph == drawn
            });
            known.map_or('?', char::from)
        };
        let line = |row| {
            (0..width / cell_width)
                .map(|column| read(column, row))
                .collect()
        };
        let lines = (0..height / 16).map(|row| {
            let line: String = line(row);
            line
        });
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    /// Presses and releases a key by the character it stands for.
    pub(crate) async fn key(&mut self, keysym: u32) {
        for down in [true, false] {
            self.hold(keysym, down).await;
        }
    }

    /// Presses or releases a key.
    pub(crate) async fn hold(&mut self, keysym: u32, down: bool) {
        let [a, b, c, d] = keysym.to_be_bytes();
        self.send(&[4, u8::from(down), 0, 0, a, b, c, d]).await;
    }

    /// Types small letters, digits and enter.
    pub(crate) async fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.key(if c == '\n' { 0xff0d } else { u32::from(c) })
                .await;
        }
    }

    /// Leaves politely.
    pub(crate) async fn leave(mut self) {
        self.stream.socket.close(None).await.expect("a server");
        self.rest().await;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    usize::try_from(u32::from_be_bytes(bytes)).expect("a length")
}

/// The proof of a password.
pub(crate) fn answer(challenge: &[u8], password: &str) -> Vec<u8> {
    let mut key = [0; 8];
    for (place, byte) in key.iter_mut().zip(password.bytes()) {
        *place = byte.reverse_bits();
    }
    let cipher = Des::new(&key.into());
    let halves = challenge.chunks_exact(8).map(|half| {
        let mut block: [u8; 8] = half.try_into().expect("eight bytes");
        let mut encrypted = block.into();
        cipher.encrypt_block(&mut encrypted);
        block.copy_from_slice(&encrypted);
        block
    });
    halves.collect::<Vec<_>>().concat()
}
