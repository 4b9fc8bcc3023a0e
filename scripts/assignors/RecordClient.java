import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.MemberData;
import org.apache.kafka.common.*;

/**
 * Records what the assignors of Kafka's Java client give: random groups that change a few times, one step a case.
 *   RecordClient range|roundrobin|sticky|cooperative-sticky SEED GROUPS
 * Members come in the order in which the leader would see them; lists of partitions keep their order.
 */
public class RecordClient {
    static class Member {
        String id, instance, rack;
        List<String> topics;
        List<TopicPartition> owned = List.of();
        int generation = -1;
    }

    /** Shows what StickyAssignor reads from user data. */
    static class Reader extends StickyAssignor {
        MemberData read(Subscription s) { return memberData(s); }
    }

    @SuppressWarnings("removal")
    static ConsumerGroupMetadata metadata(String id, int generation) { return new ConsumerGroupMetadata("g", generation, id, Optional.empty()); }

    final String name;
    final Random random;
    final List<Member> members = new ArrayList<>();
    final SortedMap<String, Integer> topics = new TreeMap<>();
    final SortedMap<String, List<List<String>>> racks = new TreeMap<>();
    boolean homogeneous, racked, chaotic;
    int generation = 0, nextMember = 0;

    RecordClient(String name, long seed) {
        this.name = name;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L); // similar seeds begin with similar numbers
    }

    void addTopic() {
        String t = List.of("orders", "payments", "a", "b", "clicks.v2", "events", "LOG", "x-1", "é", "metrics").get(random.nextInt(10));
        topics.putIfAbsent(t, 1 + random.nextInt(chaotic || random.nextInt(4) == 0 ? 30 : 8));
        place(t);
    }

    /** Two racks of three for each partition, or of all the same one. */
    void place(String t) {
        List<List<String>> all = new ArrayList<>();
        for (int p = 0; racked && p < topics.get(t); p++) {
            var some = new ArrayList<>(List.of("r1", "r2", "r3"));
            if (random.nextInt(5) > 0) some.remove(random.nextInt(3));
            if (random.nextInt(3) == 0) some.remove(random.nextInt(2));
            all.add(some);
        }
        racks.put(t, all);
    }

    void join() {
        Member m = new Member();
        m.id = List.of("consumer-g-1-", "app-", "ü-", "").get(random.nextInt(4)) + Integer.toHexString(random.nextInt()) + (nextMember++);
        m.instance = random.nextInt(4) == 0 ? "i" + random.nextInt(1000) + "." + nextMember : null;
        m.rack = racked && random.nextInt(6) > 0 ? List.of("r1", "r2", "r3", "elsewhere").get(random.nextInt(13) / 4) : null;
        m.topics = subscription();
        members.add(m);
    }

    List<String> subscription() {
        if (homogeneous && !members.isEmpty()) {
            var same = new ArrayList<>(members.get(0).topics);
            if (random.nextInt(4) == 0) Collections.shuffle(same, random);
            return same;
        }
        List<String> some = new ArrayList<>(topics.keySet());
        if (random.nextInt(8) == 0) some.add("unknown");
        int sparse = chaotic ? 1 + random.nextInt(3) : 2;
        if (!homogeneous) some.removeIf(t -> random.nextInt(1 + sparse) == 0);
        Collections.shuffle(some, random);
        return some;
    }

    void change() {
        switch (random.nextInt(7)) {
            case 0, 1 -> { for (int n = 1 + random.nextInt(2); n > 0; n--) join(); }
            case 2 -> { if (members.size() > 1) members.remove(random.nextInt(members.size())); }
            case 3 -> {
                String t = new ArrayList<>(topics.keySet()).get(random.nextInt(topics.size()));
                topics.merge(t, 1 + random.nextInt(5), Integer::sum);
                place(t);
            }
            case 4 -> {
                addTopic();
                if (homogeneous) { var all = new ArrayList<>(topics.keySet()); members.forEach(m -> m.topics = all); }
            }
            case 5 -> { if (!homogeneous) members.get(random.nextInt(members.size())).topics = subscription(); }
            default -> { // somebody claims what another one has
                var m = members.get(random.nextInt(members.size()));
                var claims = new ArrayList<>(m.owned);
                for (var other : members) for (var tp : other.owned) if (random.nextInt(3) == 0 && !claims.contains(tp)) claims.add(tp);
                m.owned = claims;
            }
        }
    }

    /** Members whose memories are of different generations and have nothing to do with each other; the first have most. */
    void confuse() {
        int share = 1;
        for (var m : members) {
            m.generation = 1 + random.nextInt(3);
            m.owned = new ArrayList<>();
            share += random.nextInt(4);
            int chance = share;
            topics.forEach((t, n) -> {
                for (int p = 0; p < n; p++) if (random.nextInt(chance) == 0) m.owned.add(new TopicPartition(t, p));
            });
        }
    }

    /** User data as `sticky` wrote it before it had a generation. */
    static ByteBuffer version0(List<TopicPartition> partitions) {
        ByteBuffer b = ByteBuffer.allocate(10000).putInt(partitions.size());
        for (var tp : partitions) {
            byte[] t = tp.topic().getBytes(StandardCharsets.UTF_8);
            b.putShort((short) t.length).put(t).putInt(1).putInt(tp.partition());
        }
        return b.flip();
    }

    Subscription subscription(Member m) {
        ByteBuffer data = null;
        if (name.equals("sticky")) {
            var writer = new StickyAssignor();
            if (m.generation >= 0) writer.onAssignment(new Assignment(m.owned), metadata(m.id, m.generation));
            data = m.generation >= 0 && random.nextInt(10) == 0 ? version0(m.owned) : writer.subscriptionUserData(Set.of());
        } else if (name.equals("cooperative-sticky")) {
            var writer = new CooperativeStickyAssignor();
            if (m.generation >= 0) writer.onAssignment(new Assignment(m.owned), metadata(m.id, m.generation));
            data = random.nextInt(10) == 0 ? null : writer.subscriptionUserData(Set.of());
        }
        var generation = m.generation >= 0 && random.nextInt(8) > 0 ? Optional.of(m.generation) : Optional.<Integer>empty();
        var s = new Subscription(m.topics, data, m.owned, generation.orElse(-1), Optional.ofNullable(m.rack));
        s.setGroupInstanceId(Optional.ofNullable(m.instance));
        return s;
    }

    /** What comes behind the generation of the subscription: the generation and the partitions of the user data. */
    String userData(Subscription s) {
        if (s.userData() == null) return "- -";
        if (name.equals("sticky")) {
            var data = new Reader().read(s);
            s.userData().rewind();
            return data.generation.map(g -> "" + g).orElse("none") + " " + list(data.partitions);
        }
        return s.userData().duplicate().getInt() + " -";
    }

    Cluster cluster() {
        Map<String, Node> nodes = new TreeMap<>();
        for (String r : List.of("r1", "r2", "r3")) nodes.put(r, new Node(nodes.size(), "h", 1, r));
        Node bare = new Node(9, "h", 1);
        List<PartitionInfo> infos = new ArrayList<>();
        topics.forEach((t, n) -> {
            for (int p = 0; p < n; p++) {
                Node[] replicas = racked ? racks.get(t).get(p).stream().map(nodes::get).toArray(Node[]::new) : new Node[] {bare};
                infos.add(new PartitionInfo(t, p, bare, replicas, replicas));
            }
        });
        nodes.put("", bare);
        return new Cluster("c", nodes.values(), infos, Set.of(), Set.of());
    }

    void step(String number) {
        StringBuilder out = new StringBuilder("case " + number + " " + name + "\n");
        topics.forEach((t, n) -> out.append("topic " + t + " " + n + " "
            + (racked ? racks.get(t).stream().map(r -> String.join(",", r)).collect(Collectors.joining(";")) : "-") + "\n"));
        Map<String, Subscription> subscriptions = new HashMap<>(); // as ConsumerCoordinator.onLeaderElected fills it
        for (var m : members) {
            var s = subscription(m);
            subscriptions.put(m.id, s);
            out.append("member " + m.id + " " + word(m.instance) + " " + word(m.rack) + " " + word(String.join(",", m.topics)) + " "
                + s.generationId().map(g -> "" + g).orElse("-") + " " + list(m.owned) + " " + userData(s) + "\n");
        }
        ConsumerPartitionAssignor assignor = switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
        generation++;
        Map<String, Assignment> result;
        try {
            var task = new FutureTask<>(() -> assignor.assign(cluster(), new GroupSubscription(subscriptions)));
            var thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
            result = task.get(20, TimeUnit.SECONDS).groupAssignment();
        } catch (ExecutionException | TimeoutException | InterruptedException e) {
            return; // a case in which Kafka fails, or comes to no end
        }
        for (var m : members) {
            var given = result.get(m.id).partitions();
            out.append("gets " + m.id + " " + list(given) + "\n");
            if (random.nextInt(12) == 0) continue; // it does not hear of it
            m.owned = given;
            m.generation = generation;
        }
        System.out.println(out);
    }

    static String word(String s) { return s == null || s.isEmpty() ? "-" : s; }

    /** Stretches of a topic, in the order of the list. */
    static String list(List<TopicPartition> partitions) {
        List<String> stretches = new ArrayList<>();
        for (int i = 0; i < partitions.size(); ) {
            var first = partitions.get(i);
            int j = i + 1;
            while (j < partitions.size() && partitions.get(j).equals(new TopicPartition(first.topic(), first.partition() + j - i))) j++;
            stretches.add(first.topic() + ":" + first.partition() + (j - i > 1 ? "-" + (first.partition() + j - i - 1) : ""));
            i = j;
        }
        return word(String.join(";", stretches));
    }

    void group(int number) {
        homogeneous = random.nextBoolean();
        racked = random.nextInt(3) == 0;
        chaotic = !homogeneous && random.nextInt(3) == 0;
        for (int t = random.nextInt(chaotic ? 12 : 5); t >= 0; t--) addTopic();
        for (int n = random.nextInt(chaotic ? 16 : number % 10 == 0 ? 30 : 6); n >= 0; n--) join();
        for (int s = 0; s < 6; s++) {
            if (chaotic) confuse();
            step(number + "." + s);
            for (int n = random.nextInt(3); n > 0; n--) change();
        }
    }

    public static void main(String[] args) {
        for (int g = 0; g < Integer.parseInt(args[2]); g++) new RecordClient(args[0], Long.parseLong(args[1]) * 1000 + g).group(g);
    }
}
