import java.util.*;
import java.util.stream.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import org.apache.kafka.coordinator.group.modern.*;

/**
 * Records what Kafka's broker-side assignors give: random groups that change a few times, one step a case.
 *   RecordBroker uniform|range SEED GROUPS
 * Members come in the order of their ids and topics have ids 1 to 12, which a HashMap holds in that order.
 */
public class RecordBroker {
    record Member(String id, String instance, SortedSet<Integer> topics, SortedMap<Integer, SortedSet<Integer>> owned) {}

    final Random random;
    final ConsumerGroupPartitionAssignor assignor;
    final SortedMap<String, Member> members = new TreeMap<>();
    final SortedMap<Integer, Integer> topics = new TreeMap<>();
    boolean homogeneous;
    int nextMember;

    RecordBroker(ConsumerGroupPartitionAssignor assignor, long seed) {
        this.assignor = assignor;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L); // similar seeds begin with similar numbers
    }

    static Uuid uuid(int topic) { return new Uuid(0, topic); }

    SortedSet<Integer> subscription() {
        if (homogeneous) return members.isEmpty() ? new TreeSet<>(topics.keySet()) : members.values().iterator().next().topics;
        var some = new TreeSet<>(topics.keySet());
        some.removeIf(t -> random.nextInt(3) == 0);
        return some;
    }

    void join() {
        // Ids whose order is not that of joining.
        String id = String.format("m%02d-%d", random.nextInt(100), nextMember++);
        String instance = random.nextInt(4) == 0 ? "i" + random.nextInt(1000) + "-" + nextMember : null;
        members.put(id, new Member(id, instance, subscription(), new TreeMap<>()));
    }

    void change() {
        switch (random.nextInt(6)) {
            case 0, 1 -> { for (int n = 1 + random.nextInt(3); n > 0; n--) join(); }
            case 2 -> { if (members.size() > 1) members.remove(pick(members.keySet())); }
            case 3 -> { if (!topics.isEmpty()) topics.merge(pick(topics.keySet()), 1 + random.nextInt(20), Integer::sum); }
            case 4 -> {
                if (topics.size() == 12) return;
                int t = 1 + random.nextInt(12);
                topics.putIfAbsent(t, 1 + random.nextInt(20));
                if (homogeneous) resubscribe(new TreeSet<>(topics.keySet()));
                else for (var m : new ArrayList<>(members.values())) if (random.nextBoolean()) replace(m, with(m.topics, t));
            }
            default -> {
                if (topics.isEmpty()) return;
                int t = pick(topics.keySet());
                if (homogeneous) resubscribe(without(members.values().iterator().next().topics, t));
                else { var m = members.get(pick(members.keySet())); replace(m, without(m.topics, t)); }
            }
        }
    }

    static SortedSet<Integer> with(SortedSet<Integer> s, int t) { var c = new TreeSet<>(s); c.add(t); return c; }
    static SortedSet<Integer> without(SortedSet<Integer> s, int t) { var c = new TreeSet<>(s); c.remove(t); return c; }
    void replace(Member m, SortedSet<Integer> s) { members.put(m.id, new Member(m.id, m.instance, s, m.owned)); }
    void resubscribe(SortedSet<Integer> s) { for (var m : new ArrayList<>(members.values())) replace(m, s); }
    <T> T pick(Collection<T> c) { return new ArrayList<>(c).get(random.nextInt(c.size())); }

    /** One assignment: its input and output are printed, and the output is the next input. */
    void step(String name) {
        Map<String, MemberSubscriptionAndAssignmentImpl> spec = new LinkedHashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (var m : members.values()) {
            Map<Uuid, Set<Integer>> owned = new LinkedHashMap<>();
            m.owned.forEach((t, ps) -> {
                owned.put(uuid(t), new HashSet<>(ps)); // as Assignment.fromRecord copies it
                ps.forEach(p -> inverted.computeIfAbsent(uuid(t), k -> new HashMap<>()).put(p, m.id));
            });
            Set<Uuid> subscribed = m.topics.stream().map(RecordBroker::uuid).collect(Collectors.toCollection(LinkedHashSet::new));
            spec.put(m.id, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.ofNullable(m.instance), subscribed, new Assignment(owned)));
        }
        boolean same = members.values().stream().map(Member::topics).distinct().count() <= 1;
        System.out.println("case " + name + " " + (same ? "homogeneous" : "heterogeneous"));
        topics.forEach((t, n) -> System.out.println("topic " + t + " " + n));
        for (var m : members.values())
            System.out.println("member " + m.id + " " + (m.instance == null ? "-" : m.instance) + " " + numbers(m.topics) + " " + partitions(m.owned));

        var result = assignor.assign(new GroupSpecImpl(spec, same ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted),
            new SubscribedTopicDescriber() {
                public int numPartitions(Uuid id) { return topics.getOrDefault((int) id.getLeastSignificantBits(), -1); }
                public Set<String> racksForPartition(Uuid id, int p) { return Set.of(); }
            }).members();
        for (var m : new ArrayList<>(members.values())) {
            SortedMap<Integer, SortedSet<Integer>> owned = new TreeMap<>();
            if (result.containsKey(m.id))
                result.get(m.id).partitions().forEach((t, ps) -> owned.put((int) t.getLeastSignificantBits(), new TreeSet<>(ps)));
            System.out.println("gets " + m.id + " " + partitions(owned));
            members.put(m.id, new Member(m.id, m.instance, m.topics, owned));
        }
        System.out.println();
    }

    static String numbers(Collection<Integer> s) {
        return s.isEmpty() ? "-" : s.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    static String partitions(SortedMap<Integer, SortedSet<Integer>> owned) {
        return owned.isEmpty() ? "-" : owned.entrySet().stream().map(e -> e.getKey() + ":" + ranges(e.getValue())).collect(Collectors.joining(";"));
    }

    static String ranges(SortedSet<Integer> s) {
        List<String> ranges = new ArrayList<>();
        for (int p : s) {
            if (s.contains(p - 1)) continue;
            int last = p;
            while (s.contains(last + 1)) last++;
            ranges.add(last == p ? "" + p : p + "-" + last);
        }
        return String.join(",", ranges);
    }

    void group(int number) {
        homogeneous = random.nextBoolean();
        for (int t = random.nextInt(6); t >= 0; t--) topics.put(1 + random.nextInt(12), 1 + random.nextInt(number % 3 == 0 ? 70 : 12));
        for (int n = random.nextInt(7); n >= 0; n--) join();
        for (int s = 0; s < 6; s++) {
            step(number + "." + s);
            for (int n = random.nextInt(2); n >= 0; n--) change();
        }
    }

    public static void main(String[] args) {
        for (int g = 0; g < Integer.parseInt(args[2]); g++) {
            var assignor = args[0].equals("range") ? new RangeAssignor() : new UniformAssignor();
            new RecordBroker(assignor, Long.parseLong(args[1]) * 1000 + g).group(g);
        }
    }
}
