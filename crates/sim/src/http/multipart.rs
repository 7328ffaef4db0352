//! `multipart/form-data`: fields, and one file at the end.
//!
//! PVE's proxy reads the parts in one fixed order and stops at the file: a field in the wrong place, or one that it
//! does not know, breaks the request; what follows the file is not looked at. The file goes to the disk as it comes. Here
//! only its size and its checksum are kept, so that an image of any size can be sent.

use sha2::digest::DynDigest;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::Request;
use crate::world::hex;

/// The fields in the only order that is accepted; each may be left out.
const FIELDS: [&str; 3] = ["content", "checksum-algorithm", "checksum"];
/// PVE's proxy holds no more than this of a request that it cannot make sense of.
const LONGEST_HEAD: usize = 64 * 1024;

/// A form that was read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub(crate) fields: Vec<(String, String)>,
    /// The name that the client gave the file.
    pub(crate) file_name: String,
    pub(crate) file: Received,
}

/// What is known of an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its bytes.
    pub size: u64,
    /// Its checksum of the kind that was asked for, if the simulator can calculate that.
    pub sum: Option<String>,
}

/// Reads a form piece by piece.
pub(super) struct Reader {
    boundary: String,
    /// What is not decided on yet.
    held: Vec<u8>,
    stage: Stage,
}

enum Stage {
    Fields,
    File(Taking),
    Read(Form),
    Refused,
}

/// A file that is being received.
struct Taking {
    fields: Vec<(String, String)>,
    file_name: String,
    size: u64,
    sum: Option<Box<dyn DynDigest + Send>>,
}

impl Reader {
    /// For a request that uploads something, by its head.
    pub(super) fn of(head: &Request) -> Option<Self> {
        let kind = head.header("content-type")?;
        let uploads = head.method == "POST" && head.path().ends_with("/upload");
        if !uploads || !kind.starts_with("multipart/form-data") {
            return None;
        }
        let boundary = boundary(kind);
        Some(Self {
            stage: boundary.as_ref().map_or(Stage::Refused, |_| Stage::Fields),
            boundary: boundary.unwrap_or_default(),
            held: Vec::new(),
        })
    }

    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if matches!(self.stage, Stage::Read(_) | Stage::Refused) {
            return;
        }
        self.held.extend_from_slice(bytes);
        if matches!(self.stage, Stage::Fields) {
            self.read_fields();
        }
        if matches!(self.stage, Stage::File(_)) {
            self.read_file();
        }
    }

    /// The form; `None` if it is one that PVE does not accept.
    pub(super) fn end(self) -> Option<Form> {
        match self.stage {
            Stage::Read(form) => Some(form),
            _ => None,
        }
    }

    fn read_fields(&mut self) {
        match head(&self.held, &self.boundary) {
            Head::Whole(fields, file_name, at) if in_order(&fields) => {
                self.held.drain(..at);
                let wanted = fields.iter().find(|(name, _)| name == FIELDS[1]);
                let sum = wanted.and_then(|(_, algorithm)| hasher(algorithm));
                self.stage = Stage::File(Taking {
                    fields,
                    file_name,
                    size: 0,
                    sum,
                });
            }
            Head::Begun if self.held.len() <= LONGEST_HEAD => {}
            _ => self.refuse(),
        }
    }

    /// Passes on all that cannot be part of the boundary that ends the file.
    fn read_file(&mut self) {
        let end = format!("\r\n{}--", self.boundary);
        let found = find(&self.held, end.as_bytes());
        let sure = found.unwrap_or_else(|| self.held.len().saturating_sub(end.len() - 1));
        let Stage::File(taking) = &mut self.stage else {
            return;
        };
        taking.size += sure as u64;
        if let Some(sum) = &mut taking.sum {
            sum.update(&self.held[..sure]);
        }
        self.held.drain(..sure);
        if found.is_some() {
            self.held = Vec::new();
            self.stage = match std::mem::replace(&mut self.stage, Stage::Refused) {
                Stage::File(taking) => Stage::Read(taking.done()),
                other => other,
            };
        }
    }

    fn refuse(&mut self) {
        self.held = Vec::new();
        self.stage = Stage::Refused;
    }
}

impl Taking {
    fn done(self) -> Form {
        Form {
            fields: self.fields,
            file_name: self.file_name,
            file: Received {
                size: self.size,
                sum: self.sum.map(|sum| hex(&sum.finalize())),
            },
        }
    }
}

fn hasher(algorithm: &str) -> Option<Box<dyn DynDigest + Send>> {
    match algorithm {
        "sha224" => Some(Box::new(Sha224::default())),
        "sha256" => Some(Box::new(Sha256::default())),
        "sha384" => Some(Box::new(Sha384::default())),
        "sha512" => Some(Box::new(Sha512::default())),
        _ => None,
    }
}

/// All that stands before the file.
enum Head {
    /// It goes on.
    Begun,
    /// The fields, the file's name, and where the file begins.
    Whole(Vec<(String, String)>, String, usize),
    /// It makes no sense.
    Broken,
}

