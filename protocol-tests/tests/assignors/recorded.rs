//! Against what Kafka's classes gave, as recorded by `scripts/assignors/record.sh`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rallypoint::assignor::client::{ClientAssignor, Subscription, Topic, TopicPartition, UserData};
use rallypoint::assignor::{
    GroupSpec, MemberAssignment, MemberSpec, PartitionAssignor, RangeAssignor, SubscriptionType, TopicSpec,
    UniformAssignor,
};
use rallypoint::simulate::{self, Outcome, Owner, Scenario};
use rallypoint::types::TopicId;

/// The cases of a recording: its paragraphs, without the one of comments.
fn cases(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/assignors").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split("\n\n").map(|case| case.trim().to_owned()).filter(|case| case.starts_with("case ")).collect()
}

/// The words behind the first of each line that begins with `first`.
fn lines<'a>(case: &'a str, first: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    case.lines().filter_map(move |line| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0] == first).then(|| words[1..].to_vec())
    })
}

/// What stands for nothing is `-`.
fn given(word: &str) -> Option<&str> {
    (word != "-").then_some(word)
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word} is a number"))
}

/// `1:0-3,5;2:0` → pairs of topic and partition.
fn partitions(word: &str) -> MemberAssignment {
    let mut pairs = Vec::new();
    for of_topic in given(word).into_iter().flat_map(|word| word.split(';')) {
        let (topic, ranges) = of_topic.split_once(':').expect("TOPIC:RANGES");
        for range in ranges.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            pairs.extend((number(first)..=number(last)).map(|p: i32| (TopicId(number(topic)), p)));
        }
    }
    pairs.into_iter().collect()
}

fn group_spec(case: &str) -> GroupSpec {
    let topics = lines(case, "topic").map(|words| TopicSpec {
        topic_id: TopicId(number(words[0])),
        partition_count: number(words[1]),
        partition_racks: Vec::new(),
    });
    let members = lines(case, "member").map(|words| MemberSpec {
        member_id: words[0].into(),
        instance_id: given(words[1]).map(Into::into),
        rack_id: None,
        subscribed_topics: given(words[2])
            .into_iter()
            .flat_map(|word| word.split(','))
            .map(|t| TopicId(number(t)))
            .collect(),
        assignment: partitions(words[3]),
    });
    let (topics, members) = (topics.collect(), members.collect::<Vec<_>>());
    GroupSpec { subscription_type: SubscriptionType::of(&members), members, topics }
}

fn gives_what_kafka_gives(file: &str, assignor: &dyn PartitionAssignor) {
    let cases = cases(file);
    let mut different = String::new();
    for case in &cases {
        let group = group_spec(case);
        let kind = case.lines().next().and_then(|line| line.split(' ').nth(2)).expect("a kind");
        assert_eq!(format!("{:?}", group.subscription_type).to_lowercase(), kind, "{case}");
        let given = assignor.assign(&group).expect("an assignment");
        for ((member, given), words) in group.members.iter().zip(given).zip(lines(case, "gets")) {
            assert_eq!(member.member_id.as_str(), words[0]);
            if given != partitions(words[1]) {
                let first = case.lines().next().unwrap_or_default();
                writeln!(different, "{first}: {} gets {} and not {given:?}", words[0], words[1]).unwrap();
            }
        }
    }
    assert!(cases.len() > 100, "{file} has {} cases", cases.len());
    assert!(different.is_empty(), "{different}");
}

#[test]
fn uniform_gives_what_kafka_gives() {
    gives_what_kafka_gives("uniform.txt", &UniformAssignor);
}

#[test]
fn range_gives_what_kafka_gives() {
    gives_what_kafka_gives("range.txt", &RangeAssignor);
}

/// `orders:0-3;a:1` → partitions, in that order.
fn topic_partitions(word: &str) -> Vec<TopicPartition> {
    let stretches = given(word).into_iter().flat_map(|word| word.split(';'));
    stretches
        .flat_map(|stretch| {
            let (topic, range) = stretch.split_once(':').expect("TOPIC:RANGE");
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            (number(first)..=number(last))
                .map(move |partition| TopicPartition { topic: topic.into(), partition })
        })
        .collect()
}

/// `r1,r2;r1` → the racks of each partition.
fn racks(word: &str) -> Vec<Vec<std::sync::Arc<str>>> {
    let partitions = given(word).into_iter().flat_map(|word| word.split(';'));
    partitions
        .map(|racks| racks.split(',').filter(|rack| !rack.is_empty()).map(Into::into).collect())
        .collect()
}

