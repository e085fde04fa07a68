//! One burst: which frames are in it, what it holds, and what is counted when the port has taken it.

use super::Sender;
use crate::send::block::BLOCK;
use netdyno_io::port::{Burst, Port, PortError};
use netdyno_io::time::Instant;

impl Sender {
    /// Sends one burst of the test frames due at or before `bound`, of which no more than `left` may leave. Whether all written
    /// were taken.
    pub(super) fn burst(&mut self, port: &mut dyn Port, now: Instant, bound: u64, left: &mut u64) -> Result<bool, PortError> {
        let mut written = 0;
        // No more slots than frames: a port has work with each one it lends.
        let most = (due(self.next_times(), bound - self.start_ps) as u64).min(*left) as usize;
        let taken = port.transmit(now, most, &mut |burst| {
            written = match self.only {
                Some(only) => self.write_one(only, burst, now, bound),
                None => self.write_merged(burst, now, bound),
            };
            written
        })?;
        // A round is one of so many bursts, which takes its time however short they are. But those of a part of a stream are
        // short as such, and would never be as many frames.
        let counted = if self.has_parts && taken == most { taken } else { BLOCK };
        *left = left.saturating_sub(counted as u64);
        if taken > 0 {
            self.account(taken);
        }
        if taken < written {
            // The others stay due.
            match (self.only, &mut self.many) {
                (Some(only), _) => self.lanes[only].back(),
                (None, Some(many)) => many.back(&mut self.lanes, written - taken),
                (None, None) => {}
            }
        }
        Ok(taken == written && written > 0)
    }

    /// When the next frames are due, a block of them at most.
    fn next_times(&self) -> &[u64] {
        let times = match (self.only, &self.many) {
            (Some(only), _) => self.lanes[only].departures.block().0,
            (None, Some(many)) => many.merged.block().0,
            (None, None) => &[],
        };
        &times[..times.len().min(BLOCK)]
    }

    /// Writes frames of several streams, all of whose slots are for frames due at or before `bound`. How many.
    fn write_merged(&mut self, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
        let Some(many) = &mut self.many else { return 0 };
        let room = burst.len().min(BLOCK);
        let count = if self.exact {
            many.depart(self.start_ps, self.free_ps, bound, &mut self.at[..room])
        } else {
            self.at[..room].fill(now.ps);
            room
        };
        if self.is_shifted {
            let (_, numbers, _) = many.merged.block();
            let mut shifted = self.at;
            for (at, &number) in shifted.iter_mut().zip(&numbers[..count]) {
                *at = at.wrapping_add_signed(self.lanes[usize::from(number)].shift_ps);
            }
            many.write(&mut self.lanes, burst, &shifted[..count]);
        } else {
            many.write(&mut self.lanes, burst, &self.at[..count]);
        }
        count
    }

    /// Writes frames of the only stream, all of whose slots are for frames due at or before `bound`. How many.
    fn write_one(&mut self, only: usize, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
        let waits = self.waits;
        let lane = &mut self.lanes[only];
        let (times, sizes) = lane.departures.block();
        let room = burst.len().min(times.len());
        let mut count = 0;
        let spacing = match lane.line_ps[..] {
            [line_ps] => line_ps,
            _ => u64::MAX,
        };
        if self.exact && self.start_ps + times[0] >= self.free_ps && are_apart(&times[..room], spacing) {
            // Nobody has to wait for the line.
            self.burst_ps = 0;
            for (at, time) in self.at.iter_mut().zip(&times[..room]) {
                *at = self.start_ps + time;
            }
            count = room;
        } else if self.exact {
            let mut free = self.free_ps;
            let mut latest = 0;
            while count < room {
                let intended = self.start_ps + times[count];
                let at = intended.max(free);
                if at > bound {
                    break;
                }
                latest = latest.max(at - intended);
                self.at[count] = at;
                free = at + lane.line_ps[usize::from(sizes[count])];
                count += 1;
            }
            self.burst_ps = latest;
            self.latest_ps = self.latest_ps.max(latest);
        } else {
            count = room;
            self.at[..count].fill(now.ps);
            let wait_ps = if waits { lane.wait_ps(lane.ahead.number()) } else { 0 };
            let on_line_ps = self.start_ps + times[0] + wait_ps;
            self.latest_ps = self.latest_ps.max(now.ps.saturating_sub(on_line_ps));
        }
        if self.is_shifted {
            let shifted = self.at.map(|at| at.wrapping_add_signed(lane.shift_ps));
            lane.write(burst, &shifted[..count]);
        } else {
            lane.write(burst, &self.at[..count]);
        }
        count
    }

