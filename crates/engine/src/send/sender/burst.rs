//! One burst: which frames are in it, what it holds, and what is counted when the port has taken it.

use super::Sender;
use crate::send::block::BLOCK;
use crate::send::lane::Lane;
use netdyno_io::port::{Burst, Port, PortError};
use netdyno_io::time::Instant;

impl Sender {
    /// Sends one burst of the test frames due at or before `bound`, of which no more than `left` may leave. Whether all written
    /// were taken.
    pub(super) fn burst(&mut self, port: &mut dyn Port, now: Instant, bound: u64, left: &mut u64) -> Result<bool, PortError> {
        let mut written = 0;
        // No more slots than frames: a port has work with each one it lends.
        let latest = bound - self.start_ps;
        let ready: usize = self.lanes.iter().map(|lane| due(lane.departures.block().0, latest)).sum();
        let most = (ready.min(BLOCK) as u64).min(*left) as usize;
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
            self.lanes.iter_mut().for_each(Lane::back);
        }
        Ok(taken == written && written > 0)
    }

    /// Writes frames of the only stream, all of whose slots are for frames due at or before `bound`. How many.
    fn write_one(&mut self, only: usize, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
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
            let on_line_ps = self.start_ps + times[0] + lane.wait_ps(lane.ahead.number());
            self.latest_ps = self.latest_ps.max(now.ps.saturating_sub(on_line_ps));
        }
        lane.write(burst, &self.at[..count]);
        count
    }

    /// Writes frames of several streams in order of departure. How many.
    fn write_merged(&mut self, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
        let mut free = self.free_ps;
        self.places.fill(0);
        let mut count = 0;
        while count < burst.len().min(BLOCK) {
            let (mut chosen, mut earliest) = (usize::MAX, u64::MAX);
            for (number, lane) in self.lanes.iter().enumerate() {
                match lane.departures.block().0.get(self.places[number]) {
                    Some(&time) if time < earliest => (chosen, earliest) = (number, time),
                    // This block is used up, and what follows it may come first: the burst ends here.
                    None if self.places[number] > 0 => return count,
                    _ => {}
                }
            }
            let intended = self.start_ps.saturating_add(earliest);
            let at = if self.exact { intended.max(free) } else { now.ps };
            if intended.max(if self.exact { at } else { 0 }) > bound || chosen == usize::MAX {
                break;
            }
            let lane = &mut self.lanes[chosen];
            let on_line_ps = intended + lane.wait_ps(lane.ahead.number());
            self.latest_ps = self.latest_ps.max(at.saturating_sub(on_line_ps));
            let size = lane.departures.block().1[self.places[chosen]];
            let len = lane.template.write(&mut lane.cursor, usize::from(size), at, burst.frame_mut(count));
            lane.pass();
            burst.set(count, len, Instant { ps: at });
            self.at[count] = at;
            self.lane_of[count] = chosen as u8;
            self.places[chosen] += 1;
            free = at + lane.line_ps[usize::from(size)];
            count += 1;
        }
        count
    }

    /// Counts the `taken` frames of a burst and goes past them.
    fn account(&mut self, taken: usize) {
        let (first, last) = (self.at[0], self.at[taken - 1]);
        let start_ps = self.start_ps;
        self.last_departure_ps = last;
        self.frames += taken as u64;
        if let Some(lane) = self.only.and_then(|only| self.lanes.get_mut(only)) {
            let (times, sizes) = lane.departures.block();
            let (times, sizes) = (&times[..taken], &sizes[..taken]);
            if self.exact {
                lane.lag.record_each(&self.at[..taken], times, start_ps, self.burst_ps);
            } else {
                // All have the departure of their burst: each counts as late as the first of them.
                let on_line_ps = start_ps + times[0] + lane.wait_ps(lane.walk.number());
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
        for index in 0..taken {
            let lane = &mut self.lanes[usize::from(self.lane_of[index])];
            let (at, size) = (self.at[index], lane.departures.peek_size());
            let lag_ps = at.saturating_sub(start_ps + lane.departures.peek() + lane.wait_ps(lane.walk.number()));
            if self.exact && (lag_ps > 0 || lane.lag.was_late()) {
                lane.lag.record(at, lag_ps, lag_ps, 1);
            } else {
                lane.burst = (lane.burst.0 + 1, lane.burst.1.max(lag_ps), lag_ps);
            }
            self.tx.add(at, 1);
            self.tx_bytes.add(at, lane.sizes[size]);
            lane.tx.add(at, 1);
            lane.offered += 1;
            lane.offered_bytes += lane.sizes[size];
            self.bytes += lane.sizes[size];
            self.free_ps = at + lane.line_ps[size];
            lane.walk.pass(1);
            lane.departures.advance(1);
        }
        for lane in self.lanes.iter_mut().filter(|lane| lane.burst.0 > 0) {
            let (frames, lag_ps, rest_ps) = std::mem::take(&mut lane.burst);
            if self.exact {
                lane.lag.record_on_time(frames);
            } else {
                lane.lag.record(first, lag_ps, rest_ps, frames);
            }
        }
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
