import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.Pattern;

/** kafka-clients behind the host protocol: JSON lines in, JSON lines out. */
public class Host {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Member> MEMBERS = new ConcurrentHashMap<>();
    static final Map<String, ShareMember> SHARES = new ConcurrentHashMap<>();
    static final Map<String, KafkaProducer<String, String>> OPEN_TXNS = new ConcurrentHashMap<>();
    static String bootstrap;
    static Admin admin;

    static synchronized void emit(ObjectNode n) {
        System.out.println(n);
        System.out.flush();
    }

    static ObjectNode event(String member, String kind) {
        return JSON.createObjectNode().put("ev", kind).put("m", member);
    }

    static String text(Throwable t) {
        while ((t instanceof ExecutionException || t instanceof CompletionException) && t.getCause() != null) t = t.getCause();
        return t.getClass().getSimpleName() + ": " + t.getMessage();
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        ExecutorService pool = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            JsonNode cmd = JSON.readTree(line);
            pool.execute(() -> {
                ObjectNode r = JSON.createObjectNode();
                r.put("id", cmd.get("id").asInt());
                try {
                    handle(cmd, r);
                    r.put("ok", true);
                } catch (Throwable t) {
                    r.put("ok", false).put("err", text(t));
                }
                emit(r);
            });
        }
        System.exit(0);
    }

    static synchronized Admin admin() {
        if (admin == null) admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
        return admin;
    }

    static String str(JsonNode n, String k, String dflt) {
        return n.hasNonNull(k) ? n.get(k).asText() : dflt;
    }

    static void handle(JsonNode c, ObjectNode r) throws Exception {
        String m = str(c, "m", null);
        switch (c.get("op").asText()) {
            case "create" -> create(c.get("topic").asText(), c.get("partitions").asInt(), c.path("strict").asBoolean());
            case "describe" -> r.put("partitions", admin().describeTopics(List.of(c.get("topic").asText()))
                .allTopicNames().get().get(c.get("topic").asText()).partitions().size());
            case "delete" -> admin().deleteTopics(List.of(c.get("topic").asText())).all().get();
            case "delete_group" -> admin().deleteConsumerGroups(List.of(c.get("group").asText())).all().get();
            case "grow" -> admin().createPartitions(Map.of(
                c.get("topic").asText(), NewPartitions.increaseTo(c.get("partitions").asInt()))).all().get();
            case "produce" -> produce(c);
            case "lag" -> r.put("lag", lag(c.get("group").asText(), c.get("topic").asText(), c.get("partitions").asInt()));
            case "group" -> describe(c.get("group").asText(), r);
            case "groupconfig" -> admin().incrementalAlterConfigs(Map.of(
                new ConfigResource(ConfigResource.Type.GROUP, c.get("group").asText()),
                List.of(new AlterConfigOp(new ConfigEntry(c.get("key").asText(), c.get("value").asText()),
                    AlterConfigOp.OpType.SET)))).all().get();
            case "start" -> {
                Member mm = new Member(c);
                MEMBERS.put(m, mm);
                Thread t = new Thread(mm, m);
                t.setDaemon(true);
                t.start();
            }
            case "close" -> MEMBERS.get(m).closing = true;
            case "pause" -> MEMBERS.get(m).paused = true;
            case "resume" -> MEMBERS.get(m).paused = false;
            case "commit" -> MEMBERS.get(m).ask(x -> x.consumer.commitSync(Duration.ofSeconds(8)));
            case "eos" -> eos(c, r);
            case "txn_begin" -> txnBegin(c);
            case "txn_end" -> {
                KafkaProducer<String, String> p = OPEN_TXNS.remove(c.get("txid").asText());
                try (p) {
                    if (c.get("commit").asBoolean()) p.commitTransaction();
                    else p.abortTransaction();
                }
            }
            case "share_start" -> SHARES.put(m, new ShareMember(c));
            case "share_poll" -> SHARES.get(m).poll(c, r);
            case "share_close" -> SHARES.remove(m).consumer.close();
            default -> throw new UnsupportedOperationException(c.get("op").asText());
        }
    }

    /** Unless strict, a create whose answer the admin client chokes on counts if the topic is there: S0-admin is strict. */
    static void create(String topic, int partitions, boolean strict) throws Exception {
        try {
            admin().createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
        } catch (ExecutionException e) {
            if (strict || e.getCause() instanceof org.apache.kafka.common.errors.ApiException) throw e;
            System.err.println("create " + topic + ": " + text(e));
            try (KafkaProducer<String, String> p = producer(null)) {
                if (p.partitionsFor(topic).size() != partitions) throw e;
            }
        }
    }

    static KafkaProducer<String, String> producer(String txid) {
        Map<String, Object> p = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", 5,
            "key.serializer", "org.apache.kafka.common.serialization.StringSerializer",
            "value.serializer", "org.apache.kafka.common.serialization.StringSerializer"));
        if (txid != null) p.put("transactional.id", txid);
        return new KafkaProducer<>(p);
    }

    static void produce(JsonNode c) throws Exception {
        int n = c.get("n").asInt(), parts = c.get("partitions").asInt(), start = c.get("start").asInt();
        List<Future<RecordMetadata>> acks = new ArrayList<>();
        try (KafkaProducer<String, String> p = producer(null)) {
            for (int i = start; i < start + n; i++)
                acks.add(p.send(new ProducerRecord<>(c.get("topic").asText(), i % parts, "k" + i, "" + i)));
            p.flush();
            for (Future<RecordMetadata> a : acks) a.get();
        }
    }

    static long lag(String group, String topic, int n) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> done =
            admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        Map<TopicPartition, OffsetSpec> ask = new HashMap<>();
        for (int i = 0; i < n; i++) ask.put(new TopicPartition(topic, i), OffsetSpec.latest());
        long lag = 0;
        for (Map.Entry<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> e : admin().listOffsets(ask).all().get().entrySet()) {
            OffsetAndMetadata at = done.get(e.getKey());
            lag += e.getValue().offset() - (at == null ? 0 : at.offset());
        }
        return lag;
    }

    static void describe(String group, ObjectNode r) throws Exception {
        ConsumerGroupDescription d = admin().describeConsumerGroups(List.of(group)).all().get().get(group);
        r.put("state", d.groupState().toString()).put("type", d.type().toString()).put("assignor", d.partitionAssignor());
        ArrayNode ms = r.putArray("members");
        for (MemberDescription md : d.members()) {
            ObjectNode o = ms.addObject().put("id", md.consumerId()).put("instance", md.groupInstanceId().orElse(null));
            ArrayNode ps = o.putArray("parts");
            for (TopicPartition tp : md.assignment().topicPartitions()) ps.add(tp.topic() + "/" + tp.partition());
        }
    }

    interface Act { void run(Member m) throws Exception; }

    static class Member implements Runnable, ConsumerRebalanceListener {
        final String name, commit;
        final JsonNode conf;
        final KafkaConsumer<String, String> consumer;
        final BlockingQueue<FutureTask<Void>> asks = new LinkedBlockingQueue<>();
        final int delay;
        volatile boolean closing, paused;
        boolean dirty;

        Member(JsonNode c) {
            name = c.get("m").asText();
            conf = c;
            commit = str(c, "commit", "none");
            delay = c.path("delay").asInt(0);
            consumer = new KafkaConsumer<>(props(c));
        }

        static Map<String, Object> props(JsonNode c) {
            Map<String, Object> p = new HashMap<>();
            p.put("bootstrap.servers", bootstrap);
            p.put("group.id", c.get("group").asText());
            p.put("client.id", c.get("m").asText());
            p.put("enable.auto.commit", "auto".equals(str(c, "commit", "none")));
            p.put("auto.commit.interval.ms", c.path("auto_ms").asInt(1000));
            p.put("auto.offset.reset", str(c, "reset", "earliest"));
            p.put("metadata.max.age.ms", 1000);
            p.put("isolation.level", str(c, "isolation", "read_uncommitted"));
            p.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            p.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            p.put("max.poll.records", c.path("batch").asInt(100));
            if (c.hasNonNull("instance")) p.put("group.instance.id", c.get("instance").asText());
            if (c.hasNonNull("max_poll_ms")) p.put("max.poll.interval.ms", c.get("max_poll_ms").asInt());
            if ("consumer".equals(str(c, "protocol", "classic"))) {
                p.put("group.protocol", "consumer");
                if (c.hasNonNull("remote")) p.put("group.remote.assignor", c.get("remote").asText());
            } else {
                p.put("session.timeout.ms", c.path("session").asInt(6000));
                p.put("heartbeat.interval.ms", c.path("hb").asInt(500));
                List<String> classes = new ArrayList<>();
                for (JsonNode a : c.path("assignors")) classes.add(switch (a.asText()) {
                    case "range" -> RangeAssignor.class.getName();
                    case "roundrobin" -> RoundRobinAssignor.class.getName();
                    case "sticky" -> StickyAssignor.class.getName();
                    case "cooperative-sticky" -> CooperativeStickyAssignor.class.getName();
                    case "weighted" -> WeightedAssignor.class.getName();
                    default -> throw new IllegalArgumentException(a.asText());
                });
                if (c.hasNonNull("weight")) p.put("assignor.weight", c.get("weight").asInt());
                if (!classes.isEmpty()) p.put("partition.assignment.strategy", classes);
            }
            return p;
        }

        void ask(Act a) throws Exception {
            FutureTask<Void> f = new FutureTask<>(() -> { a.run(this); return null; });
            asks.add(f);
            f.get();
        }

        void emitParts(String kind, Collection<TopicPartition> ps) {
            ObjectNode e = event(name, kind);
            ArrayNode a = e.putArray("parts");
            for (TopicPartition tp : ps) a.add(tp.topic() + "/" + tp.partition());
            emit(e);
        }

        public void onPartitionsAssigned(Collection<TopicPartition> ps) { emitParts("assign", ps); }
        public void onPartitionsRevoked(Collection<TopicPartition> ps) {
            if (dirty || commit.equals("revoke")) tryCommit();
            emitParts("revoke", ps);
        }

        /** A commit that falls into a rebalance is repeated after it, as KafkaConsumer's documentation says. */
        void tryCommit() {
            try {
                consumer.commitSync();
                dirty = false;
            } catch (org.apache.kafka.common.errors.RebalanceInProgressException e) {
                dirty = true;
            }
        }

        public void onPartitionsLost(Collection<TopicPartition> ps) { emitParts("lost", ps); }

        public void run() {
            try {
                if (conf.hasNonNull("re2j")) consumer.subscribe(new SubscriptionPattern(conf.get("re2j").asText()), this);
                else if (conf.hasNonNull("regex")) consumer.subscribe(Pattern.compile(conf.get("regex").asText()), this);
                else {
                    List<String> topics = new ArrayList<>();
                    for (JsonNode t : conf.get("topics")) topics.add(t.asText());
                    consumer.subscribe(topics, this);
                }
                while (!closing) {
                    FutureTask<Void> f;
                    while ((f = asks.poll()) != null) f.run();
                    if (paused) {
                        Thread.sleep(20);
                        continue;
                    }
                    ConsumerRecords<String, String> got = consumer.poll(Duration.ofMillis(100));
                    if (dirty) tryCommit();
                    if (got.isEmpty()) continue;
                    ObjectNode e = event(name, "recs");
                    ArrayNode a = e.putArray("recs");
                    for (ConsumerRecord<String, String> x : got)
                        a.addArray().add(x.topic()).add(x.partition()).add(x.offset()).add(x.value());
                    emit(e);
                    if (delay > 0) Thread.sleep(delay);
                    if (commit.equals("batch")) tryCommit();
                }
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
                emit(event(name, "closed"));
            } catch (Throwable t) {
                emit(event(name, "error").put("err", text(t)));
                try {
                    consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
                } catch (Throwable ignored) {
                }
            }
        }
    }

    /** consume-transform-produce: value v in -> "x<v>" out, offsets in the transaction. */
    static void eos(JsonNode c, ObjectNode r) throws Exception {
        int total = c.get("n").asInt(), done = 0, txns = 0, aborted = 0;
        boolean unchanged = true;
        Set<Integer> abort = new HashSet<>();
        for (JsonNode a : c.path("abort")) abort.add(a.asInt());
        ObjectNode conf = (ObjectNode) c.deepCopy();
        conf.put("m", "eos").put("isolation", "read_committed").put("batch", 10);
        long end = System.currentTimeMillis() + 25000;
        try (KafkaConsumer<String, String> in = new KafkaConsumer<>(Member.props(conf));
             KafkaProducer<String, String> out = producer(c.get("txid").asText())) {
            out.initTransactions();
            in.subscribe(List.of(c.get("in").asText()));
            while (done < total && System.currentTimeMillis() < end) {
                ConsumerRecords<String, String> got = in.poll(Duration.ofMillis(200));
                if (got.isEmpty()) continue;
                Set<TopicPartition> tps = got.partitions();
                Map<TopicPartition, OffsetAndMetadata> before = in.committed(tps);
                out.beginTransaction();
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                for (ConsumerRecord<String, String> x : got) {
                    out.send(new ProducerRecord<>(c.get("out").asText(), 0, x.key(), "x" + x.value()));
                    offsets.put(new TopicPartition(x.topic(), x.partition()), new OffsetAndMetadata(x.offset() + 1));
                }
                out.sendOffsetsToTransaction(offsets, in.groupMetadata());
                if (abort.contains(txns++)) {
                    out.flush();
                    out.abortTransaction();
                    aborted++;
                    unchanged &= Objects.equals(before, in.committed(tps));
                    for (TopicPartition tp : tps) {
                        OffsetAndMetadata o = before.get(tp);
                        in.seek(tp, o == null ? 0 : o.offset());
                    }
                } else {
                    out.commitTransaction();
                    done += got.count();
                }
            }
        }
        r.put("done", done).put("aborted", aborted).put("unchanged", unchanged);
    }

    /** Opens a transaction, writes n records to partition 0 and leaves it open. */
    static void txnBegin(JsonNode c) throws Exception {
        KafkaProducer<String, String> p = producer(c.get("txid").asText());
        p.initTransactions();
        p.beginTransaction();
        List<Future<RecordMetadata>> acks = new ArrayList<>();
        for (int i = 0; i < c.get("n").asInt(); i++)
            acks.add(p.send(new ProducerRecord<>(c.get("topic").asText(), 0, "k", c.get("prefix").asText() + i)));
        p.flush();
        for (Future<RecordMetadata> a : acks) a.get();
        OPEN_TXNS.put(c.get(c.has("as") ? "as" : "txid").asText(), p);
    }

    static class ShareMember {
        final KafkaShareConsumer<String, String> consumer;

        ShareMember(JsonNode c) {
            consumer = new KafkaShareConsumer<>(Map.of("bootstrap.servers", bootstrap, "group.id", c.get("group").asText(),
                "share.acknowledgement.mode", "explicit", "max.poll.records", c.path("batch").asInt(10),
                "share.acquire.mode", "record_limit",
                "key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer",
                "value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"));
            consumer.subscribe(List.of(c.get("topic").asText()));
        }

        /** Polls once for up to `ms`, acknowledges each record by the verdict for its value (default accept), commits. */
        void poll(JsonNode c, ObjectNode r) {
            ArrayNode a = r.putArray("recs");
            ConsumerRecords<String, String> got = consumer.poll(Duration.ofMillis(c.path("ms").asInt(1000)));
            for (ConsumerRecord<String, String> x : got) {
                a.addArray().add(x.topic()).add(x.partition()).add(x.offset()).add(x.value())
                    .add(x.deliveryCount().map(Short::intValue).orElse(0));
                consumer.acknowledge(x, AcknowledgeType.valueOf(c.path("ack").path(x.value()).asText("ACCEPT")));
            }
            consumer.commitSync(Duration.ofSeconds(5)).forEach((tp, err) -> err.ifPresent(e -> { throw e; }));
        }
    }
}
