//! Metadata, scale and start.

use std::collections::BTreeSet;

use kafka_protocol::messages::{ApiVersionsRequest, FindCoordinatorRequest, LeaveGroupRequest};

use super::*;

const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;

/// MD-02: a topic is there for all connections at once, and the broker itself starts no classic rebalance.
#[test]
fn a_new_topic_is_there_for_everybody_at_once_and_starts_no_rebalance() {
    let broker = Broker::start();
    let mut member = Member::new(&broker, "g");
    member.send_join();
    let generation = member.joined().generation_id;
    member.send_sync(generation, Vec::new());
    member.synced();
    let mut others: Vec<_> = (0..10).map(|_| broker.connect()).collect();
    for other in &mut others {
        assert_eq!(topic(other, "t").0, UNKNOWN_TOPIC_OR_PARTITION);
    }
    create_topic(&mut broker.connect(), "t", 3);
    let (_, id, _) = topic(&mut member.peer, "t");
    for other in &mut others {
        assert_eq!(topic(other, "t"), (0, id, 3));
    }
    assert_eq!(member.heartbeat(generation), 0);
    assert_eq!(describe(&mut others[0], "g").group_state.as_str(), "Stable");
}

/// SM-10: a client that has an instance id needs all of these, or it refuses to start.
#[test]
fn what_static_members_need_is_offered_together() {
    let broker = Broker::start();
    let served = broker.connect().call(2, &ApiVersionsRequest::default()).expect("versions");
    for (key, needed) in [(11, 5), (14, 3), (12, 3), (13, 3), (8, 7)] {
        let api = served.api_keys.iter().find(|api| api.api_key == key).expect("it is served");
        assert!((api.min_version..=api.max_version).contains(&needed), "{api:?}");
    }
}

/// SC-01: a group of thousands gets Stable, and can be described. Fewer where files are short.
#[test]
fn a_group_of_thousands_gets_stable() {
    const PARTITIONS: usize = 20_000;
    let broker = Broker::start();
    let count = connections_max().min(7_000);
    let mut members: Vec<_> = (0..count).map(|_| Member::new_and_served(&broker, "g")).collect();
    members[0].send_join();
    members[0].joined();
    for member in &mut members[1..] {
        member.send_join();
    }
    let mut observer = broker.connect();
    wait_for_members(&mut observer, "g", count);
    // All of them share one generation.
    members[0].send_join();
    let joined = members[0].joined();
    assert_eq!((joined.generation_id, joined.members.len()), (2, count));
    for member in &mut members[1..] {
        assert_eq!(member.joined().generation_id, 2);
    }
    for member in &mut members[1..] {
        member.send_sync(2, Vec::new());
    }
    let assignment = vec![7; PARTITIONS.div_ceil(count) * 4];
    let parts = joined.members.iter().map(|member| part(&member.member_id, assignment.clone())).collect();
    members[0].send_sync(2, parts);
    assert!(members.iter_mut().all(|member| member.synced() == assignment));
    assert!(members.iter_mut().all(|member| member.heartbeat(2) == 0));
    let group = describe(&mut observer, "g");
    assert_eq!((group.group_state.as_str(), group.members.len()), ("Stable", count));
    assert!(group.members.iter().all(|member| member.member_assignment == assignment));
}

/// Connections that this process may have open: both ends of each are in it, as are those of other tests.
fn connections_max() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).and_then(|n| n.parse().ok());
    soft.map_or(100, |files: usize| files.saturating_sub(2_000).max(400) / 2)
}

/// SC-04: whoever comes in a join phase shares its generation, so that restarting all costs a few, not one each.
#[test]
fn members_that_restart_together_share_a_few_generations() {
    let broker = Broker::start();
    let mut members: Vec<_> = (0..30).map(|_| Member::new(&broker, "g")).collect();
    let before = join_together(&broker, &mut members);
    for member in &mut members {
        let leave =
            LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_member_id(text(&member.id));
        assert_eq!(member.peer.call(2, &leave).expect("an answer").error_code, 0);
        member.id.clear();
    }
    let after = join_together(&broker, &mut members);
    assert!(after - before <= 4, "{} generations", after - before);
}

/// All of them, none of whom is a member yet; the generation that they end up in.
fn join_together(broker: &Broker, members: &mut [Member]) -> i32 {
    let (first, others) = members.split_first_mut().expect("there are members");
    // Answered at once, as the group is empty; it comes again when it learns of the others.
    first.send_join();
    first.joined();
    for other in others.iter_mut() {
        other.send_join();
    }
    wait_for_members(&mut broker.connect(), "g", others.len() + 1);
    first.send_join();
    let generation = first.joined().generation_id;
    assert!(others.iter_mut().all(|other| other.joined().generation_id == generation));
    generation
}

/// CI-01: a port that the system chooses is nobody else's.
#[test]
fn two_hundred_servers_with_port_0_are_all_up_on_ports_of_their_own() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let servers: Vec<_> = runtime.block_on(async { (0..200).map(|_| start_server()).collect() });
    let ports: BTreeSet<_> = servers.iter().map(|server| server.address().port()).collect();
    assert_eq!(ports.len(), servers.len());
    for server in &servers {
        let mut peer = Peer::connect(server.address()).expect("the server accepts");
        peer.call(2, &ApiVersionsRequest::default()).expect("it answers");
    }
}

/// CI-09: the first requests of a client need no second try.
#[test]
fn the_first_join_needs_no_warm_up() {
    let broker = Broker::start();
    let mut member = Member::new(&broker, "g");
    let find = FindCoordinatorRequest::default().with_key(text("g"));
    let coordinator = member.peer.call(3, &find).expect("an answer");
    assert_eq!((coordinator.error_code, coordinator.port), (0, i32::from(broker.server.address().port())));
    member.send_join();
    assert_eq!(member.joined().generation_id, 1);
}
