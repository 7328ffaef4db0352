//! Plans of all kinds, most of them such as no tool would make.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use pve::{GuestKind, GuestRef, Identity, Method, NodeName, Request, Vmid};
use serde_json::{Value, json};
use tools::keyboard::Layout;
use tools::plan::{
    Action, AgentExec, AgentFile, Blocker, Check, Download, Effect, Expect, Guard, Impact, Keys,
    Needs, Plan, Step, Target, Tell, Trace, Typed, Undo, Upload, Wait,
};
use tools::spec::Risk;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/:=.-]{0,12}",
        "\\PC{0,8}",
        Just("a\n\"b\\\u{202e}".to_owned())
    ]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

/// Whatever JSON an answer of PVE can hold.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(text(), inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    })
}

fn node() -> impl Strategy<Value = NodeName> {
    "[a-z][a-z0-9]{0,6}".prop_map(|name| NodeName::new(&name).unwrap())
}

fn vmid() -> impl Strategy<Value = Vmid> {
    (100_u64..1_000_000).prop_map(|number| number.to_string().parse().unwrap())
}

fn guest() -> impl Strategy<Value = GuestRef> {
    let kind = prop_oneof![Just(GuestKind::Qemu), Just(GuestKind::Lxc)];
    (node(), kind, vmid()).prop_map(|(node, kind, vmid)| GuestRef { node, kind, vmid })
}

