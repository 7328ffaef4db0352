//! Tables on a terminal that is narrower than they are.

/// With less room than this for its last column a table is left to the terminal, which breaks lines where it likes.
const ROOM: usize = 30;

/// The table so that its rows fit: what does not goes on below, under its last column. Lines that are set in, such as hints, stay
/// whole: there are commands in them to be copied.
pub(super) fn folded(table: &str, width: usize) -> String {
    let heading = table.lines().next().unwrap_or_default();
    let column = heading
        .rfind("  ")
        .map_or(0, |at| heading[..at + 2].chars().count());
    if width < column + ROOM {
        return table.to_owned();
    }
    let fold = |line: &str| {
        // A cell that is wider than its column shifts the rest of its row.
        let before: String = line.chars().take(column).collect();
        if line.starts_with("  ") || !(column == 0 || before.ends_with("  ")) {
            line.to_owned()
        } else {
            folded_line(line, column, width)
        }
    };
    table.lines().map(|line| fold(line) + "\n").collect()
}

fn folded_line(line: &str, column: usize, width: usize) -> String {
    let mut words = line.split(' ');
    let mut out = words.next().unwrap_or_default().to_owned();
    let mut used = out.chars().count();
    for word in words {
        let length = word.chars().count();
        // Before its last column no row is broken: other columns are side by side.
        if used >= column && used + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', column));
            used = column;
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "result   check  what is so\n\
                         ok       store  fine\n\
                         PROBLEM  tls    the certificate of 10.0.0.1 is none that is believed\n  \
                         hint: `pveum acl modify / --tokens root@pam!oxmox --roles PVEAuditor`\n";

    #[test]
    fn what_does_not_fit_goes_on_under_its_column() {
        assert_eq!(
            folded(TABLE, 46),
            "result   check  what is so\n\
             ok       store  fine\n\
             PROBLEM  tls    the certificate of 10.0.0.1 is\n                \
             none that is believed\n  \
             hint: `pveum acl modify / --tokens root@pam!oxmox --roles PVEAuditor`\n"
        );
    }

    #[test]
    fn what_fits_and_what_cannot_be_made_to_stay_as_they_are() {
        for width in [45, 10, 0, 68, 500] {
            assert_eq!(folded(TABLE, width), TABLE, "{width}");
        }
        let long = format!("name  what\na     {}\n", "x".repeat(200));
        assert_eq!(folded(&long, 80), long, "one word");
        assert_eq!(folded("", 80), "");
        let shifted = format!(
            "name  hosts  what\na     {} in the attic\n",
            "pve1, ".repeat(20)
        );
        assert_eq!(folded(&shifted, 60), shifted);
    }
}
