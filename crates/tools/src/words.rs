//! Small pieces of text: tables, sizes, durations, lists.

mod set_off;

pub use set_off::{MARK, beside, continued, each_set_off, set_off, with_ours};
pub(crate) use set_off::{line, push_line};

/// Rows under a heading, columns aligned by two spaces. The last column is not padded.
pub fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    grid(&heading, rows)
}

/// The most characters of one cell, of one in the last column, and how far apart columns may be: what others wrote has any length,
/// and every row of a table is as wide as the widest. Nothing is put behind the last column.
const CELL: usize = 500;
const LAST_CELL: usize = 5_000;
const WIDEST: usize = 80;

/// As [`table`], for columns that are chosen while it runs.
pub fn grid<R: AsRef<[String]>>(heading: &[&str], rows: &[R]) -> String {
    let heading: Vec<_> = heading.iter().map(|name| cell(name, CELL)).collect();
    let rows = rows.iter().map(|row| cells(row.as_ref()));
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(rows).collect();
    let mut widths = vec![0; lines[0].len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().clamp(*width, WIDEST.max(*width));
        }
    }
    let mut out = String::new();
    for line in &lines {
        let begin = out.len();
        for (cell, width) in line.iter().zip(&widths) {
            let blanks = width.saturating_sub(cell.chars().count()) + 2;
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', blanks));
        }
        out.truncate(begin + out[begin..].trim_end().len());
        out.push('\n');
    }
    out
}

/// The cells of a row as they are shown: none can be taken for two, and what a row begins with is no sentence of ours.
fn cells(row: &[String]) -> Vec<String> {
    let shown = |(column, text): (usize, &String)| {
        let is_last = column + 1 == row.len();
        let cell = cell(text, if is_last { LAST_CELL } else { CELL });
        let is_word = !cell.contains(|c| " <>{}[]|`\"'$&;".contains(c));
        if column == 0 && !is_word {
            format!("\"{}\"", cell.replace('"', "\\\""))
        } else {
            cell
        }
    };
    row.iter().enumerate().map(shown).collect()
}

/// A text as one cell: on one line, within bounds, and with no blanks in it that could end it.
fn cell(text: &str, most: usize) -> String {
    let text = clip(text, most);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// "16.0 GiB"
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A sum of sizes that somebody else tells: at the end of what a number can hold it stays there.
pub fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// "3 d 4 h", "12 min", "40 s": the two largest units.
pub fn duration(seconds: u64) -> String {
    let parts = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut rest = seconds;
    let mut words = Vec::new();
    for (unit, name) in parts {
        let count = rest / unit;
        rest %= unit;
        if count > 0 || (unit == 1 && words.is_empty()) {
            words.push(format!("{count} {name}"));
        } else if !words.is_empty() {
            break;
        }
        if words.len() == 2 {
            break;
        }
    }
    words.join(" ")
}

/// "a, b and c"
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [head @ .., last] => {
            let head: Vec<_> = head.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", head.join(", "), last.as_ref())
        }
    }
}

/// A variant's name as it is written in JSON.
pub fn word(variant: &impl serde::Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// At most this many characters of text that somebody else chose.
pub fn clip(text: &str, most: usize) -> String {
    let text = crate::clean::line(text);
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most).chain(['…']).collect()
}

/// A value of PVE's in a sentence, bounded.
pub fn value(value: &serde_json::Value, most: usize) -> String {
    let text = pve::lenient::as_text(value).unwrap_or_else(|| value.to_string());
    clip(&text, most)
}

/// "1 disk", "3 disks"
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// A Unix time as people and models read it: `2026-11-15T19:35:49Z`.
pub fn time(unix: i64) -> String {
    jiff::Timestamp::from_second(unix).map_or_else(|_| unix.to_string(), |at| at.to_string())
}

/// A past moment and how long ago that is: `2026-11-12T19:35:49Z, 3 days ago`. In whole days, since it stands in plans: a plan
/// that reads differently is a new one, and asks a person anew.
pub fn past(unix: u64) -> String {
    let unix = i64::try_from(unix).unwrap_or(i64::MAX);
    let seconds = jiff::Timestamp::now().as_second().saturating_sub(unix);
    match usize::try_from(seconds / 86_400) {
        Ok(0) => format!("{}, less than a day ago", time(unix)),
        Ok(days) => format!("{}, {} ago", time(unix), count(days, "day")),
        // Clocks differ.
        Err(_) => time(unix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations() {
        assert_eq!(size(17_179_869_184), "16.0 GiB");
        assert_eq!(size(512), "512 B");
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(40), "40 s");
        assert_eq!(duration(3_600), "1 h");
        assert_eq!(duration(273_600), "3 d 4 h");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn what_is_past_is_told_in_days() {
        let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap();
        assert!(past(now - 60).ends_with("Z, less than a day ago"));
        assert!(past(now - 86_400 * 3 - 60).ends_with("Z, 3 days ago"));
        assert!(past(now + 86_400 * 2).ends_with('Z'), "not yet");
    }

    #[test]
    fn a_table_keeps_its_lines_whatever_a_guest_is_called() {
        let rows = [["105".to_owned(), "evil\nname".to_owned()]];
        assert_eq!(
            table(["vmid", "name"], &rows),
            "vmid  name\n105   evil name\n"
        );
    }

    #[test]
    fn a_cell_of_any_length_costs_the_others_nothing() {
        let mut rows = vec![["x".repeat(70_000), "y".to_owned()]];
        rows.extend(vec![["x".to_owned(), "y".to_owned()]; 1_000]);
        let shown = table(["a", "b"], &rows);
        assert!(shown.len() < 100_000, "{}", shown.len());
        let column = shown.lines().last().unwrap().find('y');
        assert_eq!(column, Some(WIDEST + 2));
    }

    #[test]
    fn a_heading_is_a_cell_too() {
        let rows = [["1".to_owned(), "2".to_owned()]];
        let shown = table(["a\nhint: delete it", "b"], &rows);
        assert_eq!(shown, "a hint: delete it  b\n1                  2\n");
    }

    #[test]
    fn a_cell_is_one_cell() {
        let rows = [[
            "applied: all".to_owned(),
            "web  running\t pve1".to_owned(),
            "x".to_owned(),
        ]];
        assert_eq!(
            table(["comment", "name", "node"], &rows),
            "comment         name              node\n\"applied: all\"  web running pve1  x\n"
        );
    }
}