fn topic(words: &[&str]) -> Topic {
    Topic { name: words[0].into(), partition_count: number(words[1]), partition_racks: racks(words[2]) }
}

fn subscription(words: &[&str]) -> Subscription {
    let [member_id, instance_id, rack_id, topics, generation, owned, data_generation, data] = *words else {
        panic!("{words:?} is a member")
    };
    let user_data = given(data_generation).map(|generation| UserData {
        previous_assignment: topic_partitions(data),
        generation: (generation != "none").then(|| number(generation)),
    });
    Subscription {
        member_id: member_id.into(),
        instance_id: given(instance_id).map(Into::into),
        rack_id: given(rack_id).map(Into::into),
        topics: given(topics).into_iter().flat_map(|word| word.split(',')).map(Into::into).collect(),
        owned_partitions: topic_partitions(owned),
        generation: (generation != "-").then(|| number(generation)),
        user_data,
    }
}

fn gives_what_the_java_client_gives(assignor: ClientAssignor) {
    let file = format!("client-{}.txt", assignor.name());
    let cases = cases(&file);
    let mut different = String::new();
    for case in &cases {
        let topics: Vec<Topic> = lines(case, "topic").map(|words| topic(&words)).collect();
        let members: Vec<Subscription> = lines(case, "member").map(|words| subscription(&words)).collect();
        let assignment = assignor.assign(&topics, &members);
        for ((member, given), words) in members.iter().zip(assignment).zip(lines(case, "gets")) {
            assert_eq!(member.member_id.as_str(), words[0]);
            if given != topic_partitions(words[1]) {
                let first = case.lines().next().unwrap_or_default();
                writeln!(different, "{first}: {} gets {} and not {given:?}", words[0], words[1]).unwrap();
            }
        }
    }
    assert!(cases.len() > 100, "{file} has {} cases", cases.len());
    assert!(different.is_empty(), "{different}");
}

#[test]
fn client_side_range_gives_what_the_java_client_gives() {
    gives_what_the_java_client_gives(ClientAssignor::Range);
}

#[test]
fn roundrobin_gives_what_the_java_client_gives() {
    gives_what_the_java_client_gives(ClientAssignor::RoundRobin);
}

#[test]
fn sticky_gives_what_the_java_client_gives() {
    gives_what_the_java_client_gives(ClientAssignor::Sticky);
}

#[test]
fn cooperative_sticky_gives_what_the_java_client_gives() {
    gives_what_the_java_client_gives(ClientAssignor::CooperativeSticky);
}

/// As the recording has it: `after STEP` for each rebalance, `owns MEMBER TOPIC:PARTITIONS …` for each member.
fn life(outcomes: &[Outcome]) -> String {
    let mut life = String::new();
    for outcome in outcomes {
        let step = outcome.step.as_ref().map_or("start".to_owned(), ToString::to_string);
        for owners in &outcome.rebalances {
            writeln!(life, "after {step}").unwrap();
            owners.iter().for_each(|owner| writeln!(life, "owns {}{}", owner.member, held(owner)).unwrap());
        }
    }
    life
}

fn held(owner: &Owner) -> String {
    let topics = owner.partitions.iter().map(|(topic, partitions)| {
        let numbers: Vec<String> = partitions.iter().map(i32::to_string).collect();
        format!(" {topic}:{}", numbers.join(","))
    });
    topics.collect()
}

#[test]
fn simulated_groups_live_as_with_kafka() {
    let cases = cases("lives.txt");
    for case in &cases {
        let (first, recorded) = case.split_once('\n').expect("a life");
        let words: Vec<&str> = first.split(' ').collect();
        let list = |at: usize| words.get(at).into_iter().flat_map(|word| word.split(','));
        let scenario = Scenario {
            assignor: words[1].parse().expect("an assignor"),
            members: number(words[2]),
            topics: list(3).map(|topic| topic.parse().expect("a topic")).collect(),
            steps: list(4).map(|step| step.parse().expect("a step")).collect(),
        };
        let outcomes = simulate::run(&scenario).expect("outcomes");
        assert_eq!(life(&outcomes).trim_end(), recorded, "{first}");
    }
    assert_eq!(cases.len() % 6, 0, "each with the six assignors");
}
