//! Intervals of a trial's traffic: each is noted for whoever watches once what was sent in it had time to arrive.

use super::Trial;
use super::progress::{IntervalSnapshot, StreamSnapshot};

/// How long frames are waited for: twice the longest latency so far, between these.
const LEAST_PS: u64 = 20_000_000_000;
const MOST_PS: u64 = 1_000_000_000_000;

impl Trial {
    /// Traffic begins at `at`, and intervals with it, if any are asked for. Of several workers none knows them.
    pub(super) fn begin_intervals(&mut self, at: u64) {
        let length_ps = self.spec.observe.interval_ns * 1000;
        if length_ps > 0 && self.is_alone {
            self.worker.receiver.begin_intervals(at, length_ps);
            self.interval_ps = at + length_ps + LEAST_PS;
        }
    }

    /// Notes the intervals that are over at `now`. One that the end of traffic cut short is in the result alone.
    pub(super) fn note_intervals(&mut self, now: u64) {
        while now >= self.interval_ps {
            let length_ps = self.spec.observe.interval_ns * 1000;
            let end_ps = self.times.traffic + (self.interval as u64 + 1) * length_ps;
            if end_ps > self.halted_ps.unwrap_or(self.times.traffic + self.duration_ps) {
                self.interval_ps = u64::MAX;
                return;
            }
            let streams = &self.worker.receiver.streams;
            let longest_ps = streams.iter().map(|stream| stream.timing.longest_ns() * 1000).max().unwrap_or(0);
            let ready_ps = end_ps + (2 * longest_ps).clamp(LEAST_PS, MOST_PS);
            if now < ready_ps {
                self.interval_ps = ready_ps;
                return;
            }
            self.worker.receiver.end_intervals(end_ps);
            if !self.progress.note(self.interval_snapshot()) {
                return; // The next round tries again.
            }
            self.interval += 1;
            self.interval_ps = end_ps + length_ps + LEAST_PS;
        }
    }

    fn interval_snapshot(&self) -> IntervalSnapshot {
        let samples = (self.spec.observe.interval_ns / self.spec.sample_ns.max(1)).max(1) as usize;
        let range = self.interval * samples..(self.interval + 1) * samples;
        let sum = |bins: &[u64]| range.clone().filter_map(|index| bins.get(index)).sum();
        let streams = self.spec.streams.iter().enumerate().map(|(index, stream)| {
            let lanes = &self.worker.senders[stream.tx_port].lanes;
            let lane = lanes.iter().find(|lane| lane.stream == index);
            let arrivals = &self.worker.receiver.streams[index];
            StreamSnapshot {
                sent: lane.map_or(0, |lane| sum(lane.tx.bins())),
                received: sum(arrivals.arrived.bins()),
                late_ns: lane.map_or(0, |lane| lane.lag.longest_ns(range.clone())),
                latency: arrivals.intervals.get(self.interval).cloned().unwrap_or_default(),
            }
        });
        IntervalSnapshot {
            number: self.interval as u64,
            streams: streams.collect(),
        }
    }
}
