import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.listener.*;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.*;
import java.util.concurrent.*;

/** Spring for Apache Kafka's concurrent container behind the host protocol: a member is a container. */
public class SpringHost {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Container> CONTAINERS = new ConcurrentHashMap<>();
    static Map<String, Object> broker;
    static Admin admin;

    static synchronized void emit(ObjectNode n) {
        System.out.println(n);
        System.out.flush();
    }

    static ObjectNode event(String member, String kind) {
        return JSON.createObjectNode().put("ev", kind).put("m", member);
    }

    static String text(Throwable t) {
        while (t instanceof ExecutionException && t.getCause() != null) t = t.getCause();
        return t.getClass().getSimpleName() + ": " + t.getMessage();
    }

    public static void main(String[] args) throws Exception {
        broker = Map.of("bootstrap.servers", args[0]);
        admin = Admin.create(broker);
        ExecutorService pool = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            JsonNode command = JSON.readTree(line);
            pool.execute(() -> answer(command));
        }
        System.exit(0);
    }

    static void answer(JsonNode c) {
        ObjectNode r = JSON.createObjectNode().put("id", c.get("id").asInt());
        try {
            handle(c, r);
            r.put("ok", true);
        } catch (Throwable t) {
            r.put("ok", false).put("err", text(t));
        }
        emit(r);
    }

    static void handle(JsonNode c, ObjectNode r) throws Exception {
        String topic = c.path("topic").asText(), m = c.path("m").asText();
        int partitions = c.path("partitions").asInt();
        switch (c.get("op").asText()) {
            case "create" -> admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
            case "produce" -> produce(topic, c.get("n").asInt(), partitions, c.get("start").asInt());
            case "lag" -> r.put("lag", lag(c.get("group").asText(), topic, partitions));
            case "start" -> {
                CONTAINERS.put(m, new Container(c));
                CONTAINERS.get(m).start();
            }
            case "close" -> CONTAINERS.get(m).close();
            default -> throw new UnsupportedOperationException(c.get("op").asText());
        }
    }

    static void produce(String topic, int n, int partitions, int start) throws Exception {
        List<Future<RecordMetadata>> acks = new ArrayList<>();
        try (var p = new KafkaProducer<>(broker, new StringSerializer(), new StringSerializer())) {
            for (int i = start; i < start + n; i++)
                acks.add(p.send(new ProducerRecord<>(topic, i % partitions, "k" + i, "" + i)));
        }
        for (Future<RecordMetadata> a : acks) a.get();
    }

    static long lag(String group, String topic, int partitions) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> done =
            admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        Map<TopicPartition, OffsetSpec> ask = new HashMap<>();
        for (int i = 0; i < partitions; i++) ask.put(new TopicPartition(topic, i), OffsetSpec.latest());
        long lag = 0;
        for (var end : admin.listOffsets(ask).all().get().entrySet()) {
            OffsetAndMetadata at = done.get(end.getKey());
            lag += end.getValue().offset() - (at == null ? 0 : at.offset());
        }
        return lag;
    }

    static class Container implements ConsumerAwareRebalanceListener {
        final String name;
        final int delay;
        final ConcurrentMessageListenerContainer<String, String> container;
        volatile boolean failed;

        Container(JsonNode c) {
            name = c.get("m").asText();
            delay = c.path("delay").asInt();
            List<String> topics = new ArrayList<>();
            for (JsonNode t : c.get("topics")) topics.add(t.asText());
            ContainerProperties props = new ContainerProperties(topics.toArray(String[]::new));
            props.setPollTimeout(100);
            props.setConsumerRebalanceListener(this);
            props.setMessageListener((BatchMessageListener<String, String>) this::listen);
            switch (c.path("commit").asText()) {
                case "auto" -> { }
                case "batch" -> props.setAckMode(ContainerProperties.AckMode.BATCH);
                case "time" -> {
                    props.setAckMode(ContainerProperties.AckMode.TIME);
                    props.setAckTime(c.path("ack_ms").asInt(5000));
                }
                default -> props.setAckMode(ContainerProperties.AckMode.MANUAL);
            }
            container = new ConcurrentMessageListenerContainer<>(new DefaultKafkaConsumerFactory<>(consumer(c)), props);
            container.setBeanName(name);
            container.setConcurrency(c.path("concurrency").asInt(1));
            container.setCommonErrorHandler(new CommonErrorHandler() {
                @Override
                public void handleOtherException(Exception e, Consumer<?, ?> consumer, MessageListenerContainer mlc, boolean batch) {
                    fail(text(e));
                    container.stop(() -> { });
                }
            });
            container.setApplicationEventPublisher(e -> {
                if (e instanceof ConsumerStoppedEvent stopped && stopped.getReason() != ConsumerStoppedEvent.Reason.NORMAL)
                    fail("consumer stopped: " + stopped.getReason());
            });
        }

        static Map<String, Object> consumer(JsonNode c) {
            Map<String, Object> p = new HashMap<>(broker);
            p.put("group.id", c.get("group").asText());
            p.put("client.id", c.get("m").asText());
            p.put("enable.auto.commit", "auto".equals(c.path("commit").asText()));
            p.put("auto.commit.interval.ms", c.path("auto_ms").asInt(1000));
            p.put("auto.offset.reset", "earliest");
            p.put("metadata.max.age.ms", 1000);
            p.put("session.timeout.ms", c.path("session").asInt(6000));
            p.put("heartbeat.interval.ms", c.path("hb").asInt(500));
            p.put("max.poll.records", c.path("batch").asInt(100));
            p.put("key.deserializer", StringDeserializer.class);
            p.put("value.deserializer", StringDeserializer.class);
            if (c.hasNonNull("instance")) p.put("group.instance.id", c.get("instance").asText());
            List<String> assignors = new ArrayList<>();
            for (JsonNode a : c.path("assignors")) assignors.add(switch (a.asText()) {
                case "range" -> RangeAssignor.class.getName();
                case "roundrobin" -> RoundRobinAssignor.class.getName();
                case "sticky" -> StickyAssignor.class.getName();
                case "cooperative-sticky" -> CooperativeStickyAssignor.class.getName();
                default -> throw new IllegalArgumentException(a.asText());
            });
            if (!assignors.isEmpty()) p.put("partition.assignment.strategy", assignors);
            return p;
        }

        void start() {
            container.start();
        }

        void close() {
            container.stop(() -> emit(event(name, "closed")));
        }

        void fail(String why) {
            if (failed) return;
            failed = true;
            emit(event(name, "error").put("err", why));
        }

        void listen(List<ConsumerRecord<String, String>> records) {
            ObjectNode e = event(name, "recs");
            ArrayNode a = e.putArray("recs");
            for (ConsumerRecord<String, String> x : records)
                a.addArray().add(x.topic()).add(x.partition()).add(x.offset()).add(x.value());
            emit(e);
            try {
                Thread.sleep(delay);
            } catch (InterruptedException stopping) {
                Thread.currentThread().interrupt();
            }
        }

        void emitParts(String kind, Collection<TopicPartition> ps) {
            ObjectNode e = event(name, kind);
            ArrayNode a = e.putArray("parts");
            for (TopicPartition tp : ps) a.add(tp.topic() + "/" + tp.partition());
            emit(e);
        }

        @Override
        public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> ps) {
            emitParts("assign", ps);
        }

        @Override
        public void onPartitionsRevokedAfterCommit(Consumer<?, ?> consumer, Collection<TopicPartition> ps) {
            emitParts("revoke", ps);
        }

        @Override
        public void onPartitionsLost(Consumer<?, ?> consumer, Collection<TopicPartition> ps) {
            emitParts("lost", ps);
        }
    }
}
