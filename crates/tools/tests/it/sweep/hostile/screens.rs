//! Text on the screen of a VM. What it shows is recognised, and told as text beside the picture.

use futures_util::StreamExt as _;
use futures_util::stream;
use sim::World;
use sim::world::display::PASSWORD;

use super::corpus::CORPUS;
use super::inside::{self, Look, PROGRAM};
use crate::house::House;

const VM: u32 = 100;
/// So many screens at a time: most of a look is waiting for the screen to stand still.
const AT_ONCE: usize = 10;

/// What shows a screen. What presses keys presses such that leave what was written before.
const LOOKS: &[(&str, &str)] = &[
    ("capture_vm_screen", r#"{"vmid": 100}"#),
    (
        "capture_vm_screen",
        r#"{"vmid": 100, "area": "0,0,720,384", "width": 360}"#,
    ),
    (
        "send_vm_key",
        r#"{"vmid": 100, "key": "enter", "look": true}"#,
    ),
    (
        "type_vm_text",
        r#"{"vmid": 100, "text": "spew", "enter": true, "look": true}"#,
    ),
];

/// Somebody at the keyboard of the VM.
fn type_line(world: &mut World, line: &str) {
    let now = world.now;
    let guest = world.guests.get_mut(&VM).unwrap();
    for letter in line.chars() {
        guest.press_together(&[letter.to_string().as_str()], now);
    }
    guest.press_together(&["ret"], now);
}

/// The rows that the screen shows, as far as something is in them.
fn rows(world: &mut World) -> Vec<String> {
    let now = world.now;
    let rows = world.guests.get_mut(&VM).unwrap().look(now).lines();
    rows.into_iter().filter(|row| !row.is_empty()).collect()
}

/// A screen on which the program has written this text, and what each look at it gave.
async fn seen(text: &str) -> Vec<Look> {
    let house: House = super::asking().await;
    inside::install(&house, VM, text);
    house.sim.advance(std::time::Duration::from_mins(10));
    house.sim.world(|world| {
        for line in ["root", PASSWORD, "clear", PROGRAM] {
            type_line(world, line);
        }
    });
    let mut looks = Vec::new();
    for (tool, args) in LOOKS {
        let mut look = inside::look(&house, tool, args).await;
        // All of the screen is told, so that what is set off is all that there was.
        for row in house.sim.world(rows) {
            if !look.shown.lines().any(|line| line == row) {
                let missing = format!("{tool} {args}: {row:?} is not told");
                look.wrong.push(missing);
            }
        }
        looks.push(look);
    }
    looks
}

#[tokio::test]
async fn text_on_a_screen_is_data() {
    let screens = CORPUS.iter().map(|(_, text)| seen(text));
    let screens: Vec<Vec<Look>> = stream::iter(screens).buffered(AT_ONCE).collect().await;
    let looks = || screens.iter().flatten();
    let wrong: Vec<_> = looks().flat_map(|look| &look.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Of other letters the simulator's card shows that they are some, as a card with another font would.
    let can_be_shown = |text: &str| text.is_ascii() && !text.contains('\r');
    let mut told = 0;
    for (number, ((trick, text), looks)) in CORPUS.iter().zip(&screens).enumerate() {
        let by = looks.iter().filter(|look| look.told.contains(&number));
        let by = by.count();
        told += usize::from(by > 0);
        assert!(
            by == LOOKS.len() || !can_be_shown(text),
            "{trick}: {by} looks tell it"
        );
    }
    eprintln!(
        "{} texts, {} looks at screens, {told} texts told as they are",
        CORPUS.len(),
        looks().count()
    );
}
