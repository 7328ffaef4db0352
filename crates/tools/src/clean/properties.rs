//! What holds for whatever anybody sends: no secret is left, and cleaning once is enough.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::secrets::is_secret_at;
use super::{answer, arguments, is_hostile, is_secret, line, object, text, without_passwords};
use crate::tool::Object;

/// What must be nowhere.
const CANARY: &str = "c4n4ry-7f3e";
const NUMBER: u64 = 98_245_165_377;

/// Names of secrets as PVE and people write them.
fn secret_name() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("password"),
        Just("passwd"),
        Just("secret"),
        Just("ticket"),
        Just("csrf"),
        Just("token"),
        Just("TOKEN"),
        Just("Password"),
    ];
    let made = ("[a-z_-]{0,6}", part, "[a-z_-]{0,6}")
        .prop_map(|(before, part, after)| format!("{before}{part}{after}"));
    let known = prop_oneof![
        Just("env"),
        Just("client-key"),
        Just("encryption-key"),
        Just("keyring"),
        Just("private-key"),
        Just("eab-hmac-key"),
        Just("corosync_authkey"),
        Just("target-endpoint"),
        Just("otel-headers"),
        Just("otp"),
        Just("totp"),
        Just("lxc.environment.runtime"),
    ];
    let plain = prop_oneof![made, known.prop_map(str::to_owned)]
        .prop_filter("a name that was reviewed and holds none", |name| {
            is_secret(name)
        });
    // Whoever hides something in a name does not hide what it is the name of.
    (
        plain,
        prop_oneof![Just(""), Just("\u{200b}"), Just("\u{1b}")],
    )
        .prop_map(|(name, hidden)| format!("{}{hidden}{}", &name[..2], &name[2..]))
}

/// A secret in whatever form it may come.
fn secret() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(CANARY)),
        Just(json!(NUMBER)),
        Just(json!(format!("x={CANARY},y\nz: {CANARY}"))),
        Just(json!(format!("-----BEGIN PRIVATE KEY-----\n{CANARY}"))),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..3).prop_map(Value::from),
            btree_map("[a-z]{1,6}", inner, 1..3).prop_map(|fields| json!(fields)),
        ]
    })
}

/// Whatever holds a secret, beside whatever holds none.
fn holder() -> impl Strategy<Value = Value> {
    let field = (secret_name(), secret()).prop_map(|(name, secret)| json!({ name: secret }));
    let row = (
        secret_name(),
        secret(),
        prop_oneof![Just("value"), Just("pending"), Just("old"), Just("new")],
    )
        .prop_map(|(name, secret, place)| json!({"key": name, place: secret}));
    let pair = (secret_name(), secret()).prop_map(|(name, secret)| json!([name, secret]));
    let line = (secret_name(), prop_oneof![Just(": "), Just("="), Just(":")])
        .prop_map(|(name, sign)| json!(format!("arch: amd64\n{name}{sign}{CANARY}\nend")));
    let address = (
        "[a-z]{1,6}",
        prop_oneof![Just("joe:"), Just("")],
        "[a-z.]{1,8}",
    )
        .prop_map(|(scheme, user, host)| {
            json!(format!("see {scheme}://{user}{CANARY}@{host}/x now"))
        });
    prop_oneof![field, row, pair, line, address]
}

fn noise() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z:/@=\n <>\"]{0,20}".prop_map(Value::from),
        "[a-z]{1,5}://[a-z:@/<]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map("[a-z-]{1,8}|token|key|value|\\PC{0,4}\n?", inner, 0..3)
                .prop_map(|fields| json!(fields)),
        ]
    })
}

/// A holder at any depth.
fn buried(holder: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Object> {
    let deep = holder.boxed().prop_recursive(4, 8, 2, |inner| {
        prop_oneof![
            (noise(), inner.clone()).prop_map(|(noise, inner)| json!([noise, inner])),
            ("[a-z]{1,6}", noise(), inner)
                .prop_map(|(name, noise, inner)| json!({"a": noise, name: inner})),
        ]
    });
    deep.prop_map(|deep| Object::from_iter([("data".to_owned(), deep)]))
}

/// A field alone: what is cleaned without its path being known.
fn field() -> impl Strategy<Value = Value> {
    (secret_name(), secret()).prop_map(|(name, secret)| json!({ name: secret }))
}

fn tells(value: &impl std::fmt::Debug) -> bool {
    let shown = format!("{value:?}");
    shown.contains(CANARY) || shown.contains(&NUMBER.to_string())
}

fn answered(given: &Object, path: &str) -> Value {
    let mut cleaned = Value::Object(given.clone());
    answer(&mut cleaned, path);
    cleaned
}

proptest! {
    #[test]
    fn no_secret_is_left_in_an_answer(given in buried(holder())) {
        let cleaned = answered(&given, "/nodes/pve1/qemu/105/config");
        prop_assert!(!tells(&cleaned), "{} of {:?}", cleaned, given);
    }

    #[test]
    fn no_secret_field_is_left_in_data_and_arguments(given in buried(field())) {
        let (mut data, mut sent) = (given.clone(), given.clone());
        object(&mut data);
        arguments(&mut sent);
        prop_assert!(!tells(&data), "{:?} of {:?}", data, given);
        prop_assert!(!tells(&sent), "{:?} of {:?}", sent, given);
    }

    /// Names that hold a secret at one path alone.
    #[test]
    fn no_secret_of_a_path_is_left(secret in secret(), at in 0_usize..8) {
        let (path, name) = [
            ("/access/tfa/joe@pve", "challenge"),
            ("/access/tfa/joe@pve", "recovery"),
            ("/access/users/joe@pve/token/t", "value"),
            ("/access/users/joe@pve", "keys"),
            ("/cluster/acme/plugins/p", "data"),
            ("/cluster/notifications/endpoints/webhook/w", "header"),
            ("/cluster/sdn/dns/d", "key"),
            ("/nodes/pve1/certificates/custom", "key"),
        ][at];
        prop_assert!(is_secret_at(name, path));
        let given = Object::from_iter([(name.to_owned(), secret)]);
        let cleaned = answered(&given, path);
        prop_assert!(!tells(&cleaned), "{} of {:?}", cleaned, given);
    }

    #[test]
    fn cleaning_once_is_enough(given in buried(prop_oneof![holder(), noise()])) {
        let mut once = given.clone();
        object(&mut once);
        let mut twice = once.clone();
        object(&mut twice);
        prop_assert_eq!(&twice, &once);
        prop_assert!(once.keys().all(|key| *key == line(key)));
        let path = "/nodes/pve1/qemu/105/config";
        let once = answered(&given, path);
        let Value::Object(again) = &once else { panic!("no object: {once}") };
        prop_assert_eq!(&answered(again, path), &once);
    }

    #[test]
    fn cleaned_text_is_clean(raw in any::<String>(), address in "[a-z]{1,4}://[a-z:@/<> ]{0,30}") {
        for raw in [raw, address] {
            let (once, flat) = (text(&raw), line(&raw));
            prop_assert_eq!(&text(&once), &once);
            prop_assert_eq!(&line(&flat), &flat);
            prop_assert!(!flat.chars().any(|c| is_hostile(c) || c == '\n'));
            let without = without_passwords(&raw);
            prop_assert_eq!(&without_passwords(&without), &without);
        }
    }
}
