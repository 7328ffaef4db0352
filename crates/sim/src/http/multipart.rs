//! `multipart/form-data`: fields, and one file at the end.
//!
//! PVE's proxy reads the parts in one fixed order and stops at the file: a field in the wrong place, or one that it
//! does not know, breaks the request; what follows the file is not looked at.

use crate::call::{Given, Params};
use crate::error::ApiError;

/// The fields in the only order that is accepted; each may be left out.
const FIELDS: [&str; 3] = ["content", "checksum-algorithm", "checksum"];

/// Reads a body into `params` and answers the file that it holds.
///
/// # Errors
/// 400 with an empty body for parts that PVE does not accept.
pub(super) fn read(
    params: &mut Params,
    content_type: &str,
    body: &[u8],
) -> Result<Vec<u8>, ApiError> {
    let refused = || ApiError::bare(400, "Bad Request");
    let boundary = boundary(content_type).ok_or_else(refused)?;
    let mut rest = body;
    let mut expected = &FIELDS[..];
    while let Some(part) = next_part(&mut rest, &boundary) {
        let (head, content) = split_head(part).ok_or_else(refused)?;
        let name = disposition(&head, "name").ok_or_else(refused)?;
        if let Some(file) = disposition(&head, "filename") {
            params.set("filename", Given::Text(file));
            return Ok(content.to_vec());
        }
        let place = expected.iter().position(|field| *field == name);
        expected = &expected[place.ok_or_else(refused)? + 1..];
        let text = String::from_utf8_lossy(content).into_owned();
        params.set(name, Given::Text(text));
    }
    Err(refused())
}

fn boundary(content_type: &str) -> Option<String> {
    let value = content_type.split_once("boundary=")?.1;
    let value = value.split(';').next()?.trim().trim_matches('"');
    (!value.is_empty()).then(|| format!("--{value}"))
}

/// The next part, between two boundaries.
fn next_part<'a>(rest: &mut &'a [u8], boundary: &str) -> Option<&'a [u8]> {
    let start = find(rest, boundary.as_bytes())? + boundary.len();
    let from = rest[start..].strip_prefix(b"\r\n")?;
    let end = find(from, format!("\r\n{boundary}").as_bytes())?;
    *rest = &from[end + 2..];
    Some(&from[..end])
}

fn split_head(part: &[u8]) -> Option<(String, &[u8])> {
    let end = find(part, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&part[..end]).into_owned();
    Some((head, &part[end + 4..]))
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

    fn fields(parts: &[(&str, &str)]) -> Result<(Params, Vec<u8>), u16> {
        let mut params = Params::default();
        let file = read(
            &mut params,
            "multipart/form-data; boundary=B",
            body(parts).as_bytes(),
        );
        file.map(|file| (params, file))
            .map_err(|error| error.status)
    }

    #[test]
    fn fields_come_in_order_and_the_file_ends_the_request() {
        let (params, file) = fields(&[
            ("content", "iso"),
            ("checksum", "x"),
            ("filename", "DATA"),
            ("bogus", "1"),
        ])
        .expect("readable");
        assert_eq!(
            (params.text("content"), params.text("checksum")),
            (Some("iso"), Some("x"))
        );
        assert_eq!(
            (params.text("filename"), file.as_slice()),
            (Some("a.iso"), &b"DATA"[..])
        );
    }

    #[test]
    fn other_orders_and_other_fields_break_it() {
        assert_eq!(
            fields(&[("checksum", "x"), ("content", "iso"), ("filename", "D")]).err(),
            Some(400)
        );
        assert_eq!(
            fields(&[("content", "iso"), ("bogus", "1"), ("filename", "D")]).err(),
            Some(400)
        );
        assert_eq!(fields(&[("content", "iso")]).err(), Some(400));
    }
}