fn parameter() -> impl Strategy<Value = pve::Value> {
    prop_oneof![
        any::<bool>().prop_map(pve::Value::Bool),
        any::<i64>().prop_map(pve::Value::Int),
        text().prop_map(pve::Value::Text),
        text().prop_map(pve::Value::Hole),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let method = prop_oneof![
        Just(Method::Get),
        Just(Method::Post),
        Just(Method::Put),
        Just(Method::Delete),
    ];
    (
        method,
        "(/[a-z0-9]{1,5}){1,3}",
        vec((text(), parameter()), 0..3),
    )
        .prop_map(|(method, path, params)| Request {
            params,
            ..Request::new(method, path)
        })
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![
        Just(Layout::Us),
        Just(Layout::Gb),
        Just(Layout::De),
        Just(Layout::Fr)
    ]
}

/// What only this crate can make is made from its stored form.
fn from_stored<T: serde::de::DeserializeOwned>(stored: &Value) -> T {
    serde_json::from_value(stored.clone()).unwrap_or_else(|error| panic!("{stored}: {error}"))
}

fn action() -> impl Strategy<Value = Action> {
    let upload = (request(), text(), any::<u64>()).prop_map(|(request, path, size)| {
        let file = json!({"path": path, "size": size, "sha256": "00", "stamp": path});
        Action::Upload(Upload {
            request,
            file: from_stored(&file),
        })
    });
    let download = (request(), text(), any::<u64>()).prop_map(|(request, name, size)| {
        Action::Download(Download {
            request,
            name,
            size,
        })
    });
    let typed = prop_oneof![
        texts().prop_map(Typed::Combos),
        (parameter(), layout()).prop_map(|(text, layout)| Typed::Text { text, layout }),
    ];
    let keys = (guest(), typed, any::<u64>(), any::<u64>()).prop_map(|(at, typed, hold, pause)| {
        Action::Keys(Keys {
            at,
            typed,
            hold,
            pause,
        })
    });
    let exec = (
        guest(),
        texts(),
        option::of(text()),
        option::of(any::<u64>()),
    )
        .prop_map(|(at, command, input, within)| {
            Action::AgentExec(AgentExec {
                at,
                command,
                input,
                within,
            })
        });
    let file = (guest(), text(), any::<usize>())
        .prop_map(|(at, file, most)| Action::AgentFile(AgentFile { at, file, most }));
    let found = prop_oneof![
        Just("prompt"),
        Just("login"),
        Just("password"),
        Just("blank")
    ];
    let line = (guest(), parameter(), any::<bool>(), found, option::of(text()), any::<u64>())
        .prop_map(|(at, line, interrupts, found, until, within)| {
            Action::TerminalLine(from_stored(&json!({
                "at": at, "line": line, "interrupts": interrupts, "found": found, "until": until, "within": within,
            })))
        });
    let run = (guest(), vec(parameter(), 0..3), any::<u64>()).prop_map(|(at, command, within)| {
        let stored = json!({"at": at, "command": command, "within": within});
        Action::TerminalExec(from_stored(&stored))
    });
    prop_oneof![
        request().prop_map(Action::Request),
        upload,
        download,
        keys,
        exec,
        file,
        line,
        run
    ]
}

fn expect() -> impl Strategy<Value = Expect> {
    let leaf = prop_oneof![
        (text(), json_value()).prop_map(|(name, value)| Expect::Is(name, value)),
        (text(), json_value()).prop_map(|(name, value)| Expect::Not(name, value)),
        (text(), json_value()).prop_map(|(name, value)| Expect::Listed(name, value)),
        vec((text(), json_value()), 0..2).prop_map(Expect::Like),
        (text(), json_value()).prop_map(|(name, value)| Expect::Unlisted(name, value)),
        (text(), vec(json_value(), 0..2)).prop_map(|(name, known)| Expect::Added(name, known)),
        text().prop_map(Expect::Nowhere),
        (text(), texts()).prop_map(|(name, parts)| Expect::Has(name, parts)),
        (text(), texts()).prop_map(|(name, parts)| Expect::Only(name, parts)),
        text().prop_map(Expect::Off),
        Just(Expect::Free),
    ];
    leaf.prop_recursive(1, 4, 2, |inner| {
        let rows = vec(inner, 0..2);
        prop_oneof![
            (text(), json_value(), rows.clone())
                .prop_map(|(name, id, rows)| Expect::Row(name, id, rows)),
            rows.clone().prop_map(Expect::SomeRow),
            rows.clone().prop_map(Expect::NoRow),
            (text(), rows).prop_map(|(name, rows)| Expect::Within(name, rows)),
        ]
    })
}

fn check() -> impl Strategy<Value = Check> {
    let one = (
        text(),
        request(),
        vec(expect(), 0..2),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(says, read, expect, settles, guessed)| Check {
            says,
            read,
            expect,
            settles,
            guessed,
            and: None,
        });
    one.prop_recursive(1, 2, 1, |inner| {
        (inner.clone(), inner).prop_map(|(one, other)| one.and(other))
    })
}

fn step() -> impl Strategy<Value = Step> {
    let trace = (node(), option::of(vmid()), texts()).prop_map(|(node, vmid, types)| Trace {
        node,
        vmid,
        types,
    });
    let wait = prop_oneof![Just(Wait::Nothing), trace.prop_map(Wait::Task)];
    let tell = prop_oneof![
        (guest(), texts()).prop_map(|(at, keys)| Tell::Pending { at, keys }),
        guest().prop_map(Tell::Screen),
    ];
    let checks = (option::of(check()), option::of(check()));
    let rest = (
        option::of(tell),
        any::<bool>(),
        option::of(text()),
        any::<bool>(),
        any::<u16>(),
    );
    (text(), action(), wait, checks, rest).prop_map(
        |(says, action, wait, (after, otherwise), (tells, shows, confides, prepares, group))| {
            Step {
                wait,
                after,
                otherwise,
                tells,
                shows,
                confides,
                prepares,
                group,
                ..Step::new(says, action)
            }
        },
    )
}

fn guard() -> impl Strategy<Value = Guard> {
    let identity = prop_oneof![
        (
            option::of(text()),
            option::of(text()),
            option::of(any::<u64>())
        )
            .prop_map(|(uuid, vmgenid, ctime)| Identity::Vm {
                uuid,
                vmgenid,
                ctime
            }),
        (texts(), option::of(text()))
            .prop_map(|(macs, rootfs)| Identity::Container { macs, rootfs }),
    ];
    prop_oneof![
        (guest(), identity, text(), btree_map(text(), text(), 0..3)).prop_map(
            |(at, identity, name, config)| Guard::SameGuest {
                at,
                identity,
                name,
                config: from_stored(&json!(config)),
            }
        ),
        vmid().prop_map(Guard::VmidFree),
        vmid().prop_map(Guard::NextVmid),
        (text(), request(), texts(), btree_set(text(), 0..3)).prop_map(
            |(says, read, fields, rows)| Guard::SameRows {
                says,
                read,
                fields,
                rows,
            }
        ),
    ]
}

fn needs() -> impl Strategy<Value = Needs> {
    let leaf = prop_oneof![
        Just(Needs::Nothing),
        (text(), text()).prop_map(|(path, privilege)| Needs::on(path, &privilege)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Needs::All),
            vec(inner, 0..3).prop_map(Needs::Any),
        ]
    })
}

