//! What a trial does to stay on the network: it announces its addresses, polls its next hops, and follows them.

use super::coordination::Answer;
use super::{ANSWER_PS, Stage, Trial};
use crate::host::same_vlans;

impl Trial {
    /// Tells the network whose the own addresses are.
    pub(super) fn announce(&mut self, at: u64) {
        for (host, sender) in self.hosts.iter().zip(&mut self.worker.senders) {
            for frame in host.announcements() {
                sender.own(at, frame);
            }
        }
    }

    /// Next hops are resolved at `at`, and polled from now on.
    pub(super) fn keep_next_hops(&mut self, at: u64) {
        self.hosts.iter_mut().for_each(|host| host.poll_from(at));
        self.plan_polls();
    }

    /// Finds out when the next poll is due.
    fn plan_polls(&mut self) {
        let due = self.hosts.iter().map(crate::host::Host::next_poll).min();
        self.poll_ps = due.unwrap_or(u64::MAX);
    }

    /// Finds out when the next hello is due.
    pub(super) fn plan_hellos(&mut self) {
        self.hello_ps = self.hosts.iter().map(|host| host.adjacent.due_ps()).min().unwrap_or(u64::MAX);
    }

    /// Polls that are due. Before what else is due by then is sent, so that each finds its place by its time.
    pub(super) fn poll(&mut self, now: u64) {
        if now < self.poll_ps {
            return;
        }
        for (host, sender) in self.hosts.iter_mut().zip(&mut self.worker.senders) {
            for (at, frame) in host.polls(now) {
                sender.own(at, frame);
            }
        }
        self.plan_polls();
    }

    /// What the script and the ports' neighbours have due. Before what else is due by then is sent, as with polls.
    pub(super) fn say(&mut self, now: u64) {
        if now >= self.hello_ps {
            for (host, sender) in self.hosts.iter_mut().zip(&mut self.worker.senders) {
                for (at, frame) in host.adjacent.due(now, host.mac(), ANSWER_PS) {
                    sender.own(at, frame);
                }
            }
            self.plan_hellos();
        }
        if now < self.script.due_ps() {
            return;
        }
        for due in self.script.due(now, &self.hosts) {
            self.worker.senders[due.port].say(due.at_ps, due.which, due.bytes);
        }
    }

    /// The streams of port `number` follow their next hops to the MAC addresses these have now, as heard at `at`: a
    /// router that took over from another, a card that was changed.
    pub(super) fn follow(&mut self, number: usize, at: u64) {
        self.plan_polls();
        for (tags, address, mac) in self.hosts[number].take_changed() {
            if matches!(self.stage, Stage::New | Stage::Resolve { .. }) {
                continue; // all are set when all have answered
            }
            let after = if self.exact { ANSWER_PS } else { 0 };
            let spec = &self.spec;
            let theirs = self
                .hops
                .iter()
                .filter(|hop| spec.head(hop.port) == number && hop.address == address);
            for hop in theirs.filter(|hop| same_vlans(&hop.tags, tags)) {
                let (port, lane) = (hop.port, hop.lane);
                self.worker.senders[port].redirect(at + after, lane, mac);
                self.coordination.redirect(Answer { port, lane, mac });
            }
        }
    }
}
