//! The command line: arguments and environment → a [`Config`] and what to do with it.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::config::listeners::{format_host_port, parse_host_port};
use crate::config::{Config, Environment, TopicAtStart, properties};
use crate::limits::{CONFIG_FILE_BYTES_MAX, TOPICS_AT_START_MAX};
use crate::simulate::{self, Assignor, Scenario, Step, Topic};

/// What the command line asks for.
#[derive(Debug)]
pub enum Invocation {
    /// Start a broker.
    Serve(Box<Serve>),
    /// Print this text on stdout and leave: `--help`, `--version` or what was simulated.
    Print(String),
}

/// A broker to start.
#[derive(Debug)]
pub struct Serve {
    /// Everything about the broker.
    pub config: Config,
    /// Where to write the port once connections are accepted.
    pub port_file: Option<PathBuf>,
}

/// A server that speaks the Kafka protocol and coordinates consumer groups.
#[derive(Debug, Parser)]
#[command(name = "rallypoint", version, about, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a broker (what happens without a command)
    Serve(ServeArgs),
    /// Show who owns which partitions of a group, and what a rebalance moves
    Simulate(SimulateArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Listen here, in plain text; port 0 takes a free one [default: 127.0.0.1:9092]
    #[arg(long, value_name = "HOST:PORT", env = "RALLYPOINT_LISTEN", value_parser = host_port)]
    listen: Option<String>,
    /// Tell clients to connect here [default: where it listens]
    #[arg(long, value_name = "HOST:PORT", env = "RALLYPOINT_ADVERTISE", value_parser = host_port)]
    advertise: Option<String>,
    /// Create a topic at start; may be repeated
    #[arg(
        long = "topic",
        value_name = "NAME[:PARTITIONS]",
        env = "RALLYPOINT_TOPIC",
        value_delimiter = ',',
        value_parser = TopicAtStart::parse
    )]
    topics: Vec<TopicAtStart>,
    /// Set a broker configuration by Kafka's name; may be repeated
    #[arg(long = "override", value_name = "KEY=VALUE", value_parser = key_value)]
    overrides: Vec<(String, String)>,
    /// Read broker configurations from a Java .properties file
    #[arg(long, value_name = "FILE", env = "RALLYPOINT_CONFIG")]
    config: Option<PathBuf>,
    /// Write the port to this file once connections are accepted
    #[arg(long, value_name = "FILE", env = "RALLYPOINT_PORT_FILE")]
    port_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct SimulateArgs {
    /// Who decides: range, roundrobin, sticky or cooperative-sticky (in the clients), uniform or broker-range (in the broker)
    #[arg(long, value_name = "NAME")]
    assignor: Assignor,
    /// How many members there are in the beginning: m1, m2, …
    #[arg(long, value_name = "NUMBER")]
    members: usize,
    /// A topic that all subscribe to; may be repeated
    #[arg(long = "topic", value_name = "NAME:PARTITIONS", value_delimiter = ',', required = true)]
    topics: Vec<Topic>,
    /// What happens then, one rebalance each: join, leave:MEMBER, grow:TOPIC:PARTITIONS
    #[arg(long = "then", value_name = "STEPS", value_delimiter = ',')]
    steps: Vec<Step>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Reads the command line and the environment; the configuration file is read as well.
///
/// # Errors
/// What is wrong, in one line.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Invocation, String> {
    let matches = match Cli::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => return Ok(Invocation::Print(error.render().to_string())),
        Err(error) => return Err(first_line(&error.render().to_string())),
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| first_line(&error.render().to_string()))?;
    let (arguments, matches) = match (cli.command, matches.subcommand()) {
        (Some(Command::Simulate(arguments)), _) => return simulated(arguments).map(Invocation::Print),
        (Some(Command::Serve(arguments)), Some((_, matches))) => (arguments, matches.clone()),
        _ => (cli.serve, matches),
    };
    let config = read_config(&arguments, &matches, environment)?;
    Ok(Invocation::Serve(Box::new(Serve { config, port_file: arguments.port_file })))
}

fn simulated(
    SimulateArgs { assignor, members, topics, steps, format }: SimulateArgs,
) -> Result<String, String> {
    let scenario = Scenario { assignor, members, topics, steps };
    let outcomes = simulate::run(&scenario)?;
    Ok(match format {
        Format::Text => simulate::text(&scenario, &outcomes),
        Format::Json => simulate::json(&scenario, &outcomes),
    })
}