    /// Counts the `taken` frames of a burst and goes past them.
    fn account(&mut self, taken: usize) {
        let (first, last) = (self.at[0], self.at[taken - 1]);
        let (start_ps, waits) = (self.start_ps, self.waits);
        self.last_departure_ps = last;
        self.frames += taken as u64;
        if let Some(lane) = self.only.and_then(|only| self.lanes.get_mut(only)) {
            let (times, sizes) = lane.departures.block();
            let (times, sizes) = (&times[..taken], &sizes[..taken]);
            if self.exact {
                lane.lag.record_each(&self.at[..taken], times, start_ps, self.burst_ps);
            } else {
                // All have the departure of their burst: each counts as late as the first of them.
                let wait_ps = if waits { lane.wait_ps(lane.walk.number()) } else { 0 };
                let on_line_ps = start_ps + times[0] + wait_ps;
                let rest_ps = first.saturating_sub(on_line_ps + (times[taken - 1] - times[0]));
                lane.lag.record(first, first.saturating_sub(on_line_ps), rest_ps, taken as u64);
            }
            let bytes = match lane.sizes[..] {
                [size] => size * taken as u64,
                ref table => sizes.iter().map(|&size| table[usize::from(size)]).sum(),
            };
            self.free_ps = last + lane.line_ps[usize::from(sizes[taken - 1])];
            self.tx.add(first, 0);
            if self.tx.holds(last) {
                self.tx.add(first, taken as u64);
                self.tx_bytes.add(first, bytes);
                lane.tx.add(first, taken as u64);
            } else {
                for (&at, &size) in self.at[..taken].iter().zip(sizes) {
                    self.tx.add(at, 1);
                    self.tx_bytes.add(at, lane.sizes[usize::from(size)]);
                    lane.tx.add(at, 1);
                }
            }
            lane.offered += taken as u64;
            lane.offered_bytes += bytes;
            self.bytes += bytes;
            lane.walk.advance(taken as u64);
            lane.departures.advance(taken);
            return;
        }
        let Some(many) = &mut self.many else { return };
        let (lanes, tx, tx_bytes) = (&mut self.lanes, &mut self.tx, &mut self.tx_bytes);
        let sent = if self.exact {
            many.account(lanes, &self.at[..taken], start_ps, tx, tx_bytes)
        } else {
            many.account_at_once(lanes, first, taken, start_ps, tx, tx_bytes)
        };
        self.bytes += sent.bytes;
        self.latest_ps = self.latest_ps.max(sent.latest_ps);
        self.free_ps = sent.free_ps;
    }
}

/// How many of `times`, which ascend, are not after `bound`.
#[inline]
fn due(times: &[u64], bound: u64) -> usize {
    match times.last() {
        Some(&last) if last <= bound => times.len(),
        // Of so few, counting side by side is faster than bisecting.
        _ => times.iter().map(|&time| usize::from(time <= bound)).sum(),
    }
}

/// Whether each of `times` is at least `spacing` after the one before it.
#[inline]
fn are_apart(times: &[u64], spacing: u64) -> bool {
    let too_near = times.iter().zip(&times[1..]).map(|(one, next)| u64::from(next - one < spacing));
    too_near.sum::<u64>() == 0
}
