//! A client in raw JSON lines, of either era.

use std::time::Duration;

use oxmox::mcp::{self, Server};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::World;

/// A test that waits this long for a message has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which protocol the client speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    Y2025,
    Y2026,
}

pub(super) const BOTH: [Era; 2] = [Era::Y2025, Era::Y2026];

/// Who sits at the client.
#[derive(Clone)]
pub(super) enum Person {
    /// The client cannot show forms.
    Absent,
    /// Gives this answer to every form.
    Says(Value),
    /// Never answers.
    Silent,
    /// The client says that it can show forms, and fails to.
    Unreachable,
}

pub(super) fn says(action: &str, content: &Value) -> Person {
    Person::Says(json!({"action": action, "content": content}))
}

pub(super) fn yes() -> Person {
    says("accept", &json!({"approve": true}))
}

pub(super) struct Wire {
    era: Era,
    person: Person,
    follows_tasks: bool,
    /// What the client calls itself.
    pub(super) name: String,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    last_id: u64,
    /// Notifications so far.
    pub(super) notes: Vec<Value>,
    /// Forms that a 2025 server put, or that the answer to a 2026 call held.
    pub(super) forms: Vec<Value>,
    pub(super) serving: JoinHandle<Result<(), mcp::Error>>,
    pub(super) stop: CancellationToken,
}

impl Wire {
    pub(super) async fn new(world: &World, era: Era, person: Person) -> Self {
        Self::on(Server::new(world.engine.clone()), era, person).await
    }

    pub(super) async fn on(server: Server, era: Era, person: Person) -> Self {
        Self::begin(server, era, person, false).await
    }

    /// A client that has the tasks extension.
    pub(super) async fn following_tasks(server: Server, era: Era, person: Person) -> Self {
        Self::begin(server, era, person, true).await
    }

    async fn begin(server: Server, era: Era, person: Person, follows_tasks: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let serving = tokio::spawn(mcp::serve_on(server, input, output, stop.clone()));
        let (lines, out) = tokio::io::split(ours);
        let mut wire = Self {
            era,
            person,
            follows_tasks,
            name: "test".to_owned(),
            lines: BufReader::new(lines).lines(),
            out,
            last_id: 0,
            notes: Vec::new(),
            forms: Vec::new(),
            serving,
            stop,
        };
        if era == Era::Y2025 {
            let hello = json!({
                "protocolVersion": "2025-06-18", "capabilities": wire.able(),
                "clientInfo": {"name": wire.name, "version": "1"},
            });
            let welcome = wire.request("initialize", hello).await;
            assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
            wire.notify("notifications/initialized", json!({})).await;
        }
        wire
    }

    fn able(&self) -> Value {
        let mut able = match self.person {
            Person::Absent => json!({}),
            _ => json!({"elicitation": {}}),
        };
        if self.follows_tasks {
            able["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        }
        able
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    pub(super) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Y2026 {
            let meta = params["_meta"].take();
            let mut meta = meta.as_object().cloned().unwrap_or_default();
            let about = |name: &str| format!("io.modelcontextprotocol/{name}");
            meta.insert(about("protocolVersion"), json!("2026-07-28"));
            meta.insert(
                about("clientInfo"),
                json!({"name": self.name, "version": "1"}),
            );
            meta.insert(about("clientCapabilities"), self.able());
            params["_meta"] = meta.into();
        }
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&message).await;
        id
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(&message).await;
    }

    pub(super) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("no message in time").unwrap();
        serde_json::from_str(&line.expect("the server hung up")).unwrap()
    }

    /// The answer to a request, as a whole message. What comes in between is kept or answered.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer_to(id).await
    }

    pub(super) async fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            match (message.get("method"), message.get("id")) {
                (None, Some(answered)) if *answered == id => return message,
                (Some(_), None) => self.notes.push(message),
                (Some(method), Some(asked)) if method == "elicitation/create" => {
                    assert_eq!(self.era, Era::Y2025, "2026 clients are not sent requests");
                    self.forms.push(message["params"].clone());
                    let mut answer = json!({"jsonrpc": "2.0", "id": asked});
                    match &self.person {
                        Person::Says(result) => answer["result"] = result.clone(),
                        Person::Unreachable => {
                            answer["error"] = json!({"code": -32603, "message": "no window"});
                        }
                        Person::Absent | Person::Silent => continue,
                    }
                    self.write(&answer).await;
                }
                _ => panic!("unexpected: {message}"),
            }
        }
    }

    pub(super) async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A tool's result, with the person's answers on the way: what a good client does.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool, "arguments": arguments});
        loop {
            let result = self.result("tools/call", params.clone()).await;
            let (Some(asked), Person::Says(said)) =
                (result["inputRequests"].as_object(), &self.person)
            else {
                return result;
            };
            assert_eq!(result["resultType"], "input_required");
            let answers = asked.keys().map(|key| (key.clone(), said.clone()));
            params["inputResponses"] = Value::Object(answers.collect());
            params["requestState"] = result["requestState"].clone();
            self.forms
                .extend(asked.values().map(|ask| ask["params"].clone()));
        }
    }

    /// Says goodbye as a client does, by closing its end, and waits for the server's end.
    pub(super) async fn hang_up(self) -> Result<(), mcp::Error> {
        let Self {
            lines,
            out,
            serving,
            ..
        } = self;
        drop((lines, out));
        tokio::time::timeout(PATIENCE, serving)
            .await
            .expect("the server goes on without a client")
            .unwrap()
    }
}

/// The words of a tool's result.
pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

pub(super) fn is_error(result: &Value) -> bool {
    result["isError"] == true
}
