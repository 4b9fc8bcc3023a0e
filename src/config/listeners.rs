//! Where the broker listens and what it tells clients to connect to.
//!
//! Source: Kafka's `AbstractKafkaConfig.listenerListToEndPoints`, `KafkaConfig` and the image's rules.

use std::collections::BTreeMap;

use super::value::Value;
use super::{ConfigError, Sources};

/// One listener for clients, in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// In upper case, as Kafka has it.
    pub name: String,
    /// Host name or address to listen on; empty or a meta-address is every interface. Without brackets.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Host and port from `advertised.listeners`.
    pub advertised: Option<(String, u16)>,
}

impl Listener {
    /// Whether it listens on every interface.
    #[must_use]
    pub fn is_on_every_interface(&self) -> bool {
        matches!(self.host.as_str(), "" | "0.0.0.0" | "::")
    }

    /// Host and port that clients are told, once it is bound to `port`.
    // Differs from Kafka: where nothing is advertised for a listener on every interface, Kafka tells the canonical
    // name of the machine, which outside of a data centre is seldom one that a client can resolve.
    #[must_use]
    pub fn advertised(&self, port: u16) -> (String, u16) {
        match &self.advertised {
            Some((host, 0)) => (host.clone(), port),
            Some(advertised) => advertised.clone(),
            None if self.is_on_every_interface() => ("localhost".to_owned(), port),
            None => (self.host.clone(), port),
        }
    }
}

/// One entry of `listeners` or `advertised.listeners`.
#[derive(Debug)]
struct Endpoint {
    name: String,
    host: String,
    port: u16,
}

/// The listeners for clients that `sources` ask for.
pub(super) fn read(sources: &Sources) -> Result<Vec<Listener>, ConfigError> {
    let controllers = upper_names(list(sources, "controller.listener.names")?);
    let protocols = security_protocols(sources)?;
    let mut advertised: BTreeMap<String, (String, u16)> = BTreeMap::new();
    for endpoint in endpoints(sources, "advertised.listeners")? {
        if endpoint.host == "0.0.0.0" {
            return refuse(
                "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.",
            );
        }
        if !controllers.contains(&endpoint.name) {
            advertised.insert(endpoint.name, (endpoint.host, endpoint.port));
        }
    }
    let mut listeners = Vec::new();
    for Endpoint { name, host, port } in endpoints(sources, "listeners")? {
        // The quorum of controllers is within this process, so their listeners are not bound.
        if controllers.contains(&name) {
            continue;
        }
        check_protocol(&name, &protocols)?;
        let advertised = advertised.remove(&name);
        listeners.push(Listener { name, host, port, advertised });
    }
    if listeners.is_empty() {
        return refuse("listeners must name a listener that is not in controller.listener.names");
    }
    if let Some(name) = advertised.into_keys().next() {
        let names: Vec<_> = listeners.iter().map(|listener| listener.name.as_str()).collect();
        return refuse(format!(
            "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. \
             Found {name}. The valid options based on the current configuration are {}",
            names.join(",")
        ));
    }
    Ok(listeners)
}

fn refuse<T>(message: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError::Invalid(message.into()))
}

fn list(sources: &Sources, key: &str) -> Result<Vec<String>, ConfigError> {
    Ok(match sources.effective(key)? {
        Some(Value::List(items)) => items,
        _ => Vec::new(),
    })
}

fn upper_names(names: Vec<String>) -> Vec<String> {
    names.into_iter().map(|name| name.to_uppercase()).collect()
}

/// Listener name → security protocol.
fn security_protocols(sources: &Sources) -> Result<BTreeMap<String, String>, ConfigError> {
    const KEY: &str = "listener.security.protocol.map";
    let text = sources.effective(KEY)?.map(|value| value.to_string()).unwrap_or_default();
    let mut protocols = BTreeMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((name, protocol)) = pair.rsplit_once(':') else {
            return refuse(format!(
                "Error parsing configuration property '{KEY}': {pair} is not NAME:PROTOCOL"
            ));
        };
        let protocol = protocol.trim().to_uppercase();
        if !matches!(protocol.as_str(), "PLAINTEXT" | "SSL" | "SASL_PLAINTEXT" | "SASL_SSL") {
            return refuse(format!("Invalid security protocol `{protocol}` defined in {KEY}"));
        }
        protocols.insert(name.trim().to_uppercase(), protocol);
    }
    Ok(protocols)
}

fn check_protocol(name: &str, protocols: &BTreeMap<String, String>) -> Result<(), ConfigError> {
    match protocols.get(name).map(String::as_str) {
        Some("PLAINTEXT") => Ok(()),
        Some(protocol) => refuse(format!(
            "Listener {name} uses {protocol}, which is not served yet: only PLAINTEXT listeners are"
        )),
        None => refuse(format!("No security protocol defined for listener {name}")),
    }
}

fn endpoints(sources: &Sources, key: &str) -> Result<Vec<Endpoint>, ConfigError> {
    let texts = list(sources, key)?;
    let all = format!("[{}]", texts.join(", "));
    let failed = |why: String| refuse(format!("Error creating broker listeners from '{all}': {why}"));
    let mut endpoints: Vec<Endpoint> = Vec::with_capacity(texts.len());
    for text in &texts {
        let Some(endpoint) = parse(text) else {
            return failed(format!("Unable to parse {text} to a broker endpoint"));
        };
        if endpoints.iter().any(|other| other.name == endpoint.name) {
            return failed(format!("Each listener must have a different name, listeners: {all}"));
        }
        // Advertised ones may share a port: they may lead through a proxy.
        let same_port = |other: &Endpoint| other.port == endpoint.port && other.port != 0;
        if key == "listeners" && endpoints.iter().any(same_port) {
            return failed(format!("Each listener must have a different port, listeners: {all}"));
        }
        endpoints.push(endpoint);
    }
    Ok(endpoints)
}

