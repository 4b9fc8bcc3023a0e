//! The environment as the apache/kafka image reads it: `KAFKA_GROUP_MAX_SIZE` stands for `group.max.size`.
//!
//! Source: the image's `configure` script and `KafkaDockerWrapper`.

use super::keys::{broker_key, listener_key};
use super::{ConfigError, TopicAtStart};

/// Variables of the image that are for the JVM or the scripts and say nothing here.
const FOR_THE_IMAGE: &[&str] = &[
    "KAFKA_GC_LOG_OPTS",
    "KAFKA_HEAP_OPTS",
    "KAFKA_JMX_HOSTNAME",
    "KAFKA_JMX_OPTS",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_LOG4J_LOGGERS",
    "KAFKA_LOG4J_OPTS",
    "KAFKA_LOG4J_ROOT_LOGLEVEL",
    "KAFKA_OPTS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    "KAFKA_VERSION",
];

/// What the environment says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Broker key → value.
    pub settings: Vec<(String, String)>,
    /// Variables that look like settings and are none.
    pub unknown: Vec<String>,
    /// `CLUSTER_ID`, if it is set and not empty.
    pub cluster_id: Option<String>,
    /// `KAFKA_CREATE_TOPICS`.
    pub topics: Vec<TopicAtStart>,
}

impl Environment {
    /// Reads the variables of a process, sorted by name.
    ///
    /// # Errors
    /// `KAFKA_CREATE_TOPICS` cannot be read.
    pub fn read(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort();
        let mut environment = Self::default();
        for (name, value) in variables {
            match name.as_str() {
                "CLUSTER_ID" if !value.is_empty() => environment.cluster_id = Some(value),
                "KAFKA_CREATE_TOPICS" => environment.topics = parse_topics(&value)?,
                _ => environment.read_setting(name, value),
            }
        }
        environment.derive_listeners();
        Ok(environment)
    }

    fn read_setting(&mut self, name: String, value: String) {
        let Some(key) = name.strip_prefix("KAFKA_").map(key_of) else { return };
        if broker_key(&key).or_else(|| listener_key(&key)).is_some() {
            self.settings.push((key, value));
        } else if !FOR_THE_IMAGE.contains(&name.as_str()) {
            self.unknown.push(name);
        }
    }

    /// When only advertised listeners are given, the broker listens on the same ports of every interface.
    fn derive_listeners(&mut self) {
        let value = |key| self.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        if let (None | Some(""), Some(advertised)) = (value("listeners"), value("advertised.listeners"))
            && !advertised.is_empty()
        {
            let listeners = advertised.split(',').map(on_every_interface).collect::<Vec<_>>().join(",");
            self.settings.retain(|(name, _)| name != "listeners");
            self.settings.push(("listeners".to_owned(), listeners));
        }
    }
}

/// The key that the rest of a variable's name stands for: `_` is `.`, `__` is `_` and `___` is `-`.
fn key_of(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', ".").replace("...", "-").replace("..", "_")
}

fn on_every_interface(listener: &str) -> String {
    match (listener.split_once("://"), listener.rsplit_once(':')) {
        (Some((name, _)), Some((_, port))) => format!("{}://0.0.0.0:{port}", name.trim()),
        _ => listener.to_owned(),
    }
}

fn parse_topics(text: &str) -> Result<Vec<TopicAtStart>, ConfigError> {
    let topics = text.split([',', '\n']).filter(|topic| !topic.trim().is_empty());
    let parse = |topic| {
        TopicAtStart::parse_with_replication_factor(topic).map_err(|error| {
            ConfigError::Invalid(format!("Invalid value {topic} in KAFKA_CREATE_TOPICS: {error}"))
        })
    };
    topics.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Environment {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::read(owned).expect("a valid environment")
    }

    fn settings(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        read(variables).settings
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn underscores_stand_for_dots_underscores_and_dashes() {
        assert_eq!(key_of("GROUP_INITIAL_REBALANCE_DELAY_MS"), "group.initial.rebalance.delay.ms");
        assert_eq!(key_of("LISTENER_NAME_A__B_SCRAM___SHA___256_SASL_JAAS_CONFIG"), {
            "listener.name.a_b.scram-sha-256.sasl.jaas.config"
        });
        assert_eq!(settings(&[("KAFKA_NUM_PARTITIONS", "4")]), [pair("num.partitions", "4")]);
        assert_eq!(settings(&[("NUM_PARTITIONS", "4"), ("RALLYPOINT_LISTEN", "x")]), []);
    }

    #[test]
    fn what_is_for_the_image_is_passed_over_and_the_rest_is_unknown() {
        let environment = read(&[("KAFKA_HEAP_OPTS", "-Xmx1g"), ("KAFKA_ZOOKEEPER_CONNECT", "zk:2181")]);
        assert_eq!(environment.unknown, ["KAFKA_ZOOKEEPER_CONNECT"]);
        assert_eq!(environment.settings, []);
    }

    #[test]
    fn listeners_follow_advertised_listeners_when_they_are_not_given() {
        let advertised = ("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://kafka:9092,B://[::1]:9094");
        let derived = pair("listeners", "PLAINTEXT://0.0.0.0:9092,B://0.0.0.0:9094");
        assert!(settings(&[advertised]).contains(&derived));
        assert!(settings(&[advertised, ("KAFKA_LISTENERS", "")]).contains(&derived));
        let given = settings(&[advertised, ("KAFKA_LISTENERS", "PLAINTEXT://:1")]);
        assert!(given.contains(&pair("listeners", "PLAINTEXT://:1")) && !given.contains(&derived));
    }

    #[test]
    fn cluster_id_and_topics_have_variables_of_their_own() {
        let environment = read(&[("CLUSTER_ID", "abc"), ("KAFKA_CREATE_TOPICS", "a:2:1, b:1:1:compact")]);
        assert_eq!(environment.cluster_id.as_deref(), Some("abc"));
        let names: Vec<_> = environment.topics.iter().map(|topic| topic.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(read(&[("CLUSTER_ID", "")]).cluster_id, None);
        let bad = Environment::read([("KAFKA_CREATE_TOPICS".to_owned(), "a:0:1".to_owned())]);
        assert!(bad.is_err_and(|error| error.to_string().contains("KAFKA_CREATE_TOPICS")));
    }
}
