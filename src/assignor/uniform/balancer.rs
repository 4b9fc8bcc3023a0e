//! Whom to give a partition to, and whom to take one from. Source: Kafka's MemberAssignmentBalancer.

/// How many partitions a member has. Levels that no member has may be negative.
pub(super) type Load = i32;

/// The subscribers of one topic, lightest first, with a range of members at each end that are served in turn:
///
/// ```text
///           ▲                  heaviest
///           │ lightest     █    range
///     load  │  range     ┌─█──┐ █
///           │ ┌─────┐    │██◄ │ █   those behind the heaviest range have
///           │ │ ► █ │ ███│████│██   nothing to give
///           │ │█████│ ███│████│██
///           └─┴─────┴────┴────┴──►
///              members
/// ```
///
/// When each member of a range has had its turn, the range is one level higher (lower), and takes in the members that
/// were on that level already.
#[derive(Default)]
pub(super) struct Balancer {
    members: Vec<usize>,
    /// Load above the least → where members with it begin. Only while they are sorted.
    level_starts: Vec<usize>,
    /// The lightest range: members up to here.
    lightest_end: usize,
    /// What each of the lightest range has once all have had their turn.
    floor: Load,
    /// Whose turn it is to be given a partition.
    next_lightest: usize,
    /// The heaviest range: members from here …
    heaviest_start: usize,
    /// … to here, exclusive.
    heaviest_end: usize,
    /// What each of the heaviest range has once all have had their turn.
    ceiling: Load,
    /// Behind the one whose turn it is to give a partition away.
    next_heaviest: usize,
}

impl Balancer {
    /// Begins anew with these members, which are ascending and at least one; `loads` is by member.
    pub(super) fn reset(&mut self, members: &[usize], loads: &[Load]) {
        self.sort(members, loads);
        let count = self.members.len();
        self.lightest_end = 0;
        self.floor = loads[self.members[0]];
        self.next_lightest = 0;
        self.heaviest_start = count;
        self.heaviest_end = count;
        self.ceiling = loads[self.members[count - 1]];
        self.next_heaviest = count;
    }

    /// Lightest first; of equals in the order of `members`. Loads are close to each other, so they are counted.
    fn sort(&mut self, members: &[usize], loads: &[Load]) {
        let least = members.iter().map(|&member| loads[member]).min().unwrap_or(0);
        let level = |member: usize| (loads[member] - least) as usize;
        self.level_starts.clear();
        for &member in members {
            let behind = level(member) + 1;
            if behind >= self.level_starts.len() {
                self.level_starts.resize(behind + 1, 0);
            }
            self.level_starts[behind] += 1;
        }
        let mut start = 0;
        for count in &mut self.level_starts {
            start += *count;
            *count = start;
        }
        self.members.clear();
        self.members.resize(members.len(), 0);
        for &member in members {
            let place = &mut self.level_starts[level(member)];
            self.members[*place] = member;
            *place += 1;
        }
    }

    /// The lightest member; the caller gives it a partition.
    pub(super) fn next_lightest(&mut self, loads: &[Load]) -> usize {
        if self.next_lightest >= self.lightest_end {
            let others = &self.members[self.lightest_end..];
            self.lightest_end += others.iter().take_while(|&&member| loads[member] == self.floor).count();
            self.floor += 1;
            self.next_lightest = 0;
        }
        self.next_lightest += 1;
        self.members[self.next_lightest - 1]
    }

    /// The heaviest member, if any is left; the caller takes a partition from it, or calls
    /// [`exclude_heaviest`](Self::exclude_heaviest).
    pub(super) fn next_heaviest(&mut self, loads: &[Load]) -> Option<usize> {
        if self.next_heaviest <= self.heaviest_start {
            let others = &self.members[..self.heaviest_start];
            // With nobody left in the range it starts again from whoever comes next.
            if let Some(&heaviest) = others.last()
                && self.heaviest_end <= self.heaviest_start
            {
                self.ceiling = loads[heaviest];
            }
            self.heaviest_start -=
                others.iter().rev().take_while(|&&member| loads[member] == self.ceiling).count();
            self.ceiling -= 1;
            self.next_heaviest = self.heaviest_end;
        }
        self.next_heaviest = self.next_heaviest.checked_sub(1)?;
        Some(self.members[self.next_heaviest])
    }

    /// Takes the member that was returned last out of the range: it has nothing to give.
    pub(super) fn exclude_heaviest(&mut self) {
        self.heaviest_end -= 1;
        self.members.swap(self.next_heaviest, self.heaviest_end);
    }

    /// Whether another move would only exchange the roles of two members.
    pub(super) fn is_balanced(&self) -> bool {
        self.ceiling < self.floor
    }
}