fn read_config(
    arguments: &ServeArgs,
    matches: &ArgMatches,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, String> {
    let file = arguments.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
    let mut environment = Environment::read(environment).map_err(|error| error.to_string())?;
    let mut flags = arguments.overrides.clone();
    let listeners = [
        ("listen", "listeners", &arguments.listen),
        ("advertise", "advertised.listeners", &arguments.advertise),
    ];
    for (flag, key, address) in listeners {
        let Some(address) = address else { continue };
        let setting = (key.to_owned(), format!("PLAINTEXT://{address}"));
        // A variable must not beat `--override listeners=…`.
        match matches.value_source(flag) {
            Some(ValueSource::EnvVariable) => environment.settings.push(setting),
            _ => flags.push(setting),
        }
    }
    let mut config = Config::from_layers(&file, &environment, &flags).map_err(|error| error.to_string())?;
    for topic in &arguments.topics {
        config.topics_at_start.retain(|other| other.name != topic.name);
        config.topics_at_start.push(topic.clone());
    }
    if config.topics_at_start.len() > TOPICS_AT_START_MAX {
        return Err(format!("more than {TOPICS_AT_START_MAX} topics are to be created at start"));
    }
    Ok(config)
}

fn read_file(path: &Path) -> Result<Vec<(String, String)>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("cannot read {}: {why}", path.display());
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(CONFIG_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > CONFIG_FILE_BYTES_MAX {
        return Err(failed(&format_args!("it is larger than {CONFIG_FILE_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8"))?;
    properties::parse(&text).map_err(|error| failed(&error))
}

fn host_port(text: &str) -> Result<String, String> {
    match parse_host_port(text) {
        Some((host, port)) => Ok(format_host_port(&host, port)),
        None => Err("it must be HOST:PORT, such as 127.0.0.1:9092".to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.to_owned())),
        None => Err("it must be KEY=VALUE".to_owned()),
    }
}

/// What clap has to say, without the usage that follows.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Serve, String> {
        let arguments = ["rallypoint"].iter().chain(arguments).map(OsString::from);
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        match read(arguments, environment)? {
            Invocation::Serve(serve) => Ok(*serve),
            Invocation::Print(text) => panic!("printed {text}"),
        }
    }

    fn address(arguments: &[&str], environment: &[(&str, &str)]) -> (String, u16, (String, u16)) {
        let config = serve(arguments, environment).expect("a valid command line").config;
        let listener = &config.listeners[0];
        (listener.host.clone(), listener.port, listener.advertised(listener.port))
    }

    #[test]
    fn serve_is_what_happens_without_a_command() {
        for arguments in [&["--listen", "[::1]:0"][..], &["serve", "--listen", "[::1]:0"][..]] {
            assert_eq!(address(arguments, &[]), ("::1".to_owned(), 0, ("::1".to_owned(), 0)));
        }
        assert!(serve(&["dance"], &[]).is_err());
    }

    #[test]
    fn flags_beat_overrides_which_beat_the_environment() {
        let environment = [("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://kafka:9092")];
        let kafka = |port| ("kafka".to_owned(), port);
        assert_eq!(address(&[], &environment), ("0.0.0.0".to_owned(), 9092, kafka(9092)));
        let overridden = ["--override", "listeners=PLAINTEXT://a:1"];
        assert_eq!(address(&overridden, &environment), ("a".to_owned(), 1, kafka(9092)));
        let both = ["--listen", "b:2", "--override", "listeners=PLAINTEXT://a:1", "--advertise", "c:3"];
        assert_eq!(address(&both, &environment), ("b".to_owned(), 2, ("c".to_owned(), 3)));
    }

    #[test]
    fn topics_of_flags_replace_those_of_the_environment() {
        let environment = [("KAFKA_CREATE_TOPICS", "a:1:1,b:1:1")];
        let serve = serve(&["--topic", "a:6", "--topic", "c,d:2"], &environment).unwrap();
        let topics: Vec<_> =
            serve.config.topics_at_start.iter().map(|t| (t.name.as_str(), t.partitions)).collect();
        assert_eq!(topics, [("b", Some(1)), ("a", Some(6)), ("c", None), ("d", Some(2))]);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        let cases: &[(&[&str], &str)] = &[
            (
                &["--listen", "x"],
                "invalid value 'x' for '--listen <HOST:PORT>': it must be HOST:PORT, such as 127.0.0.1:9092",
            ),
            (&["--override", "x"], "invalid value 'x' for '--override <KEY=VALUE>': it must be KEY=VALUE"),
            (
                &["--override", "num.partition=1"],
                "Unknown configuration num.partition: the nearest known one is num.partitions",
            ),
            (
                &["--override", "num.partitions=x"],
                "Invalid value x for configuration num.partitions: Not a number of type INT",
            ),
            (
                &["--topic", "a:0"],
                "invalid value 'a:0' for '--topic <NAME[:PARTITIONS]>': the number of partitions of a topic must be at least 1, not '0'",
            ),
            (
                &["--config", "/no/such/file"],
                "cannot read /no/such/file: No such file or directory (os error 2)",
            ),
            (&["--nonsense"], "unexpected argument '--nonsense' found"),
        ];
        for (arguments, message) in cases {
            assert_eq!(serve(arguments, &[]).expect_err("an invalid command line"), *message);
        }
    }

    #[test]
    fn a_simulation_is_printed() {
        let simulate = |arguments: &[&str]| {
            let arguments = ["rallypoint", "simulate"].iter().chain(arguments).map(OsString::from);
            read(arguments, [])
        };
        let group =
            ["--assignor", "range", "--members", "2", "--topic", "orders:3", "--then", "join,leave:m1"];
        let Ok(Invocation::Print(text)) = simulate(&group) else { panic!("it is printed") };
        assert!(text.starts_with("range, 2 members, orders:3\n"), "{text}");
        let Ok(Invocation::Print(json)) = simulate(&[&group[..], &["--format", "json"]].concat()) else {
            panic!("it is printed")
        };
        assert!(json.starts_with("{\"assignor\":\"range\""), "{json}");

        let refused = |arguments| simulate(arguments).expect_err("an invalid command line");
        assert_eq!(
            refused(&["--assignor", "fair", "--members", "1", "--topic", "a:1"]),
            "invalid value 'fair' for '--assignor <NAME>': it must be one of range, roundrobin, sticky, \
             cooperative-sticky, uniform, broker-range"
        );
        let leave = ["--assignor", "range", "--members", "1", "--topic", "a:1", "--then", "leave:m2"];
        assert_eq!(refused(&leave), "leave:m2: there is no member m2");
    }

    #[test]
    fn help_and_version_are_printed() {
        for (flag, part) in [("--help", "--port-file"), ("--version", env!("CARGO_PKG_VERSION"))] {
            let arguments = ["rallypoint", flag].map(OsString::from);
            let Ok(Invocation::Print(text)) = read(arguments, []) else { panic!("{flag} prints") };
            assert!(text.contains(part), "{text}");
        }
    }
}