fn impact() -> impl Strategy<Value = Impact> {
    let effect = prop_oneof![
        Just(Effect::Created),
        Just(Effect::Changed),
        Just(Effect::Interrupted),
        Just(Effect::Destroyed),
        Just(Effect::Kept),
    ];
    (
        effect,
        text(),
        text(),
        option::of(any::<u64>()),
        option::of(text()),
    )
        .prop_map(|(effect, kind, id, bytes, note)| Impact {
            effect,
            kind,
            id,
            bytes,
            note,
        })
}

fn target() -> impl Strategy<Value = Target> {
    (
        guest(),
        text(),
        option::of(text()),
        texts(),
        any::<(bool, bool)>(),
    )
        .prop_map(|(at, name, pool, tags, (protection, only_read))| Target {
            at,
            name,
            pool,
            tags,
            protection,
            only_read,
        })
}

fn undo() -> impl Strategy<Value = Undo> {
    prop_oneof![
        (text(), btree_map(text(), json_value(), 0..3)).prop_map(|(tool, arguments)| Undo::Call {
            tool,
            arguments: arguments.into_iter().collect(),
        }),
        text().prop_map(|because| Undo::Impossible { because }),
    ]
}

/// The same plan with another risk, as it would come back from the store: nobody but the engine sets it.
fn judged(plan: &Plan, risk: Risk) -> Plan {
    let mut stored = serde_json::to_value(plan).unwrap();
    stored["risk"] = serde_json::json!(risk);
    stored["judgements"] = serde_json::json!([{"risk": risk, "because": "a test"}]);
    serde_json::from_value(stored).unwrap()
}

/// Any plan at all, with a step at least.
pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let risk = prop_oneof![
        Just(Risk::Read),
        Just(Risk::Change),
        Just(Risk::Disrupt),
        Just(Risk::Destroy),
        Just(Risk::Grant),
    ];
    let said = (
        text(),
        option::of(text()),
        text(),
        text(),
        risk,
        texts(),
        texts(),
    );
    let blockers = vec(
        (text(), text()).prop_map(|(why, instead)| Blocker::new(why, instead)),
        0..2,
    );
    let parts = (
        vec(step(), 1..3),
        vec(guard(), 0..3),
        vec(impact(), 0..3),
        blockers,
    );
    (said, parts, undo(), needs(), vec(target(), 0..2)).prop_map(
        |(
            (tool, proper, cluster, summary, risk, warnings, names),
            (steps, guards, impact, blockers),
            undo,
            needs,
            targets,
        )| {
            let any = tools::registry::all().next().unwrap();
            let mut plan = Plan::new(any.spec(), &cluster, summary);
            (plan.tool, plan.proper) = (tool, proper);
            (plan.steps, plan.guards, plan.impact) = (steps, guards, impact);
            (plan.warnings, plan.blockers) = (warnings, blockers);
            (plan.undo, plan.needs) = (undo, needs);
            (plan.targets, plan.names) = (targets, names);
            judged(&plan, risk)
        },
    )
}