/// Reads `NAME://HOST:PORT`; the host may be empty, an IPv6 address may be in brackets.
fn parse(text: &str) -> Option<Endpoint> {
    let (name, rest) = text.trim().split_once("://")?;
    let (host, port) = parse_host_port(rest)?;
    Some(Endpoint { name: name.to_uppercase(), host, port })
}

/// Reads `HOST:PORT`; the host may be empty, an IPv6 address may be in brackets.
#[must_use]
pub fn parse_host_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '%' | '.' | '_' | ':');
    // A sign would be a number for Rust.
    let is_number = port.bytes().all(|b| b.is_ascii_digit());
    (is_number && host.chars().all(is_legal)).then(|| Some((host.to_owned(), port.parse().ok()?)))?
}

/// Writes host and port as a user writes them: an IPv6 address in brackets.
#[must_use]
pub fn format_host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn listeners(settings: &[(&str, &str)]) -> Vec<Listener> {
        Config::with(settings).expect("valid listeners").listeners
    }

    fn refused(settings: &[(&str, &str)]) -> String {
        Config::with(settings).expect_err("invalid listeners").to_string()
    }

    #[test]
    fn by_default_it_listens_on_this_machine_only() {
        let [listener] = &listeners(&[])[..] else { panic!("one listener") };
        assert_eq!(
            (listener.name.as_str(), listener.host.as_str(), listener.port),
            ("PLAINTEXT", "127.0.0.1", 9092)
        );
        assert_eq!(listener.advertised(9092), ("127.0.0.1".to_owned(), 9092));
    }

    #[test]
    fn what_is_not_advertised_is_the_listener_itself() {
        let advertised = |listener, port| listeners(&[("listeners", listener)])[0].advertised(port);
        assert_eq!(advertised("PLAINTEXT://kafka:9092", 9092), ("kafka".to_owned(), 9092));
        assert_eq!(advertised("PLAINTEXT://127.0.0.1:0", 4711), ("127.0.0.1".to_owned(), 4711));
        for every_interface in ["PLAINTEXT://:9092", "PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://[::]:9092"] {
            assert_eq!(advertised(every_interface, 9092), ("localhost".to_owned(), 9092));
        }
    }

    #[test]
    fn several_names_are_told_apart_and_controllers_left_out() {
        let listeners = listeners(&[
            ("listeners", "PLAINTEXT://:9092,broker://:9093,CONTROLLER://:9094"),
            ("advertised.listeners", "PLAINTEXT://out:19092,BROKER://in:9093,CONTROLLER://in:9094"),
            ("listener.security.protocol.map", "BROKER:PLAINTEXT,PLAINTEXT:plaintext,CONTROLLER:SASL_SSL"),
        ]);
        let advertised: Vec<_> = listeners.iter().map(|l| (l.name.as_str(), l.advertised(1))).collect();
        let expected = [("PLAINTEXT", ("out".to_owned(), 19092)), ("BROKER", ("in".to_owned(), 9093))];
        assert_eq!(advertised, expected);
    }

    #[test]
    fn what_cannot_be_is_refused_in_kafkas_words() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (
                &[("listeners", "PLAINTEXT://localhost")],
                "Error creating broker listeners from '[PLAINTEXT://localhost]': \
                 Unable to parse PLAINTEXT://localhost to a broker endpoint",
            ),
            (
                &[("listeners", "PLAINTEXT://:9092,PLAINTEXT://:9093")],
                "Error creating broker listeners from '[PLAINTEXT://:9092, PLAINTEXT://:9093]': \
                 Each listener must have a different name, listeners: [PLAINTEXT://:9092, PLAINTEXT://:9093]",
            ),
            (
                &[("listeners", "PLAINTEXT://a:9092,SSL://b:9092")],
                "Error creating broker listeners from '[PLAINTEXT://a:9092, SSL://b:9092]': \
                 Each listener must have a different port, listeners: [PLAINTEXT://a:9092, SSL://b:9092]",
            ),
            (&[("listeners", "B://:9093")], "No security protocol defined for listener B"),
            (
                &[("listeners", "SASL_SSL://:9093")],
                "Listener SASL_SSL uses SASL_SSL, which is not served yet: only PLAINTEXT listeners are",
            ),
            (
                &[("listeners", "CONTROLLER://:9093")],
                "listeners must name a listener that is not in controller.listener.names",
            ),
            (
                &[("advertised.listeners", "PLAINTEXT://0.0.0.0:9092")],
                "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.",
            ),
            (
                &[("advertised.listeners", "SSL://a:9092")],
                "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. \
                 Found SSL. The valid options based on the current configuration are PLAINTEXT",
            ),
            (
                &[("listener.security.protocol.map", "PLAINTEXT:FOO")],
                "Invalid security protocol `FOO` defined in listener.security.protocol.map",
            ),
        ];
        for (settings, message) in cases {
            assert_eq!(refused(settings), *message);
        }
    }

    #[test]
    fn host_and_port_are_read_and_written() {
        assert_eq!(parse_host_port("[::1]:9092"), Some(("::1".to_owned(), 9092)));
        assert_eq!(parse_host_port(":0"), Some((String::new(), 0)));
        for bad in ["", "a", "a:", "a:+1", "a:-1", "a:65536", "a/b:1", "a b:1"] {
            assert_eq!(parse_host_port(bad), None, "{bad}");
        }
        assert_eq!(format_host_port("::1", 9092), "[::1]:9092");
        assert_eq!(format_host_port("kafka", 9092), "kafka:9092");
    }
}
