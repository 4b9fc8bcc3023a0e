//! A broker in a process of its own that a test may do its worst to, and a bystander who must not notice.
#![expect(clippy::disallowed_methods, reason = "this is a clock and a judge of one")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kafka_protocol::messages::HeartbeatRequest;

use crate::peer::Peer;
use crate::requests;

/// A broker in a process of its own.
#[derive(Debug)]
pub struct Victim {
    child: Child,
    address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Victim {
    /// Starts one with these broker configs, which accepts connections when this returns.
    #[must_use]
    pub fn start(program: &str, settings: &[(&str, &str)]) -> Self {
        Self::spawn(Command::new(program), settings)
    }

    /// The same, where the process may have only so many files open.
    #[must_use]
    pub fn start_with_files(program: &str, files: usize, settings: &[(&str, &str)]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), program]);
        Self::spawn(shell, settings)
    }

    /// The same, where most of the files that it may have open are taken when it starts.
    #[must_use]
    pub fn start_with_files_taken(
        program: &str,
        files: usize,
        taken: usize,
        settings: &[(&str, &str)],
    ) -> Self {
        let mut shell = Command::new("bash");
        let take = format!("for file in $(seq 10 {}); do eval \"exec $file</dev/null\"; done", taken + 9);
        shell.args(["-c", &format!("ulimit -n {files}; {take}; exec \"$0\" \"$@\""), program]);
        Self::spawn(shell, settings)
    }

    fn spawn(mut command: Command, settings: &[(&str, &str)]) -> Self {
        command.args(["--listen", "127.0.0.1:0"]);
        for (key, value) in settings {
            command.args(["--override", &format!("{key}={value}")]);
        }
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is there");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped"))
            .read_line(&mut line)
            .expect("it says something");
        let address = line.trim().strip_prefix("listening ").and_then(|address| address.parse().ok());
        let log = Arc::default();
        keep(child.stderr.take().expect("piped"), Arc::clone(&log));
        Self { address: address.unwrap_or_else(|| panic!("it did not start: {line}")), child, log }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new connection to it.
    #[must_use]
    pub fn connect(&self) -> Peer {
        Peer::connect(self.address).expect("the server accepts")
    }

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resident memory now, in bytes.
    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.status("VmRSS:")
    }

    /// The most it has been since the last call of [`forget_peak`](Self::forget_peak), in bytes.
    #[must_use]
    pub fn peak_bytes(&self) -> usize {
        self.status("VmHWM:")
    }

    /// Begins to watch for a new peak of memory.
    pub fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").expect("its peak can be reset");
    }

    fn status(&self, key: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("0");
        line.split_whitespace().next().and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) << 10
    }

    /// Processor time it has used, in milliseconds (in steps of 10).
    #[must_use]
    pub fn cpu_ms(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(|field| field.parse().unwrap_or(0))
            .collect();
        // Fields 14 and 15 of the line, in ticks of 10 ms; what is left begins with field 3.
        (fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0)) * 10
    }

    /// Fails if the process has ended.
    pub fn assert_alive(&mut self) {
        if let Some(status) = self.child.try_wait().expect("it is our child") {
            panic!("the server is dead: {status}; it said:\n{}", self.log());
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps at most so much of a log: a test that makes it long wants to know that, not all of it.
const LOG_BYTES_KEPT: usize = 16 << 20;

fn keep(stderr: impl Read + Send + 'static, log: Arc<Mutex<String>>) {
    thread::spawn(move || {
        for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if log.len() < LOG_BYTES_KEPT {
                log.push_str(&String::from_utf8_lossy(&line));
                log.push('\n');
            }
        }
    });
}

/// A member of a group of its own, which heartbeats all the while.
#[derive(Debug)]
pub struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Duration>>,
}

impl Bystander {
    /// Joins and begins.
    #[must_use]
    pub fn begin(victim: &Victim) -> Self {
        let mut peer = victim.connect();
        let member = requests::join_alone(&mut peer, "bystander").expect("the server is well");
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let heartbeat = requests::heartbeat("bystander", &member, 1);
            let mut took = Vec::new();
            while !told.load(Ordering::Relaxed) {
                let start = Instant::now();
                let answer = peer.call::<HeartbeatRequest>(4, &heartbeat).expect("a bystander is served");
                assert_eq!(answer.error_code, 0, "a bystander keeps its membership");
                took.push(start.elapsed());
                thread::sleep(Duration::from_millis(1));
            }
            took
        });
        Self { stop, thread }
    }

    /// Ends; how long a heartbeat took, but for the slowest in a hundred.
    #[must_use]
    pub fn end(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        let mut took = self.thread.join().expect("a bystander is served");
        took.sort();
        took.get(took.len() * 99 / 100).copied().unwrap_or_default()
    }
}

/// What an attack did to a broker.
#[derive(Clone, Copy, Debug)]
pub struct Damage {
    /// How much more memory it took than before, at most.
    pub growth_bytes: usize,
    /// How much more memory it takes still, when all is over.
    pub left_bytes: usize,
    /// How long heartbeats of others took, but for the slowest in a hundred.
    pub heartbeat_p99: Duration,
}

/// How long memory may take to be given back: `HOSTILE_RECOVERY_MS`, else it is not waited for.
fn recovery() -> Duration {
    let millis = std::env::var("HOSTILE_RECOVERY_MS").ok().and_then(|millis| millis.parse().ok());
    Duration::from_millis(millis.unwrap_or(0))
}

impl Victim {
    /// Attacks while a bystander looks on. What the attack holds must be gone when it returns.
    pub fn suffer(&mut self, name: &str, attack: impl FnOnce(&Self)) -> Damage {
        let bystander = Bystander::begin(self);
        let before = self.resident_bytes();
        self.forget_peak();
        attack(self);
        self.assert_alive();
        let growth_bytes = self.peak_bytes().saturating_sub(before);
        let heartbeat_p99 = bystander.end();
        let over = Instant::now();
        while self.resident_bytes() > before * 11 / 10 && over.elapsed() < recovery() {
            thread::sleep(Duration::from_millis(50));
        }
        self.assert_alive();
        let left_bytes = self.resident_bytes().saturating_sub(before);
        let damage = Damage { growth_bytes, left_bytes, heartbeat_p99 };
        eprintln!(
            "{name}: from {} KiB up {} KiB, {} KiB are left after {:?}; heartbeats {heartbeat_p99:?}",
            before >> 10,
            growth_bytes >> 10,
            left_bytes >> 10,
            over.elapsed(),
        );
        damage
    }
}
