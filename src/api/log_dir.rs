//! The log directory of the broker: a name, since the records are in memory. Clients ask for it all the same.

use crate::config::{Config, Value};

/// The first of `log.dirs`, or of `log.dir` if there are none, as in Kafka.
// Differs from Kafka: all partitions are in the first log directory, and no other one is shown.
pub(super) fn path(config: &Config) -> String {
    let first = |key: &str| match config.sources.effective(key) {
        Ok(Some(Value::List(dirs))) => dirs.into_iter().next(),
        _ => None,
    };
    first("log.dirs").or_else(|| first("log.dir")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_directory_counts() {
        let path = |settings: &[(&str, &str)]| path(&Config::with(settings).unwrap());
        assert_eq!(path(&[]), "/tmp/kafka-logs");
        assert_eq!(path(&[("log.dir", "/a")]), "/a");
        assert_eq!(path(&[("log.dir", "/a"), ("log.dirs", "/b,/c")]), "/b");
    }
}
