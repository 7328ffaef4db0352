//! The doors for fuzzing of what callers and guests write; `pve::fuzzing` has those of what servers send, and tells how
//! such doors are built and when one passes.

use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use pve::Resource;
use serde_json::json;

use crate::claim::Claim;
use crate::clean;
use crate::context::Context;
use crate::filter::Filter;
use crate::keyboard;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::spec::{Risk, Toolset};
use crate::tool::Object;

/// Two bytes for the tool, then its arguments as JSON. There is no cluster: whatever passes the parser ends where a tool
/// first wants to look at one.
pub fn arguments(bytes: &[u8]) {
    let Some((&[high, low], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let Ok(arguments) = serde_json::from_slice::<Object>(rest) else {
        return;
    };
    let cx = nowhere();
    let tools: Vec<_> = cx.registry.tools().collect();
    let tool = tools[usize::from(u16::from_be_bytes([high, low])) % tools.len()];
    let Ok((arguments, extras)) = cx.registry.split(tool, arguments) else {
        return;
    };
    if let Ok(cx) = cx.narrowed(&extras) {
        // A tool that waits for something that is not there waits for ever; it is asked once.
        let _ = tool.run(arguments, &cx).now_or_never();
    }
}

/// All tools, and no cluster.
fn nowhere() -> &'static Context {
    static NOWHERE: OnceLock<Context> = OnceLock::new();
    NOWHERE.get_or_init(|| Context {
        clusters: Vec::new(),
        registry: Arc::new(Registry::new(Toolset::ALL, Risk::Grant, Vec::new())),
        unlisted: Arc::default(),
        policy: Arc::new(Policy::default()),
        begun: None,
        baselines: None,
        scripts: None,
        uploads: Arc::default(),
        now: 0,
        claim: Claim::default(),
        held: Arc::default(),
        news: None,
    })
}

/// A filter: what one word lets through, its opposite keeps back.
pub fn filter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let guest: Resource = serde_json::from_value(json!({
        "type": "qemu", "id": "qemu/105", "vmid": 105, "name": "web-1", "node": "pve1", "status": "running",
        "tags": "prod;web", "pool": "shop", "cpu": 0.5, "mem": 900, "maxmem": 1000, "maxdisk": 5000, "uptime": 60
    }))
    .expect("a guest");
    if let Ok(filter) = Filter::parse(&text) {
        assert!(!filter.matches(&guest) || filter.could_match(&guest, |_| true));
    }
    // A mark in front of another is part of a name.
    let words = text.split_whitespace();
    for word in words.filter(|word| !word.starts_with(['-', '!'])) {
        let opposite = format!("-{word}");
        if let (Ok(word), Ok(opposite)) = (Filter::parse(word), Filter::parse(&opposite)) {
            assert_ne!(word.matches(&guest), opposite.matches(&guest));
        }
    }
}

/// A combination of keys, and a text to be typed. What was understood once is understood the same again.
pub fn keys(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(combination) = keyboard::parse(&text) {
        assert_eq!(
            keyboard::parse(&combination).ok(),
            Some(combination.clone())
        );
        let _ = keyboard::stroke(&combination);
        let _ = keyboard::restarts(&combination);
    }
    for layout in keyboard::Layout::ALL {
        let written = keyboard::strokes(&text, layout);
        assert!(written.is_ok() || !text.is_empty());
    }
    assert!(!keyboard::shown(&text).contains('\n'));
}

/// A text of a guest: nothing that hides or acts is left in it, and cleaning what is clean changes nothing.
pub fn guest_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let cleaned = clean::text(&text);
    assert_eq!(clean::text(&cleaned), cleaned);
    assert!(!cleaned.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{feff}', '\r', '\0']));
    let line = clean::line(&text);
    assert!(!line.contains(['\n', '\t', '\u{1b}', '\u{2028}']));
    let _ = (clean::whole(&text), clean::marked(&line));

    let mut object = Object::new();
    object.insert("description".into(), text.clone().into());
    object.insert("password".into(), text.clone().into());
    object.insert(format!("field {text}"), 1.into());
    clean::object(&mut object);
    assert_eq!(object["password"], clean::REDACTED);
    let named = object.keys().all(|key| *key == clean::line(key));
    assert!(named, "a name of a field is left as it was");
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn the_corpus_of_arguments_is_parsed() {
        replay("arguments", super::arguments);
    }

    #[test]
    fn the_corpus_of_filters_is_parsed() {
        replay("filter", super::filter);
    }

    #[test]
    fn the_corpus_of_keys_is_parsed() {
        replay("keys", super::keys);
    }

    #[test]
    fn the_corpus_of_guest_texts_is_cleaned() {
        replay("guest_text", super::guest_text);
    }
}
