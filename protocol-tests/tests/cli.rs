//! The binary as a script meets it: exit codes, the first line, the port file, and which setting wins.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The binary beside this test, built if it is not what the sources say.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let profile_dir = test.ancestors().nth(2).expect("TARGET/PROFILE/deps/TEST");
        let profile = match profile_dir.file_name().and_then(OsStr::to_str) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let target_dir = profile_dir.parent().expect("TARGET/PROFILE");
        let built = Command::new(env!("CARGO"))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .args(["build", "--quiet", "--bin", "rallypoint", "--profile", profile, "--target-dir"])
            .arg(target_dir)
            .status();
        assert!(built.expect("cargo runs").success(), "the binary cannot be built");
        profile_dir.join("rallypoint")
    })
}

/// The binary without what this environment may say to it.
fn rallypoint(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary());
    command.env_clear().envs(environment.iter().copied()).args(arguments).stdin(Stdio::null());
    command
}

/// A broker that is ended with the test.
struct Broker {
    child: Child,
    address: SocketAddr,
}

impl Broker {
    /// Starts one that accepts connections.
    fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = rallypoint(arguments, environment)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a first line");
        let address = line.trim_end().strip_prefix("listening ").and_then(|address| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            panic!("the first line is {line:?}, stderr: {}", read_all(child.stderr.take()));
        };
        Self { child, address }
    }

    /// Stops it with a signal. Returns how long that took, the exit code, and the log.
    #[allow(
        clippy::disallowed_methods,
        reason = "another process is timed, which has no clock that could be set"
    )]
    fn stop(mut self, signal: &str) -> (Duration, Option<i32>, String) {
        let started = Instant::now();
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let log = read_all(self.child.stderr.take());
        let code = self.child.wait().expect("it ends").code();
        (started.elapsed(), code, log)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut text = String::new();
    if let Some(mut stream) = stream {
        stream.read_to_string(&mut text).expect("UTF-8");
    }
    text
}