fn head(bytes: &[u8], boundary: &str) -> Head {
    let mut fields = Vec::new();
    let mut at = 0;
    loop {
        let Some(start) = find(&bytes[at..], format!("{boundary}\r\n").as_bytes()) else {
            let ends = find(&bytes[at..], format!("{boundary}--").as_bytes()).is_some();
            return if ends { Head::Broken } else { Head::Begun };
        };
        let part = at + start + boundary.len() + 2;
        let Some(head_length) = find(&bytes[part..], b"\r\n\r\n") else {
            return Head::Begun;
        };
        let head = String::from_utf8_lossy(&bytes[part..part + head_length]).into_owned();
        let content = part + head_length + 4;
        let Some(name) = disposition(&head, "name") else {
            return Head::Broken;
        };
        if let Some(file_name) = disposition(&head, "filename") {
            return Head::Whole(fields, file_name, content);
        }
        let Some(length) = find(&bytes[content..], format!("\r\n{boundary}").as_bytes()) else {
            return Head::Begun;
        };
        let value = String::from_utf8_lossy(&bytes[content..content + length]).into_owned();
        fields.push((name, value));
        at = content + length + 2;
    }
}

/// Whether the fields are known ones, each after those that go before it.
fn in_order(fields: &[(String, String)]) -> bool {
    let place = |name: &String| FIELDS.iter().position(|field| field == name);
    let places: Option<Vec<_>> = fields.iter().map(|(name, _)| place(name)).collect();
    places.is_some_and(|places| places.is_sorted_by(|one, next| one < next))
}

fn boundary(content_type: &str) -> Option<String> {
    let value = content_type.split_once("boundary=")?.1;
    let value = value.split(';').next()?.trim().trim_matches('"');
    (!value.is_empty()).then(|| format!("--{value}"))
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

/// `name` or `filename` of the part's `Content-Disposition`.
fn disposition(head: &str, key: &str) -> Option<String> {
    let is_ours = |line: &&str| {
        line.to_ascii_lowercase()
            .starts_with("content-disposition:")
    };
    let line = head.lines().find(is_ours)?;
    let wanted = format!("{key}=\"");
    let mut parts = line.split(';').map(str::trim);
    let value = parts.find_map(|part| part.strip_prefix(&wanted))?;
    value.strip_suffix('"').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &str = "DATA\r\n--B\r\nis not the end";

    fn body(parts: &[(&str, &str)]) -> String {
        let part = |(name, value): &(&str, &str)| {
            let file = if *name == "filename" {
                "; filename=\"a.iso\""
            } else {
                ""
            };
            format!(
                "--B\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n"
            )
        };
        parts.iter().map(part).collect::<String>() + "--B--\r\n"
    }

    fn reader() -> Reader {
        let kind = "multipart/form-data; boundary=B".to_owned();
        Reader::of(&Request {
            method: "POST".to_owned(),
            target: "/api2/json/nodes/pve1/storage/local/upload".to_owned(),
            headers: vec![("content-type".to_owned(), kind)],
            ..Request::default()
        })
        .expect("an upload")
    }

    /// What comes of a form that arrives in pieces of this size.
    fn read(parts: &[(&str, &str)], piece: usize) -> Option<Form> {
        let mut reader = reader();
        for bytes in body(parts).as_bytes().chunks(piece) {
            reader.feed(bytes);
        }
        reader.end()
    }

    #[test]
    fn fields_come_in_order_and_the_file_ends_the_request() {
        let parts = [
            ("content", "iso"),
            ("checksum-algorithm", "sha256"),
            ("checksum", "x"),
            ("filename", CONTENT),
        ];
        for piece in [1, 7, 1000] {
            let form = read(&parts, piece).expect("readable");
            let fields: Vec<_> = form.fields.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(fields, ["iso", "sha256", "x"], "{piece}");
            assert_eq!(form.file_name, "a.iso");
            assert_eq!(form.file.size, CONTENT.len() as u64, "{piece}");
            let sum = hex(&<Sha256 as sha2::Digest>::digest(CONTENT));
            assert_eq!(form.file.sum, Some(sum), "{piece}");
        }
    }

    #[test]
    fn other_orders_and_other_fields_break_it() {
        for parts in [
            &[("checksum", "x"), ("content", "iso"), ("filename", "D")][..],
            &[("content", "iso"), ("bogus", "1"), ("filename", "D")],
            &[("content", "iso"), ("content", "iso"), ("filename", "D")],
            &[("content", "iso")],
        ] {
            assert_eq!(read(parts, 10), None, "{parts:?}");
        }
    }

    #[test]
    fn what_follows_the_file_is_not_looked_at() {
        let form = read(&[("filename", "DATA")], 5).expect("readable");
        assert_eq!((form.fields.len(), form.file.size), (0, 4));
    }

    #[test]
    fn nothing_grows_with_what_is_sent() {
        let mut reader = reader();
        let whole = body(&[("content", "iso"), ("filename", "")]);
        reader.feed(&whole.as_bytes()[..whole.len() - 9]);
        let piece = vec![b'-'; 1 << 20];
        for _ in 0..4 {
            reader.feed(&piece);
            assert!(reader.held.len() < 100, "{}", reader.held.len());
        }
        let mut endless = self::reader();
        for _ in 0..4 {
            endless.feed(&piece);
            assert!(endless.held.len() <= LONGEST_HEAD);
        }
        assert_eq!(endless.end(), None);
    }
}
