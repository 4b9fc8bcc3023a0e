//! `rallypoint simulate`: an assignor, some members and topics, and what happens to them → who owns what at each step.
//!
//! No server runs and no time passes: each step is one change, after which the group rebalances until it is at rest.

mod group;
mod report;
mod scenario;

use std::collections::BTreeMap;

use crate::types::TopicName;

pub use report::{json, text};
pub use scenario::{Assignor, Scenario, Step, Topic};

/// What a step did to the group.
#[derive(Debug)]
pub struct Outcome {
    /// The step; none for the beginning.
    pub step: Option<Step>,
    /// Who owns what after each rebalance, at least one.
    pub rebalances: Vec<Ownership>,
    /// Partitions that had an owner and have another one now.
    pub moved: usize,
    /// Partitions that had an owner and were without one for a while.
    pub paused: usize,
}

impl Outcome {
    /// Who owns what in the end.
    #[must_use]
    pub fn ownership(&self) -> &[Owner] {
        self.rebalances.last().map_or(&[], Vec::as_slice)
    }
}

/// The members in the order in which they joined.
pub type Ownership = Vec<Owner>;

/// A member and the partitions it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub member: String,
    /// Topic → partitions, ascending.
    pub partitions: BTreeMap<TopicName, Vec<i32>>,
}

/// Plays a scenario: the outcome of the beginning, then one for each step.
///
/// # Errors
/// What is wrong with a step, or why there is no assignment, in one line.
pub fn run(scenario: &Scenario) -> Result<Vec<Outcome>, String> {
    scenario.check()?;
    let mut group = group::Group::new(scenario);
    let mut outcomes = vec![group.settle(None)?];
    for step in &scenario.steps {
        group.change(step)?;
        outcomes.push(group.settle(Some(step.clone()))?);
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(assignor: &str, members: usize, topics: &[&str], steps: &[&str]) -> Scenario {
        Scenario {
            assignor: assignor.parse().unwrap(),
            members,
            topics: topics.iter().map(|topic| topic.parse().unwrap()).collect(),
            steps: steps.iter().map(|step| step.parse().unwrap()).collect(),
        }
    }

    fn sizes(outcome: &Outcome) -> Vec<usize> {
        outcome.ownership().iter().map(|owner| owner.partitions.values().map(Vec::len).sum()).collect()
    }

    #[test]
    fn what_a_step_moves_and_pauses_depends_on_the_assignor() {
        // (moved, paused) when a fourth member joins three with eight partitions.
        let expected = [
            ("range", (5, 8)),
            ("roundrobin", (5, 8)),
            ("sticky", (2, 8)),
            ("cooperative-sticky", (2, 2)),
            ("uniform", (2, 2)),
            ("broker-range", (5, 5)),
        ];
        for (assignor, cost) in expected {
            let outcomes = run(&scenario(assignor, 3, &["orders:8"], &["join"])).unwrap();
            assert_eq!((outcomes[1].moved, outcomes[1].paused), cost, "{assignor}");
        }
    }

    #[test]
    fn range_favours_the_first_members_of_each_topic_and_the_others_do_not() {
        for assignor in Assignor::all() {
            let name = assignor.name();
            let outcomes = run(&scenario(&name, 2, &["orders:3", "payments:3"], &[])).unwrap();
            let expected = if name.ends_with("range") { [4, 2] } else { [3, 3] };
            assert_eq!(sizes(&outcomes[0]), expected, "{name}");
        }
    }

    #[test]
    fn only_what_the_dead_member_had_moves_under_sticky() {
        for (assignor, moved) in [("roundrobin", 5), ("sticky", 3), ("cooperative-sticky", 3), ("uniform", 3)]
        {
            let topics = ["t0:2", "t1:2", "t2:2", "t3:2"];
            let outcomes = run(&scenario(assignor, 3, &topics, &["leave:m2"])).unwrap();
            assert_eq!(outcomes[1].moved, moved, "{assignor}");
            assert_eq!(sizes(&outcomes[1]), [4, 4]);
        }
    }

    #[test]
    fn the_last_one_leaves_everything_to_nobody() {
        for assignor in Assignor::all() {
            let outcomes = run(&scenario(&assignor.name(), 1, &["orders:2"], &["leave:m1", "join"])).unwrap();
            assert!(outcomes[1].ownership().is_empty());
            assert_eq!((outcomes[1].moved, outcomes[1].paused), (0, 2), "{}", assignor.name());
            assert_eq!(sizes(&outcomes[2]), [2]);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_line() {
        let refused =
            |topics: &[&str], steps: &[&str]| run(&scenario("range", 2, topics, steps)).unwrap_err();
        assert_eq!(refused(&["a:1"], &["leave:m3"]), "leave:m3: there is no member m3");
        assert_eq!(refused(&["a:1"], &["grow:b:2"]), "grow:b:2: there is no topic b");
        assert_eq!(refused(&["a:2"], &["grow:a:2"]), "grow:a:2: the topic has 2 partitions already");
        assert_eq!(refused(&["a:1", "a:2"], &[]), "the topic a is there twice");
        assert_eq!(refused(&["a:100001"], &[]), "more than 100000 partitions");
        assert_eq!(refused(&["a:1"], &["join"; 1001]), "more than 1000 steps");
        assert_eq!(run(&scenario("range", 10_001, &["a:1"], &[])).unwrap_err(), "more than 10000 members");
        for text in ["jump", "leave", "leave:", "grow:a", "grow:a:0", "join:2"] {
            assert!(text.parse::<Step>().is_err(), "{text}");
        }
        assert!("a".parse::<Topic>().is_err() && ":1".parse::<Topic>().is_err());
    }
}
