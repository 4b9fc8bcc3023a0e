//! What a case asks of the broker outside a group: topics, records, offsets.

use std::sync::Mutex;
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::{ClientContext, DefaultClientContext};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::{Offset, TopicPartitionList};

use crate::{Command, Outcome};

const PATIENCE: Duration = Duration::from_secs(20);

fn config(bootstrap: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap);
    config
}

pub fn create(bootstrap: &str, command: &Command) -> Outcome<()> {
    let admin: AdminClient<DefaultClientContext> = config(bootstrap).create()?;
    let partitions = i32::try_from(command.number("partitions").unwrap_or(1))?;
    let topic = NewTopic::new(command.needed("topic")?, partitions, TopicReplication::Fixed(1));
    let made = futures_executor::block_on(admin.create_topics([&topic], &AdminOptions::new()))?;
    for one in made {
        one.map_err(|(topic, code)| format!("{topic}: {code}"))?;
    }
    Ok(())
}

/// Keeps the first delivery that failed.
#[derive(Default)]
struct Deliveries {
    failed: Mutex<Option<KafkaError>>,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let (Err((error, _)), Ok(mut failed)) = (result, self.failed.lock()) {
            failed.get_or_insert(error.clone());
        }
    }
}

pub fn produce(bootstrap: &str, command: &Command) -> Outcome<()> {
    let producer: BaseProducer<Deliveries> = config(bootstrap).create_with_context(Deliveries::default())?;
    let topic = command.needed("topic")?;
    let start = command.number("start").unwrap_or(0);
    let partitions = command.number("partitions").unwrap_or(1);
    for i in start..start + command.number("n").unwrap_or(0) {
        let (key, value) = (format!("k{i}"), i.to_string());
        let record =
            BaseRecord::to(topic).key(&key).payload(&value).partition(i32::try_from(i % partitions)?);
        producer.send(record).map_err(|(error, _)| error)?;
    }
    producer.flush(PATIENCE)?;
    match producer.context().failed.lock().ok().and_then(|mut failed| failed.take()) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Sum over partitions of end offset less committed offset.
pub fn lag(bootstrap: &str, command: &Command) -> Outcome<i64> {
    let consumer: BaseConsumer = config(bootstrap).set("group.id", command.needed("group")?).create()?;
    let topic = command.needed("topic")?;
    let partitions = i32::try_from(command.number("partitions").unwrap_or(1))?;
    let mut asked = TopicPartitionList::new();
    asked.add_partition_range(topic, 0, partitions - 1);
    let mut lag = 0;
    for one in consumer.committed_offsets(asked, PATIENCE)?.elements() {
        one.error()?;
        let (_, end) = consumer.fetch_watermarks(topic, one.partition(), PATIENCE)?;
        let done = if let Offset::Offset(offset) = one.offset() { offset } else { 0 };
        lag += end - done;
    }
    Ok(lag)
}
