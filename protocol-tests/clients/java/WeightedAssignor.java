import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * A user's own assignor, whose user data travels both ways: a member tells its weight, and gets a number of partitions
 * in that proportion and a text by the leader.
 */
public class WeightedAssignor implements ConsumerPartitionAssignor, Configurable {
    private String member;
    private int weight;

    @Override
    public void configure(Map<String, ?> configs) {
        member = configs.get("client.id").toString();
        weight = Integer.parseInt(configs.get("assignor.weight").toString());
    }

    @Override
    public String name() {
        return "weighted";
    }

    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
        return ByteBuffer.allocate(4).putInt(0, weight);
    }

    @Override
    public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
        List<TopicPartition> left = new ArrayList<>();
        SortedMap<String, Integer> weights = new TreeMap<>();
        Set<String> topics = new TreeSet<>();
        group.groupSubscription().forEach((id, subscription) -> {
            weights.put(id, subscription.userData().getInt(0));
            topics.addAll(subscription.topics());
        });
        for (String topic : topics)
            for (int i = 0; i < cluster.partitionCountForTopic(topic); i++) left.add(new TopicPartition(topic, i));
        int all = left.size(), sum = weights.values().stream().mapToInt(w -> w).sum();
        Map<String, Assignment> result = new HashMap<>();
        weights.forEach((id, w) -> {
            List<TopicPartition> own = left.subList(0, Math.min(left.size(), all * w / sum));
            ByteBuffer text = StandardCharsets.UTF_8.encode(w + " of " + sum + " by " + member);
            result.put(id, new Assignment(new ArrayList<>(own), text));
            own.clear();
        });
        return new GroupAssignment(result);
    }

    @Override
    public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
        Host.emit(Host.event(member, "userdata")
            .put("text", StandardCharsets.UTF_8.decode(assignment.userData()).toString()));
    }
}
