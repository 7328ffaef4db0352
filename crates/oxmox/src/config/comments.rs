//! The comments above a section: those right above it are its own, others only happen to stand there.

use toml_edit::{DocumentMut, Item, Table};

/// Leaves in the document what stands above a section that was taken out, and is not about it.
pub(super) fn keep(document: &mut DocumentMut, section: &Table) {
    let (Some(above), Some(at)) = (prefix(section), section.position()) else {
        return;
    };
    let mut positions = Vec::new();
    each(document.as_table_mut(), &mut |table| {
        positions.extend(table.position());
    });
    let is_first = document.as_table().iter().all(|(_, item)| !item.is_value())
        && positions.iter().all(|position| *position > at);
    let kept = match above.rfind("\n\n") {
        // Whatever begins a file may be about all of it.
        _ if is_first => above.trim_end_matches('\n'),
        Some(end) => &above[..end],
        None => return,
    };
    if kept.trim().is_empty() {
        return;
    }
    let kept = format!("{kept}\n");
    let next = positions
        .into_iter()
        .filter(|position| *position > at)
        .min();
    let Some(next) = next else {
        let trailing = document.trailing().as_str().unwrap_or_default();
        let trailing = format!("{kept}{trailing}");
        document.set_trailing(trailing);
        return;
    };
    each(document.as_table_mut(), &mut |table| {
        if table.position() == Some(next) {
            let own = prefix(table).unwrap_or_default();
            let blank = if own.starts_with('\n') { "" } else { "\n" };
            table.decor_mut().set_prefix(format!("{kept}{blank}{own}"));
        }
    });
}

/// Takes what stands at the end of a document that has no section yet: the first one comes behind it.
pub(super) fn take_end(document: &mut DocumentMut) -> Option<String> {
    let mut has_sections = false;
    each(document.as_table_mut(), &mut |_| has_sections = true);
    let end = document.trailing().as_str()?;
    if has_sections || end.trim().is_empty() {
        return None;
    }
    let end = format!("{}\n\n", end.trim_end());
    document.set_trailing("");
    Some(end)
}

fn prefix(table: &Table) -> Option<String> {
    let prefix = table.decor().prefix()?;
    prefix.as_str().map(str::to_owned)
}

/// Every section below a table.
fn each(table: &mut Table, visit: &mut dyn FnMut(&mut Table)) {
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(below) => {
                if !below.is_implicit() {
                    visit(below);
                }
                each(below, visit);
            }
            Item::ArrayOfTables(list) => {
                for below in list.iter_mut() {
                    visit(below);
                    each(below, visit);
                }
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without `[clusters.lab]`.
    fn without(text: &str) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        let clusters = document["clusters"].as_table_mut().unwrap();
        let Some(Item::Table(section)) = clusters.remove("lab") else {
            panic!("{text}")
        };
        keep(&mut document, &section);
        document.to_string()
    }

    const LAB: &str = "[clusters.lab]\nhosts = [\"a\"]\n";
    const NEXT: &str = "[clusters.next]\nhosts = [\"b\"]\n";

    #[test]
    fn what_stands_at_the_top_of_a_file_stays() {
        for (text, after) in [
            (
                format!("# all of mine\n\n{LAB}"),
                "# all of mine\n".to_owned(),
            ),
            (
                format!("# all of mine\n{LAB}"),
                "# all of mine\n".to_owned(),
            ),
            (
                format!("# all of mine\n\n{LAB}\n{NEXT}"),
                format!("# all of mine\n\n{NEXT}"),
            ),
            (
                format!("# mine\n\n{LAB}\n# others\n[[rules]]\nverdict = \"deny\"\n"),
                "# mine\n\n# others\n[[rules]]\nverdict = \"deny\"\n".to_owned(),
            ),
            (format!("{LAB}\n{NEXT}"), format!("\n{NEXT}")),
            (LAB.to_owned(), String::new()),
        ] {
            assert_eq!(without(&text), after, "{text}");
        }
    }

    #[test]
    fn what_is_about_the_section_goes_with_it() {
        let text = format!("{NEXT}\n# the others\n\n# at home\n{LAB}");
        assert_eq!(without(&text), format!("{NEXT}\n# the others\n"));
        let text = format!("mode = \"ask\"\n\n# at home\n{LAB}\n{NEXT}");
        assert_eq!(without(&text), format!("mode = \"ask\"\n\n{NEXT}"));
    }
}
