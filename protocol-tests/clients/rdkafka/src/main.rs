//! rdkafka (Rust over librdkafka) behind the host protocol.

mod broker;
mod member;

use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use member::Member;

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One command line.
#[derive(Clone)]
pub struct Command(Value);

impl Command {
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0[key].as_str()
    }

    pub fn number(&self, key: &str) -> Option<i64> {
        self.0[key].as_i64()
    }

    pub fn texts(&self, key: &str) -> Vec<&str> {
        self.0[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The text of a key that the driver always sends with this command.
    pub fn needed(&self, key: &str) -> Outcome<&str> {
        self.text(key).ok_or_else(|| format!("no {key}").into())
    }
}

/// Writes one JSON line.
fn emit(message: &Value) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{message}").and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(1); // the driver is gone
    }
}

/// Reports something that happened to a member.
pub fn event(member: &str, kind: &str, more: Value) {
    let mut message = more;
    message["m"] = member.into();
    message["ev"] = kind.into();
    emit(&message);
}

type Members = Mutex<HashMap<String, Arc<Member>>>;

fn run(bootstrap: &str, members: &Members, command: &Command) -> Outcome<Value> {
    let find = || -> Outcome<Arc<Member>> {
        let name = command.needed("m")?;
        let members = members.lock().map_err(|_| "poisoned")?;
        members.get(name).cloned().ok_or_else(|| format!("no member {name}").into())
    };
    match command.needed("op")? {
        "create" => broker::create(bootstrap, command)?,
        "produce" => broker::produce(bootstrap, command)?,
        "lag" => return Ok(json!({ "lag": broker::lag(bootstrap, command)? })),
        "start" => {
            let member = Member::start(bootstrap, command)?;
            members.lock().map_err(|_| "poisoned")?.insert(command.needed("m")?.to_owned(), member);
        }
        "close" => find()?.close(),
        "commit" => find()?.commit_now()?,
        other => return Err(format!("not implemented: {other}").into()),
    }
    Ok(Value::Object(Map::new()))
}

fn main() {
    let bootstrap: Arc<str> = std::env::args().nth(1).expect("usage: rdkafka-host BOOTSTRAP").into();
    let members = Arc::new(Members::default());
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let Ok(command) = serde_json::from_str(&line).map(Command) else { continue };
        let (bootstrap, members) = (Arc::clone(&bootstrap), Arc::clone(&members));
        std::thread::spawn(move || {
            let mut answer = match run(&bootstrap, &members, &command) {
                Ok(mut value) => {
                    value["ok"] = true.into();
                    value
                }
                Err(error) => json!({ "ok": false, "err": error.to_string() }),
            };
            answer["id"] = command.0["id"].clone();
            emit(&answer);
        });
    }
}
