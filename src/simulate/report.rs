//! Outcomes as text to read, and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Outcome, Owner, Scenario};
use crate::types::TopicName;

/// A paragraph for each step: what it cost, and who owns what after it, with what each member gained and lost.
#[must_use]
pub fn text(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let mut before: BTreeMap<&str, &Owner> = BTreeMap::new();
    for outcome in outcomes {
        let _ = match &outcome.step {
            None => writeln!(text, "{}, {}", scenario.assignor.name(), size(scenario)),
            Some(step) => {
                writeln!(text, "\n{step}: {} moved, {} paused", outcome.moved, outcome.paused)
            }
        };
        let rebalances = outcome.rebalances.len();
        for (number, owners) in (1..).zip(&outcome.rebalances) {
            if rebalances > 1 {
                let _ = writeln!(text, " rebalance {number} of {rebalances}");
            }
            for owner in owners {
                let had = before.get(owner.member.as_str());
                let _ = writeln!(text, "{}", line(owner, had.copied()));
            }
            before = owners.iter().map(|owner| (owner.member.as_str(), owner)).collect();
        }
    }
    text
}

/// `3 members, orders:6`
fn size(scenario: &Scenario) -> String {
    let plural = if scenario.members == 1 { "" } else { "s" };
    let topics: Vec<String> = scenario.topics.iter().map(ToString::to_string).collect();
    format!("{} member{plural}, {}", scenario.members, topics.join(", "))
}

/// `  m1  orders 0-2 (3)  gained orders 2`
fn line(owner: &Owner, had: Option<&Owner>) -> String {
    let count: usize = owner.partitions.values().map(Vec::len).sum();
    let mut line = format!("  {:<4} {} ({count})", owner.member, list(&owner.partitions));
    if let Some(had) = had {
        let changes = [
            ("gained", without(&owner.partitions, &had.partitions)),
            ("lost", without(&had.partitions, &owner.partitions)),
        ];
        for (word, partitions) in changes {
            if !partitions.is_empty() {
                let _ = write!(line, "  {word} {}", list(&partitions));
            }
        }
    }
    line
}

type Partitions = BTreeMap<TopicName, Vec<i32>>;

fn without(these: &Partitions, others: &Partitions) -> Partitions {
    let mut left = these.clone();
    for (topic, partitions) in &mut left {
        partitions.retain(|partition| {
            others.get(topic).is_none_or(|other| other.binary_search(partition).is_err())
        });
    }
    left.retain(|_, partitions| !partitions.is_empty());
    left
}

/// `orders 0-2,5; payments 1`
fn list(partitions: &Partitions) -> String {
    if partitions.is_empty() {
        return "nothing".to_owned();
    }
    let topics = partitions.iter().map(|(topic, partitions)| {
        let stretches = partitions.chunk_by(|a, b| a + 1 == *b).map(|stretch| match stretch {
            [one] => one.to_string(),
            many => format!("{}-{}", many[0], many[many.len() - 1]),
        });
        format!("{topic} {}", stretches.collect::<Vec<_>>().join(","))
    });
    topics.collect::<Vec<_>>().join("; ")
}

/// One object: `assignor`, and `steps` with `step`, `moved`, `paused` and `rebalances`, each of these a list of members with
/// `member` and `partitions` (topic → numbers).
#[must_use]
pub fn json(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let steps = array(outcomes.iter().map(|outcome| {
        let step = outcome.step.as_ref().map_or("start".to_owned(), ToString::to_string);
        let rebalances = array(outcome.rebalances.iter().map(|owners| array(owners.iter().map(owner_json))));
        format!(
            "{{\"step\":{},\"moved\":{},\"paused\":{},\"rebalances\":{rebalances}}}",
            string(&step),
            outcome.moved,
            outcome.paused
        )
    }));
    format!("{{\"assignor\":{},\"steps\":{steps}}}\n", string(&scenario.assignor.name()))
}

fn owner_json(owner: &Owner) -> String {
    let topics = owner.partitions.iter().map(|(topic, partitions)| {
        format!("{}:{}", string(topic.as_str()), array(partitions.iter().map(i32::to_string)))
    });
    let topics: Vec<String> = topics.collect();
    format!("{{\"member\":{},\"partitions\":{{{}}}}}", string(&owner.member), topics.join(","))
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn string(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            c if c.is_control() => write!(quoted, "\\u{:04x}", u32::from(c)),
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::run;

    fn scenario() -> Scenario {
        let steps = ["join", "leave:m2", "grow:orders:9"].map(|step| step.parse().unwrap());
        Scenario {
            assignor: "cooperative-sticky".parse().unwrap(),
            members: 3,
            topics: vec!["orders:8".parse().unwrap(), "a:1".parse().unwrap()],
            steps: steps.into(),
        }
    }

    #[test]
    fn text_says_what_changed_for_whom() {
        let scenario = scenario();
        let expected = "\
cooperative-sticky, 3 members, orders:8, a:1
  m1   a 0; orders 2,5 (3)
  m2   orders 0,3,6 (3)
  m3   orders 1,4,7 (3)

join: 2 moved, 2 paused
 rebalance 1 of 2
  m1   a 0; orders 2,5 (3)
  m2   orders 0,3 (2)  lost orders 6
  m3   orders 1,4 (2)  lost orders 7
  m4   nothing (0)
 rebalance 2 of 2
  m1   a 0; orders 2,5 (3)
  m2   orders 0,3 (2)
  m3   orders 1,4 (2)
  m4   orders 6-7 (2)  gained orders 6-7

leave:m2: 2 moved, 2 paused
  m1   a 0; orders 2,5 (3)
  m3   orders 0-1,4 (3)  gained orders 0
  m4   orders 3,6-7 (3)  gained orders 3

grow:orders:9: 0 moved, 0 paused
  m1   a 0; orders 2,5,8 (4)  gained orders 8
  m3   orders 0-1,4 (3)
  m4   orders 3,6-7 (3)
";
        assert_eq!(text(&scenario, &run(&scenario).unwrap()), expected);
    }

    #[test]
    fn json_is_one_object() {
        let scenario = Scenario { members: 1, steps: vec!["grow:a:2".parse().unwrap()], ..scenario() };
        let expected = concat!(
            r#"{"assignor":"cooperative-sticky","steps":["#,
            r#"{"step":"start","moved":0,"paused":0,"rebalances":[["#,
            r#"{"member":"m1","partitions":{"a":[0],"orders":[0,1,2,3,4,5,6,7]}}]]},"#,
            r#"{"step":"grow:a:2","moved":0,"paused":0,"rebalances":[["#,
            r#"{"member":"m1","partitions":{"a":[0,1],"orders":[0,1,2,3,4,5,6,7]}}]]}]}"#,
            "\n"
        );
        assert_eq!(json(&scenario, &run(&scenario).unwrap()), expected);
        assert_eq!(string("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
    }
}
