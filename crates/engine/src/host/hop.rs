//! One next hop: who it is, whether it still is, and what became of it during the trial.

use netdyno_frame::parse::Tag;
use netdyno_frame::spec::Mac;
use std::net::IpAddr;

/// An unanswered poll is repeated after this long (RFC 4861 section 10, RETRANS_TIMER: 1 s).
const REPEAT_PS: u64 = 1_000_000_000_000;
/// Polls in a row without an answer before the next hop counts as silent (RFC 4861 section 10, MAX_UNICAST_SOLICIT).
const PATIENCE: u32 = 3;
/// Changes of address, and silences, of one next hop that are kept: two boxes with one address change it with each answer.
const MOST_KEPT: usize = 32;

/// How to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Everybody: it is not known, or does not answer.
    All,
    /// This one alone, whether it still is there.
    One(Mac),
}

/// A next hop's MAC address became another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub at_ps: u64,
    pub from: Mac,
    pub to: Mac,
}

/// A next hop that a stream wants.
#[derive(Clone, Debug)]
pub struct NextHop {
    pub tags: Vec<Tag>,
    pub address: IpAddr,
    pub mac: Option<Mac>,
    /// The tags of a message from its address that came with others than it was asked with.
    pub elsewhere: Option<Vec<Tag>>,
    /// When it is polled next; `u64::MAX` is never.
    due_ps: u64,
    /// Polls since it was heard last.
    open: u32,
    /// When the first of them was.
    open_ps: u64,
    /// Polls sent.
    pub polls: u64,
    /// Messages heard from it.
    pub heard: u64,
    pub changes: Vec<Change>,
    /// Changes beyond those kept.
    pub further_changes: u64,
    /// From the first poll it did not answer until it was heard again.
    pub silences: Vec<(u64, Option<u64>)>,
}

impl NextHop {
    pub fn new(tags: &[Tag], address: IpAddr) -> Self {
        Self {
            tags: tags.to_vec(),
            address,
            mac: None,
            elsewhere: None,
            due_ps: u64::MAX,
            open: 0,
            open_ps: 0,
            polls: 0,
            heard: 0,
            changes: Vec::new(),
            further_changes: 0,
            silences: Vec::new(),
        }
    }

    /// Marks the hop resolved and polls it every `every_ps` from `at_ps` on; never if that is 0.
    pub fn poll_from(&mut self, at_ps: u64, every_ps: u64) {
        self.due_ps = if every_ps == 0 { u64::MAX } else { at_ps.saturating_add(every_ps) };
    }

    pub fn next_poll(&self) -> u64 {
        self.due_ps
    }

    /// The poll due at or before `now_ps`, and when it was due.
    pub fn poll(&mut self, now_ps: u64) -> Option<(u64, Question)> {
        let at = self.due_ps;
        if at > now_ps {
            return None;
        }
        if self.open == 0 {
            self.open_ps = at;
        } else if self.open == PATIENCE && self.silences.len() < MOST_KEPT {
            self.silences.push((self.open_ps, None));
        }
        // Who does not answer may have been replaced by another host: then all are asked, as after the entry of a
        // neighbour cache is gone.
        let question = match self.mac {
            Some(mac) if self.open < PATIENCE => Question::One(mac),
            _ => Question::All,
        };
        self.open = self.open.saturating_add(1);
        self.polls += 1;
        self.due_ps = at + REPEAT_PS;
        Some((at, question))
    }

    /// It spoke at `at_ps`. `mac` is its MAC address as far as that was said and is to be believed. `Some` if it is
    /// another one than before.
    pub fn hear(&mut self, mac: Option<Mac>, at_ps: u64, every_ps: u64) -> Option<Mac> {
        self.heard += 1;
        self.open = 0;
        if let Some((_, until @ None)) = self.silences.last_mut() {
            *until = Some(at_ps);
        }
        if self.due_ps != u64::MAX {
            self.poll_from(at_ps, every_ps);
        }
        let to = mac.filter(|&mac| self.mac != Some(mac))?;
        let from = self.mac.replace(to)?;
        if self.changes.len() < MOST_KEPT {
            self.changes.push(Change { at_ps, from, to });
        } else {
            self.further_changes += 1;
        }
        Some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;
    const EVERY: u64 = 10 * SECOND;

    fn known(mac: u8) -> NextHop {
        let mut hop = NextHop::new(&[], "192.0.2.1".parse().unwrap());
        assert_eq!(hop.hear(Some(Mac([2, 0, 0, 0, 0, mac])), 0, EVERY), None);
        hop.poll_from(0, EVERY);
        hop
    }

    /// RFC 4861 section 7.3.3: three unicast solicitations a second apart; then the entry is as if deleted.
    #[test]
    fn who_does_not_answer_is_asked_three_times_alone_and_then_among_all() {
        let mut hop = known(1);
        let one = Question::One(Mac([2, 0, 0, 0, 0, 1]));
        assert_eq!(hop.poll(EVERY - 1), None);
        for number in 0..3 {
            let at = EVERY + number * SECOND;
            assert_eq!(hop.poll(at), Some((at, one)));
            assert_eq!(hop.poll(at), None);
            assert_eq!(hop.silences, []);
        }
        for number in 3..6 {
            let at = EVERY + number * SECOND;
            assert_eq!(hop.poll(at), Some((at, Question::All)));
            assert_eq!(hop.silences, [(EVERY, None)], "silent from the first poll it left open");
        }
        // Another host answers.
        let other = Mac([2, 0, 0, 0, 0, 9]);
        assert_eq!(hop.hear(Some(other), 17 * SECOND, EVERY), Some(other));
        assert_eq!(hop.silences, [(EVERY, Some(17 * SECOND))]);
        assert_eq!(hop.poll(27 * SECOND), Some((27 * SECOND, Question::One(other))));
        assert_eq!((hop.polls, hop.heard), (7, 2));
    }

    #[test]
    fn an_answer_puts_the_next_poll_off() {
        let mut hop = known(1);
        assert!(hop.poll(EVERY).is_some());
        assert_eq!(hop.hear(None, EVERY + 5, EVERY), None);
        assert_eq!(hop.next_poll(), 2 * EVERY + 5);
        assert_eq!(hop.silences, []);
    }

    #[test]
    fn two_boxes_with_one_address_fill_no_memory() {
        let mut hop = known(1);
        for number in 0..1000_u64 {
            let mac = Mac([2, 0, 0, 0, 0, number as u8 % 2]);
            assert_eq!(hop.hear(Some(mac), number, EVERY), Some(mac));
        }
        assert_eq!(
            (hop.changes.len() as u64 + hop.further_changes, hop.changes.len()),
            (1000, MOST_KEPT)
        );
    }

    #[test]
    fn polling_switched_off_polls_no_next_hop() {
        let mut hop = known(1);
        hop.poll_from(0, 0);
        assert_eq!(hop.poll(u64::MAX - 1), None);
    }
}
