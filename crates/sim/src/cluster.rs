//! One simulated cluster and what surrounds it: the clock that drives it, the faults on the way to it, and the log of
//! what was asked. [`Cluster::serve`] is the one entry for requests, with or without a socket.

use std::time::Duration;

use serde_json::Value;

use crate::call::Params;
use crate::clock::{Clock, Ticker};
use crate::control;
use crate::dispatch::{self, Handled};
use crate::fault::{Fault, Faults, Trouble};
use crate::http::{Request, Response};
use crate::world::World;

/// How long PVE makes a client wait for a 401.
const UNAUTHORIZED_DELAY: Duration = Duration::from_secs(3);

/// A request that was answered, for tests that ask what a client really sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The path below `/api2/json`.
    pub path: String,
    /// Query and body, without path captures.
    pub params: Params,
    /// The status of the answer, also when the connection was dropped instead.
    pub status: u16,
    /// The node that was asked.
    pub node: String,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It is answered, after a delay of real time.
    Answer {
        /// The answer.
        response: Response,
        /// How long to wait before sending it.
        delay: Duration,
    },
    /// The connection is closed without an answer.
    HangUp,
}

/// A world, its clock, its faults and its request log.
#[derive(Debug)]
pub struct Cluster {
    /// The state.
    pub world: World,
    ticker: Ticker,
    faults: Faults,
    requests: Vec<Logged>,
    slow_unauthorized: bool,
}

impl Cluster {
    /// A cluster in this state.
    pub fn new(world: World, clock: Clock) -> Self {
        Self {
            world,
            ticker: Ticker::new(clock),
            faults: Faults::default(),
            requests: Vec::new(),
            slow_unauthorized: false,
        }
    }

    /// Makes a 401 take three seconds of real time, as PVE does.
    pub fn slow_unauthorized(&mut self, slow: bool) {
        self.slow_unauthorized = slow;
    }

    /// Whether the node accepts connections.
    pub fn is_reachable(&self, node: &str) -> bool {
        self.world
            .nodes
            .get(node)
            .is_some_and(crate::world::node::Node::is_online)
    }

    /// Takes a request and says what becomes of it.
    pub fn serve(&mut self, request: &Request) -> Outcome {
        if let Some(response) = control::answer(self, request) {
            return Outcome::Answer {
                response,
                delay: Duration::ZERO,
            };
        }
        let step = self.ticker.on_request();
        self.world.advance(step);
        if !self.is_reachable(&request.endpoint) {
            return Outcome::HangUp;
        }
        let path = request.path();
        let below = path
            .strip_prefix("/api2/json")
            .or_else(|| path.strip_prefix("/api2/extjs"));
        match self.faults.take(request, below.unwrap_or(&path)) {
            Some(Trouble::DropBefore) => Outcome::HangUp,
            Some(Trouble::DropAfter) => {
                self.carry_out(request);
                Outcome::HangUp
            }
            Some(Trouble::Refuse { status, reason }) => {
                let response = Response {
                    status,
                    reason,
                    content_type: None,
                    body: Vec::new(),
                };
                Outcome::Answer {
                    response,
                    delay: Duration::ZERO,
                }
            }
            Some(Trouble::Answer(data)) => Outcome::Answer {
                response: self.answer_with(request, data),
                delay: Duration::ZERO,
            },
            Some(Trouble::Delay(delay)) => Outcome::Answer {
                response: self.carry_out(request),
                delay,
            },
            None => {
                let response = self.carry_out(request);
                let slow = self.slow_unauthorized && response.status == 401;
                let delay = if slow {
                    UNAUTHORIZED_DELAY
                } else {
                    Duration::ZERO
                };
                Outcome::Answer { response, delay }
            }
        }
    }

    fn carry_out(&mut self, request: &Request) -> Response {
        let handled = dispatch::handle(&mut self.world, request);
        self.log(request, handled)
    }

    fn answer_with(&mut self, request: &Request, data: Value) -> Response {
        let handled = dispatch::answer_with(request, data);
        self.log(request, handled)
    }

    fn log(&mut self, request: &Request, handled: Handled) -> Response {
        self.requests.push(Logged {
            method: request.method.clone(),
            path: handled.path,
            params: handled.params,
            status: handled.response.status,
            node: request.endpoint.clone(),
        });
        handled.response
    }

    /// Adds a fault.
    pub fn add_fault(&mut self, fault: Fault) {
        match fault {
            Fault::Request(fault) => self.faults.add(fault),
            Fault::Task(fault) => self.world.tasks.faults.push(fault),
        }
    }

    /// Removes all faults.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
        self.world.tasks.faults.clear();
    }

    /// What was asked so far.
    pub fn requests(&self) -> &[Logged] {
        &self.requests
    }

    /// Forgets what was asked so far.
    pub fn clear_requests(&mut self) {
        self.requests.clear();
    }
}
