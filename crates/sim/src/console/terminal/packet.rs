//! What the client of a terminal sends once it was let in: `0:LEN:DATA`, `1:COLUMNS:ROWS:`, `2`.

/// One packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// What is typed.
    Input(Vec<u8>),
    /// A new size.
    Resize,
    /// The client is still there. There is no answer.
    Ping,
}

/// The client sent something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A number has no more digits than this.
const DIGITS: usize = 10;

/// The next packet. Of what is typed, what has come of it: PVE's proxy passes that on and waits for the rest, however long
/// the packet is.
pub(super) fn take(inbox: &mut Vec<u8>) -> Result<Option<Packet>, Malformed> {
    let Some(first) = inbox.first() else {
        return Ok(None);
    };
    match first {
        b'2' => {
            inbox.drain(..1);
            Ok(Some(Packet::Ping))
        }
        b'0' | b'1' if inbox.get(1).is_some_and(|byte| *byte != b':') => Err(Malformed),
        b'0' => take_input(inbox),
        b'1' => take_size(inbox),
        _ => Err(Malformed),
    }
}

fn take_input(inbox: &mut Vec<u8>) -> Result<Option<Packet>, Malformed> {
    let Some((length, start)) = number(inbox, 2)? else {
        return Ok(None);
    };
    let end = inbox.len().min(start + length);
    let data = inbox[start..end].to_vec();
    if data.is_empty() && length > 0 {
        return Ok(None);
    }
    inbox.drain(..end);
    if data.len() < length {
        *inbox = format!("0:{}:", length - data.len()).into_bytes();
    }
    Ok(Some(Packet::Input(data)))
}

fn take_size(inbox: &mut Vec<u8>) -> Result<Option<Packet>, Malformed> {
    let Some((_, next)) = number(inbox, 2)? else {
        return Ok(None);
    };
    let Some((_, end)) = number(inbox, next)? else {
        return Ok(None);
    };
    inbox.drain(..end);
    Ok(Some(Packet::Resize))
}

/// A number that begins there and ends with a colon, and what follows it.
fn number(inbox: &[u8], from: usize) -> Result<Option<(usize, usize)>, Malformed> {
    let rest = inbox.get(from..).unwrap_or_default();
    let Some(length) = rest.iter().position(|byte| *byte == b':') else {
        let is_number = rest.len() <= DIGITS && rest.iter().all(u8::is_ascii_digit);
        return if is_number { Ok(None) } else { Err(Malformed) };
    };
    let digits = std::str::from_utf8(&rest[..length]).map_err(|_| Malformed)?;
    let value = digits.parse::<u32>().map_err(|_| Malformed)?;
    let value = usize::try_from(value).map_err(|_| Malformed)?;
    Ok(Some((value, from + length + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_taken_as_they_come() {
        let typed = |bytes: &[u8]| Packet::Input(bytes.to_vec());
        let mut inbox = b"1:120:40:0:5:a:b\n\r20:0:".to_vec();
        let mut found = Vec::new();
        while let Some(packet) = take(&mut inbox).expect("well formed") {
            found.push(packet);
        }
        let expected = [Packet::Resize, typed(b"a:b\n\r"), Packet::Ping, typed(b"")];
        assert_eq!(found, expected);
        assert!(inbox.is_empty());

        let mut found = Vec::new();
        for byte in b"1:12:4:0:2:::20:0:" {
            inbox.push(*byte);
            found.extend(take(&mut inbox).expect("well formed"));
        }
        let expected = [
            Packet::Resize,
            typed(b":"),
            typed(b":"),
            Packet::Ping,
            typed(b""),
        ];
        assert_eq!(found, expected);
        assert!(inbox.is_empty());
    }

    #[test]
    fn nothing_is_held_back_of_a_packet_that_never_ends() {
        let mut inbox = b"0:4000000000:".to_vec();
        for _ in 0..3 {
            inbox.extend([b'x'; 5000]);
            assert_eq!(take(&mut inbox), Ok(Some(Packet::Input(vec![b'x'; 5000]))));
            assert_eq!(take(&mut inbox), Ok(None));
            assert!(inbox.len() < 20, "{}", inbox.len());
        }
        assert_eq!(inbox, b"0:3999985000:");
    }

    #[test]
    fn anything_else_is_refused() {
        for wrong in ["3", "0x", "0:x:", "0:99999999999", "1:a:b:", "x", "0:-1:"] {
            let mut inbox = wrong.as_bytes().to_vec();
            assert_eq!(take(&mut inbox), Err(Malformed), "{wrong}");
        }
    }
}
