import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Records what becomes of groups as `rallypoint simulate` plays them, with each of Kafka's assignors.
 *   RecordLives 'MEMBERS TOPIC:PARTITIONS,… [STEP,…]' …
 */
public class RecordLives {
    final String name;
    final List<String> members = new ArrayList<>();
    final SortedMap<String, Integer> topics = new TreeMap<>();
    final Map<String, List<TopicPartition>> owned = new HashMap<>();
    final Map<String, Integer> generations = new HashMap<>();
    int lastMember = 0, generation = 0;

    RecordLives(String name) { this.name = name; }

    void join() { members.add("m" + ++lastMember); }

    void change(String step) {
        String[] words = step.split(":");
        switch (words[0]) {
            case "join" -> join();
            case "leave" -> { members.remove(words[1]); owned.remove(words[1]); }
            default -> topics.put(words[1], Integer.parseInt(words[2]));
        }
    }

    Map<String, List<TopicPartition>> assignInLeader(ConsumerPartitionAssignor assignor) {
        Node n = new Node(1, "h", 1);
        List<PartitionInfo> infos = new ArrayList<>();
        topics.forEach((t, count) -> {
            for (int p = 0; p < count; p++) infos.add(new PartitionInfo(t, p, n, new Node[] {n}, new Node[] {n}));
        });
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (String m : members) {
            int g = generations.getOrDefault(m, -1);
            var writer = new StickyAssignor();
            if (g >= 0) writer.onAssignment(new Assignment(owned.get(m)), RecordClient.metadata(m, g));
            subscriptions.put(m, new Subscription(List.copyOf(topics.keySet()), name.equals("sticky") ? writer.subscriptionUserData(Set.of()) : null,
                owned.getOrDefault(m, List.of()), g, Optional.empty()));
        }
        var result = assignor.assign(new Cluster("c", List.of(n), infos, Set.of(), Set.of()), new GroupSubscription(subscriptions)).groupAssignment();
        return members.stream().collect(Collectors.toMap(m -> m, m -> result.get(m).partitions()));
    }

    /** Topics have ids in the order of their names, members come in the order of their ids. */
    Map<String, List<TopicPartition>> assignInBroker(org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor assignor) {
        List<String> names = List.copyOf(topics.keySet());
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Map<String, MemberSubscriptionAndAssignmentImpl> spec = new LinkedHashMap<>();
        Set<Uuid> subscribed = new LinkedHashSet<>();
        for (int t = 0; t < names.size(); t++) subscribed.add(new Uuid(0, t));
        for (String m : new TreeSet<>(members)) {
            Map<Uuid, Set<Integer>> had = new TreeMap<>();
            for (var tp : owned.getOrDefault(m, List.of())) {
                Uuid id = new Uuid(0, names.indexOf(tp.topic()));
                had.computeIfAbsent(id, k -> new TreeSet<>()).add(tp.partition());
                inverted.computeIfAbsent(id, k -> new HashMap<>()).put(tp.partition(), m);
            }
            had.replaceAll((id, partitions) -> new HashSet<>(partitions)); // as Assignment.fromRecord copies it
            spec.put(m, new MemberSubscriptionAndAssignmentImpl(Optional.empty(), Optional.empty(), subscribed,
                new org.apache.kafka.coordinator.group.modern.Assignment(had)));
        }
        GroupSpec group = new GroupSpecImpl(spec, SubscriptionType.HOMOGENEOUS, inverted);
        var result = assignor.assign(group, new SubscribedTopicDescriber() {
            public int numPartitions(Uuid id) { return topics.get(names.get((int) id.getLeastSignificantBits())); }
            public Set<String> racksForPartition(Uuid id, int p) { return Set.of(); }
        }).members();
        Map<String, List<TopicPartition>> given = new HashMap<>();
        for (String m : members) {
            List<TopicPartition> partitions = new ArrayList<>();
            if (result.containsKey(m)) result.get(m).partitions().forEach((id, ps) ->
                ps.forEach(p -> partitions.add(new TopicPartition(names.get((int) id.getLeastSignificantBits()), p))));
            given.put(m, partitions);
        }
        return given;
    }

    Map<String, List<TopicPartition>> assign() {
        return switch (name) {
            case "range" -> assignInLeader(new RangeAssignor());
            case "roundrobin" -> assignInLeader(new RoundRobinAssignor());
            case "sticky" -> assignInLeader(new StickyAssignor());
            case "cooperative-sticky" -> assignInLeader(new CooperativeStickyAssignor());
            case "uniform" -> assignInBroker(new UniformAssignor());
            default -> assignInBroker(new org.apache.kafka.coordinator.group.assignor.RangeAssignor());
        };
    }

    /** Under cooperative-sticky whoever had to give something up rejoins. */
    void settle(String step) {
        boolean again;
        do {
            var given = assign();
            generation++;
            System.out.println("after " + step);
            again = false;
            for (String m : members) {
                again |= name.equals("cooperative-sticky") && !given.get(m).containsAll(owned.getOrDefault(m, List.of()));
                owned.put(m, given.get(m));
                generations.put(m, generation);
                var sorted = new TreeMap<String, TreeSet<Integer>>();
                for (var tp : given.get(m)) sorted.computeIfAbsent(tp.topic(), t -> new TreeSet<>()).add(tp.partition());
                System.out.println("owns " + m + sorted.entrySet().stream().map(e -> " " + e.getKey() + ":"
                    + e.getValue().stream().map(p -> "" + p).collect(Collectors.joining(","))).collect(Collectors.joining()));
            }
        } while (again);
    }

    void play(String scenario) {
        System.out.println("case " + name + " " + scenario);
        String[] words = scenario.split(" ");
        for (int m = Integer.parseInt(words[0]); m > 0; m--) join();
        for (String t : words[1].split(",")) topics.put(t.split(":")[0], Integer.parseInt(t.split(":")[1]));
        settle("start");
        for (String step : words.length < 3 ? new String[0] : words[2].split(",")) {
            change(step);
            settle(step);
        }
        System.out.println();
    }

    public static void main(String[] scenarios) {
        for (String scenario : scenarios)
            for (String name : List.of("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "broker-range"))
                new RecordLives(name).play(scenario);
    }
}
