//! PVE answers a read with nonsense, one at a time: nothing crashes, nothing is sent, and the answer stays small.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use sim::Fault;
use tools::engine::{Call, Engine};
use tools::policy::Mode;
use tools::spec::Risk;

use crate::house::{House, Nobody, call};

/// No answer may grow past this, whatever PVE says.
const LONGEST: usize = 200_000;

/// How many of the reads of an example are spoiled.
const READS: usize = 3;

/// The call, but never in earnest.
fn as_preview(tool: &dyn tools::tool::Tool, args: &str) -> Call {
    let mut call = call(tool.spec().name, args);
    call.preview = tool.spec().risk > Risk::Read;
    call
}

/// Makes nonsense of a real answer.
type Spoil = fn(&Value) -> Value;

/// Ways to spoil an answer.
const SPOILS: [(&str, Spoil); 16] = [
    ("null", |_| Value::Null),
    ("an empty list", |_| json!([])),
    ("an empty object", |_| json!({})),
    ("a number", |_| json!(-7)),
    ("a text", |_| json!("wobbling")),
    ("a list of nulls", |_| json!([null, null])),
    ("a list of empty objects", |_| json!([{}, {}])),
    ("a list of lists", |_| json!([[1], ["a"]])),
    ("the answer in a list", |real| json!([real])),
    ("nulls for values", |real| each(real, &|_| Value::Null)),
    ("unknown words", |real| {
        each(real, &|old| match old {
            Value::String(_) => json!("wobbling"),
            other => other.clone(),
        })
    }),
    ("huge words", |real| {
        each(real, &|old| match old {
            Value::String(_) => json!("x".repeat(20_000)),
            other => other.clone(),
        })
    }),
    ("huge numbers", |real| {
        each(real, &|old| match old {
            Value::Number(_) => json!(u64::MAX),
            other => other.clone(),
        })
    }),
    ("negative numbers", |real| {
        each(real, &|old| match old {
            Value::Number(_) => json!(-1.5),
            other => other.clone(),
        })
    }),
    ("lists for values", |real| each(real, &|old| json!([old]))),
    ("every second field", every_second_field),
];

/// The same shape with other scalars.
fn each(value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| each(item, change)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), each(value, change)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        scalar => change(scalar),
    }
}

fn every_second_field(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(every_second_field).collect(),
        Value::Object(fields) => fields
            .iter()
            .step_by(2)
            .map(|(key, value)| (key.clone(), every_second_field(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        scalar => scalar.clone(),
    }
}

/// Some of the reads that a call makes, each with what PVE really answers.
async fn reads(house: &House, asked: Call) -> BTreeMap<String, Value> {
    house.sim.clear_requests();
    let _ = house.engine.call(asked, &Nobody).await;
    let requests = house.sim.requests().into_iter();
    let paths: BTreeSet<_> = requests.map(|request| request.path).collect();
    let mut reads = BTreeMap::new();
    for path in paths.iter().step_by(paths.len().div_ceil(READS).max(1)) {
        let pve = &house.engine.clusters()[0].pve;
        let real = pve.get::<Value>(path.clone()).await.unwrap_or_default();
        reads.insert(path.clone(), real);
    }
    reads
}

/// The length of the answer, whichever it is; a panic is one.
async fn outcome(engine: &Arc<Engine>, asked: Call) -> Result<usize, String> {
    let engine = engine.clone();
    let running = tokio::spawn(async move { engine.call(asked, &Nobody).await });
    match running.await {
        Ok(Ok(reply)) => Ok(crate::house::done(Ok(reply)).map_or(0, |answer| answer.text.len())),
        Ok(Err(fault)) => Ok(fault.to_string().len()),
        Err(panic) => Err(panic.to_string()),
    }
}

#[tokio::test]
async fn nonsense_neither_crashes_nor_is_acted_on() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut turn = 0;
    let mut wrong = Vec::new();
    for (tool, args) in super::examples() {
        for (path, real) in reads(&house, as_preview(tool, args)).await {
            // Each read gets the next ways to spoil it, so that all of them meet most reads.
            let (how, spoil) = SPOILS[turn % SPOILS.len()];
            turn += 1;
            house.sim.clear_requests();
            house.sim.fault(Fault::answer("GET", &path, spoil(&real)));
            let name = tool.spec().name;
            match outcome(&house.engine, as_preview(tool, args)).await {
                Ok(length) if length <= LONGEST => {}
                Ok(length) => wrong.push(format!("{name} {args}: {path}, {how}: {length} bytes")),
                Err(panic) => wrong.push(format!("{name} {args}: {path}, {how}: {panic}")),
            }
            house.sim.clear_faults();
            assert_eq!(house.writes(), [""; 0], "{name} {args}: {path}, {how}");
        }
    }
    assert!(
        turn > 150 || !super::all_of_them(),
        "only {turn} reads were spoiled"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