/// The one line on stderr of a binary that refuses to run.
fn refused(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let Output { status, stdout, stderr } =
        rallypoint(arguments, environment).output().expect("the binary runs");
    let stderr = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!(status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(stdout.is_empty(), "{arguments:?}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().strip_prefix("rallypoint: ").expect("the name of the program").to_owned()
}

/// A file of its own for each test.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rallypoint-cli-{}-{name}", std::process::id()));
        fs::write(&path, content).expect("a temporary file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn the_first_line_says_where_connections_are_accepted() {
    let broker = Broker::start(&ANY_PORT, &[]);
    assert!(broker.address.port() != 0 && broker.address.ip().is_loopback());
    TcpStream::connect(broker.address).expect("connections are accepted");
}

#[test]
fn signals_stop_it_within_a_second_and_with_success() {
    for signal in ["-TERM", "-INT"] {
        let broker = Broker::start(&["serve", "--listen", "127.0.0.1:0"], &[]);
        let connection = TcpStream::connect(broker.address).expect("connections are accepted");
        let (took, code, log) = broker.stop(signal);
        assert_eq!(code, Some(0), "{log}");
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert_eq!((&connection).read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
    }
}

#[test]
fn the_port_file_holds_the_port() {
    let file = TempFile::new("port", "");
    let broker = Broker::start(&[&ANY_PORT[..], &["--port-file", file.path()]].concat(), &[]);
    let port = fs::read_to_string(&file.0).expect("the port file");
    assert_eq!(port.trim_end().parse(), Ok(broker.address.port()));
    // That it listened is no news then.
    let quietly = [("RUST_LOG", "warn")];
    let missing = refused(&["--listen", "127.0.0.1:0", "--port-file", "/no/such/folder/port"], &quietly);
    assert!(missing.starts_with("the port cannot be written to /no/such/folder/port: "), "{missing}");
}

#[test]
fn a_port_in_use_is_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    assert!(refused(&["--listen", &address], &[]).starts_with(&format!("{address} is in use")));
}

/// Each layer listens on an address of its own.
#[test]
fn flags_beat_the_environment_which_beats_the_file() {
    let file =
        TempFile::new("layers.properties", "listeners = PLAINTEXT://127.0.0.2:0\nnum.partitions = 3\n");
    let kafka = ("KAFKA_LISTENERS", "PLAINTEXT://127.0.0.3:0");
    let own = ("RALLYPOINT_LISTEN", "127.0.0.4:0");
    let config = ["--config", file.path()];
    let overridden = [&config[..], &["--override", "listeners=PLAINTEXT://127.0.0.5:0"]].concat();
    let listen = [&overridden[..], &["--listen", "127.0.0.6:0"]].concat();
    let last_octet = |arguments: &[&str], environment: &[(&str, &str)]| {
        let ip = Broker::start(arguments, environment).address.ip().to_string();
        ip.rsplit_once('.').expect("IPv4").1.to_owned()
    };
    assert_eq!(last_octet(&config, &[]), "2");
    assert_eq!(last_octet(&config, &[kafka]), "3");
    assert_eq!(last_octet(&config, &[kafka, own]), "4");
    assert_eq!(last_octet(&overridden, &[kafka, own]), "5");
    assert_eq!(last_octet(&listen, &[kafka, own]), "6");
    // The file may be named in the environment, and the command may be spelled out.
    assert_eq!(last_octet(&["serve"], &[("RALLYPOINT_CONFIG", file.path())]), "2");
    assert_eq!(last_octet(&["serve"], &[own]), "4");
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    let nearest = "Unknown configuration num.partition: the nearest known one is num.partitions";
    assert_eq!(refused(&["--override", "num.partition=1"], &[]), nearest);
    let file = TempFile::new("unknown.properties", "num.partition=1\n");
    assert_eq!(refused(&["--config", file.path()], &[]), nearest);
}

#[test]
fn the_environment_may_hold_what_is_for_others() {
    let environment = [("KAFKA_NUM_PARTITION", "1"), ("KAFKA_LOG_DIRS", "/x"), ("KAFKA_HEAP_OPTS", "-Xmx1g")];
    let (_, code, log) = Broker::start(&ANY_PORT, &environment).stop("-TERM");
    assert_eq!(code, Some(0));
    let lines = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!((lines("KAFKA_NUM_PARTITION"), lines("log.dirs"), lines("HEAP")), (1, 1, 0), "{log}");
}

/// Arguments, environment, and what is said about them.
type Refusal<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

#[test]
fn what_cannot_be_is_one_line() {
    let file = TempFile::new("bad.properties", "broker.rack=\\u12\n");
    let bad_file = format!("cannot read {}: line 1: Malformed \\uxxxx encoding.", file.path());
    let cases: &[Refusal<'_>] = &[
        (
            &["--override", "num.partitions=x"],
            &[],
            "Invalid value x for configuration num.partitions: Not a number of type INT",
        ),
        (
            &[],
            &[("KAFKA_NUM_PARTITIONS", "0")],
            "Invalid value 0 for configuration num.partitions: Value must be at least 1",
        ),
        (
            &["--override", "listeners=SASL_SSL://:9092"],
            &[],
            "Listener SASL_SSL uses SASL_SSL, which is not served yet: only PLAINTEXT listeners are",
        ),
        (
            &["--override", "group.consumer.assignors=uniform,fair"],
            &[],
            "group.consumer.assignors: there is no assignor fair, but uniform and range.",
        ),
        (
            &["--listen", "9092"],
            &[],
            "invalid value '9092' for '--listen <HOST:PORT>': it must be HOST:PORT, such as 127.0.0.1:9092",
        ),
        (
            &["--topic", "orders:0"],
            &[],
            "invalid value 'orders:0' for '--topic <NAME[:PARTITIONS]>': \
             the number of partitions of a topic must be at least 1, not '0'",
        ),
        (
            &[],
            &[("KAFKA_CREATE_TOPICS", "a:0:1")],
            "Invalid value a:0:1 in KAFKA_CREATE_TOPICS: \
             the number of partitions of a topic must be at least 1, not '0'",
        ),
        (&["--config", file.path()], &[], &bad_file),
        (&["--nonsense"], &[], "unexpected argument '--nonsense' found"),
    ];
    for (arguments, environment, message) in cases {
        assert_eq!(refused(arguments, environment), *message);
    }
}

#[test]
fn every_interface_is_advertised_as_this_machine_and_says_what_to_set() {
    let log_of = |arguments: &[&str]| Broker::start(arguments, &[]).stop("-TERM").2;
    let log = log_of(&["--listen", "0.0.0.0:0"]);
    assert!(
        log.contains("clients are told to connect to localhost:") && log.contains("--advertise"),
        "{log}"
    );
    let log = log_of(&["--listen", "0.0.0.0:0", "--advertise", "kafka:9092"]);
    assert!(
        log.contains("clients are told to connect to kafka:9092") && !log.contains("--advertise"),
        "{log}"
    );
}

#[test]
fn help_and_version_are_for_stdout() {
    for (flag, part) in [("--help", "--port-file"), ("--version", env!("CARGO_PKG_VERSION"))] {
        let Output { status, stdout, stderr } = rallypoint(&[flag], &[]).output().expect("the binary runs");
        assert!(status.success() && stderr.is_empty());
        assert!(String::from_utf8_lossy(&stdout).contains(part), "{flag}");
    }
}
