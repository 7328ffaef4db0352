//! What JSON would take in memory, before it is read. A list of short objects takes a hundred times the room of its text, so
//! that a bound on bytes alone is none.

/// Texts up to this length are read as they are: whatever they hold, it is bounded by them.
const SHORT: usize = 1 << 20;

/// What values may take. A hundred thousand guests, each with everything that PVE tells of one, take less.
const MOST: usize = 256 << 20;

/// What an object with one field takes, a list with one item, and one item more.
const OBJECT: usize = 640;
const LIST: usize = 128;
const ITEM: usize = 64;

/// Whether JSON has so many parts that nobody should read it. What stands in quotes is no part, but to tell is slow: it is
/// asked only where the parts would be too many with what stands in quotes.
pub(super) fn are_too_many(json: &[u8]) -> bool {
    json.len() > SHORT && room_at_most(json) > MOST && room(json) > MOST
}

/// What the values would take if nothing stood in quotes. Long lists come here, so it goes by many bytes at a time: the
/// compiler makes such code of counters that are no larger than what they count.
fn room_at_most(json: &[u8]) -> usize {
    let count = |part: &[u8], wanted: u8| {
        let found: u8 = part.iter().map(|byte| u8::from(*byte == wanted)).sum();
        usize::from(found)
    };
    json.chunks(usize::from(u8::MAX))
        .map(|part| {
            count(part, b'{') * OBJECT + count(part, b'[') * LIST + count(part, b',') * ITEM
        })
        .sum()
}

/// About what the values of some JSON take. Of what is no JSON it says anything, without harm.
fn room(json: &[u8]) -> usize {
    let mut room = 0_usize;
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        room += match byte {
            b'{' => OBJECT,
            b'[' => LIST,
            b',' => ITEM,
            b'"' => {
                in_text = true;
                0
            }
            _ => 0,
        };
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_and_texts_are_not() {
        assert_eq!(
            room(br#"{"data":[1,2,{"a":"b"}]}"#),
            2 * OBJECT + LIST + 2 * ITEM
        );
        assert_eq!(room(br#"["{[,\"{[,\\",{}]"#), LIST + ITEM + OBJECT);
        assert_eq!(room(b"no JSON at all"), 0);
    }

    /// Where the quick count says that it is little, it is.
    #[test]
    fn the_quick_count_takes_no_part_for_less() {
        assert_eq!(room_at_most(&[b'{'; 1_000]), 1_000 * OBJECT);
        for text in [r#"{"data":[1,2,{"a":"b"}]}"#, r#"["{[,\"{[,",{}]"#] {
            let long = text.repeat(100);
            assert!(room_at_most(long.as_bytes()) >= room(long.as_bytes()));
        }
        let quoted = format!(r#"["{}"]"#, "{".repeat(1 << 20));
        assert!(room_at_most(quoted.as_bytes()) > MOST);
        assert!(!are_too_many(quoted.as_bytes()));
    }

    /// Ten thousand guests are what is promised; ten times that is still an answer.
    #[test]
    fn a_large_cluster_is_no_bomb() {
        let guest = format!("{{{}}},", r#""name":"web","#.repeat(25));
        let large = guest.repeat(100_000);
        assert!(large.len() > SHORT && !are_too_many(large.as_bytes()));
        assert!(are_too_many(r#"{"":0},"#.repeat(1 << 20).as_bytes()));
    }
}
