//! A port with several streams: merged a window at a time, written a burst at a time, whichever streams its frames are of.

use super::rows::{Rows, first_row};
use super::tally::{LAGS, Tally};
use crate::observe::Series;
use crate::send::block::BLOCK;
use crate::send::lane::{Lane, Lent};
use crate::send::merge::Merged;
use crate::send::shared_lags::{Kept, SharedLags};
use netdyno_frame::template::{Mixed, Place, Template};
use netdyno_io::port::Burst;
use netdyno_io::time::Instant;

/// Of so few lanes a burst has many frames each, which are written as those of one stream.
const FEW_LANES: usize = 4;

/// Several streams of one port.
#[derive(Debug)]
pub struct Many {
    pub merged: Merged,
    tallies: Vec<Tally>,
    /// Of each lane, the frames left of the sequence of its flows that it is at.
    left: Vec<u32>,
    /// Frames that tallies and lanes do not know of yet. What sequences they are of is known.
    rows: Rows,
    /// What is to be recorded of each lane's lags.
    lags: Vec<[Kept; LAGS]>,
    /// Where the sizes of each lane begin in the two tables behind; all at the beginning if they are the same for all.
    first: Vec<u32>,
    /// Time on the line, ps.
    line_ps: Vec<u64>,
    /// Bytes, FCS counted.
    bytes: Vec<u64>,
    /// How all their frames are written, if it is the same way and there are more than a few.
    mixed: Option<Mixed>,
    /// Lanes in the burst that is counted.
    burst: Vec<u16>,
    /// Lanes of which another sequence has begun since somebody asked.
    changed: Vec<u16>,
    /// The number of the sample of time in which frames are counted.
    sample: u32,
    /// What is written of each of a few lanes.
    split: Vec<Split>,
    /// Whether frames wait for their line behind others that are handed over at once with them.
    waits: bool,
}

/// What was sent of a burst.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Bytes, FCS counted.
    pub bytes: u64,
    /// How late the latest frame left.
    pub latest_ps: u64,
    /// When the line is free again.
    pub free_ps: u64,
}

/// The frames of one lane in a burst: where in it, when they leave and of which size.
#[derive(Clone, Debug)]
struct Split {
    places: [u8; BLOCK],
    at: [u64; BLOCK],
    sizes: [u16; BLOCK],
    count: usize,
}

impl Many {
    /// The streams of `lanes`.
    pub fn new(lanes: &mut [Lane]) -> Self {
        let is_same = lanes.windows(2).all(|pair| pair[0].sizes == pair[1].sizes);
        let (mut first, mut line_ps, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for lane in lanes.iter() {
            if !is_same || first.is_empty() {
                line_ps.extend_from_slice(&lane.line_ps);
                bytes.extend_from_slice(&lane.sizes);
            }
            first.push((bytes.len() - lane.sizes.len()) as u32);
        }
        // Streams that leave together do not all record their lags at one instant.
        let tally = |(number, lane): (usize, &Lane)| Tally {
            flows: lane.flows as u32,
            most_lags: (1 + number % LAGS) as u8,
            ..Tally::default()
        };
        let split = Split {
            places: [0; BLOCK],
            at: [0; BLOCK],
            sizes: [0; BLOCK],
            count: 0,
        };
        Self {
            tallies: lanes.iter().enumerate().map(tally).collect(),
            left: vec![0; lanes.len()],
            rows: Rows::of(lanes.len()),
            lags: vec![[Kept::default(); LAGS]; lanes.len()],
            split: if lanes.len() <= FEW_LANES {
                vec![split; lanes.len()]
            } else {
                Vec::new()
            },
            merged: Merged::new(lanes),
            first,
            line_ps,
            bytes,
            mixed: Template::mix(lanes.iter().map(|lane| &lane.template)).filter(|_| lanes.len() > FEW_LANES),
            burst: Vec::new(),
            changed: Vec::new(),
            sample: 0,
            waits: lanes.iter().any(|lane| lane.schedule.burst_ps() > 0),
        }
    }

    /// Traffic of `lanes` begins.
    pub fn begin(&mut self, lanes: &mut [Lane]) {
        for (number, lane) in lanes.iter_mut().enumerate() {
            self.seek(number, lane);
        }
    }

    /// What is written next of lane `number` is the first frame that was not sent.
    fn seek(&mut self, number: usize, lane: &mut Lane) {
        lane.back();
        if let Some(mixed) = &mut self.mixed {
            mixed.seek(number, lane.take_run());
        }
    }

    /// The template of lane `number` has changed.
    pub fn renew(&mut self, number: usize, lane: &Lane) {
        if let Some(mixed) = &mut self.mixed {
            lane.template.renew(mixed, number);
        }
    }

    /// When the next frame of lane `number` is due, from the start of traffic, or about that where times are drawn; `None` if it
    /// has none left.
    pub fn next_ps(&self, number: usize, lane: &Lane) -> Option<u64> {
        let number = self.tallies[number].number_behind(self.left[number], lane);
        (lane.own_flows > 0).then(|| lane.schedule.about_ps(number)).flatten()
    }

    /// When the line should come to the next frame.
    pub fn next_on_line(&self, lanes: &[Lane]) -> u64 {
        let (times, numbers, _) = self.merged.block();
        let mut earliest = u64::MAX;
        for (&time, &number) in times.iter().zip(numbers) {
            if time >= earliest {
                break;
            }
            let number = usize::from(number);
            earliest = earliest.min(time + self.tallies[number].wait_ps(&lanes[number]));
        }
        // A burst at once may be longer than the block: others that are due with it are behind it.
        let behind = self.merged.behind().filter(|(_, time)| *time < earliest);
        let behind = behind.map(|(number, time)| time + self.tallies[number].wait_ps(&lanes[number]));
        behind.min().map_or(earliest, |time| time.min(earliest))
    }

    /// When the first frames of the block depart, as many as `at` has room for and can be on the line by `bound`, if it is
    /// free from `free_ps` on (exact time). How many.
    pub fn depart(&self, start_ps: u64, mut free_ps: u64, bound: u64, at: &mut [u64]) -> usize {
        let (times, lanes, sizes) = self.merged.block();
        let mut count = 0;
        for ((at, &time), (&lane, &size)) in at.iter_mut().zip(times).zip(lanes.iter().zip(sizes)) {
            let departure = (start_ps + time).max(free_ps);
            if departure > bound {
                break;
            }
            *at = departure;
            free_ps = departure + self.line_ps[self.first[usize::from(lane)] as usize + usize::from(size)];
            count += 1;
        }
        count
    }

    /// Writes the first frames of the block into `burst`, departing at `at`.
    pub fn write(&mut self, lanes: &mut [Lane], burst: &mut Burst<'_>, at: &[u64]) {
        let (_, numbers, sizes) = self.merged.block();
        let (numbers, sizes) = (&numbers[..at.len()], &sizes[..at.len()]);
        if let Some(mixed) = &mut self.mixed {
            let next = |number: usize| lanes[number].take_run();
            mixed.write(numbers, sizes, at, &mut Lent { burst, first: 0, at }, next);
        } else if !self.split.is_empty() {
            if self.bytes.len() == 1 && at.first() == at.last() && lanes.windows(2).all(|pair| pair[0].shift_ps == pair[1].shift_ps) {
                // All of one size at one time: where they are is all that differs.
                self.find_places(at.len());
                let sizes = self.merged.block().2;
                for (lane, split) in lanes.iter_mut().zip(&self.split) {
                    let count = split.count;
                    lane.deal(burst, &split.places[..count], &sizes[..count], &at[..count]);
                }
                return;
            }
            for split in &mut self.split {
                split.count = 0;
            }
            for (place, ((&number, &size), &at)) in numbers.iter().zip(sizes).zip(at).enumerate() {
                let split = &mut self.split[usize::from(number)];
                let next = split.count % BLOCK;
                (split.places[next], split.sizes[next], split.at[next]) = (place as u8, size, at);
                split.count += 1;
            }
            for (lane, split) in lanes.iter_mut().zip(&self.split) {
                let count = split.count;
                lane.deal(burst, &split.places[..count], &split.sizes[..count], &split.at[..count]);
            }
        } else {
            for (place, ((&number, &size), &at)) in numbers.iter().zip(sizes).zip(at).enumerate() {
                let lane = &mut lanes[usize::from(number)];
                let len = lane.template.write(&mut lane.cursor, usize::from(size), at, burst.frame_mut(place));
                lane.pass();
                burst.set(place, len, Instant { ps: at });
            }
        }
    }

    /// Finds where in a burst of `count` frames those of each of a few lanes are.
    fn find_places(&mut self, count: usize) {
        let numbers = &self.merged.block().1[..count];
        let lanes = self.split.len();
        if self.merged.takes_turns() && lanes < count {
            let first = usize::from(numbers[0]);
            for (lane, split) in self.split.iter_mut().enumerate() {
                // How far behind the first: no division, for there are four lanes at most.
                let offset = if lane < first { lane + lanes - first } else { lane - first };
                split.count = match lanes {
                    2 => (count - offset).div_ceil(2),
                    3 => (count - offset).div_ceil(3),
                    _ => (count - offset).div_ceil(4),
                };
                for (turn, place) in split.places[..split.count].iter_mut().enumerate() {
                    *place = (offset + turn * lanes) as u8;
                }
            }
            return;
        }
        for split in &mut self.split {
            split.count = 0;
        }
        for (place, &number) in numbers.iter().enumerate() {
            let split = &mut self.split[usize::from(number)];
            split.places[split.count % BLOCK] = place as u8;
            split.count += 1;
        }
    }

    /// Counts the first `taken` frames of the block, which all left at `at_ps` (real time), and goes past them.
    pub fn account_at_once(
        &mut self,
        lanes: &mut [Lane],
        at_ps: u64,
        taken: usize,
        start_ps: u64,
        tx: &mut Series,
        tx_bytes: &mut Series,
    ) -> Sent {
        self.sample += u32::from(!tx.holds(at_ps));
        let is_noted = self.note_rows(lanes, at_ps, taken, start_ps);
        let (times, numbers, sizes) = self.merged.block();
        let (times, numbers, sizes) = (&times[..taken], &numbers[..taken], &sizes[..taken]);
        let lag_ps = |time: u64, wait_ps: u64| at_ps.saturating_sub(start_ps + time + wait_ps);
        let is_one_size = self.bytes.len() == 1;
        let mut bytes = if is_one_size { self.bytes[0] * taken as u64 } else { 0 };
        let mut latest_ps = lag_ps(times[0], 0);
        if is_noted {
            // They are counted later, each lane for many frames at once.
        } else if is_one_size && !self.waits && numbers.windows(2).all(|pair| pair[0] < pair[1]) {
            // One frame of each lane. Their histograms lie far apart in memory, so the misses are to overlap.
            for &number in numbers {
                let tally = &self.tallies[usize::from(number)];
                if tally.lags + 1 == tally.most_lags {
                    lanes[usize::from(number)].lag.prefetch(&self.lags[usize::from(number)][0]);
                }
            }
            for (&time, &number) in times.iter().zip(numbers) {
                let tally = &mut self.tallies[usize::from(number)];
                let lag_ps = lag_ps(time, 0);
                tally.enter(self.sample, &mut lanes[usize::from(number)]);
                (tally.burst, tally.latest_ps, tally.rest_ps) = (1, lag_ps, lag_ps);
                tally.count_at_once(&mut self.lags[usize::from(number)], &mut lanes[usize::from(number)], at_ps);
                tally.end_burst(number, &mut self.left[usize::from(number)], &mut self.changed);
            }
        } else if is_one_size && !self.waits && !self.split.is_empty() {
            // What is due first is the latest of its lane.
            for (number, split) in self.split.iter().enumerate() {
                let places = &split.places[..split.count];
                let count = places.partition_point(|&place| usize::from(place) < taken);
                if let [first, ..] = places[..count] {
                    let tally = &mut self.tallies[number];
                    tally.enter(self.sample, &mut lanes[number]);
                    tally.burst = count as u16;
                    tally.latest_ps = lag_ps(times[usize::from(first)], 0);
                    tally.rest_ps = lag_ps(times[usize::from(places[count - 1])], 0);
                    self.burst.push(number as u16);
                }
            }
        } else {
            if self.waits {
                latest_ps = 0;
            }
            for ((&time, &number), &size) in times.iter().zip(numbers).zip(sizes) {
                let tally = &mut self.tallies[usize::from(number)];
                let wait_ps = if self.waits {
                    tally.wait_ps(&lanes[usize::from(number)])
                } else {
                    0
                };
                let lag_ps = lag_ps(time, wait_ps);
                if tally.burst == 0 {
                    tally.enter(self.sample, &mut lanes[usize::from(number)]);
                    self.burst.push(number);
                }
                tally.burst += 1;
                tally.latest_ps = tally.latest_ps.max(lag_ps);
                tally.rest_ps = lag_ps;
                if self.waits {
                    latest_ps = latest_ps.max(lag_ps);
                }
                if !is_one_size {
                    let size = self.bytes[self.first[usize::from(number)] as usize + usize::from(size)];
                    tally.bytes += size;
                    bytes += size;
                }
            }
        }
        tx.add(at_ps, taken as u64);
        tx_bytes.add(at_ps, bytes);
        for number in self.burst.drain(..) {
            let tally = &mut self.tallies[usize::from(number)];
            tally.count_at_once(&mut self.lags[usize::from(number)], &mut lanes[usize::from(number)], at_ps);
            tally.end_burst(number, &mut self.left[usize::from(number)], &mut self.changed);
        }
        self.merged.advance(taken, lanes);
        Sent {
            bytes,
            latest_ps,
            free_ps: 0,
        }
    }

    /// Notes the `taken` first frames of the block if they are in rows, and counts what has been noted long enough. If they are
    /// not, what was noted of their lanes is counted before them.
    fn note_rows(&mut self, lanes: &mut [Lane], at_ps: u64, taken: usize, start_ps: u64) -> bool {
        let (times, numbers, _) = self.merged.block();
        let (mut times, mut numbers) = (&times[..taken], &numbers[..taken]);
        let Self { rows, tallies, lags, .. } = self;
        let mut count =
            |number: usize, sample: u32, sent: &SharedLags| tallies[number].count_kept(sample, &lags[number], sent, &mut lanes[number]);
        if self.bytes.len() > 1 || self.waits || !self.split.is_empty() || !rows.are_rows(times, numbers) {
            rows.count_of(numbers, &mut count);
            return false;
        }
        rows.count_due(&mut count);
        while let Some(&first) = numbers.first() {
            let len = first_row(times, numbers);
            let end = first + len as u16;
            let lag_ps = at_ps.saturating_sub(start_ps + times[0]);
            rows.note(first..end, self.sample, at_ps, lag_ps);
            let left = &mut self.left[usize::from(first)..usize::from(end)];
            if left.iter().fold(false, |any, &left| any | (left == 0)) {
                for (left, number) in left.iter_mut().zip(first..).filter(|(left, _)| **left == 0) {
                    *left = tallies[usize::from(number)].begin_sequence(number, &mut self.changed);
                }
            }
            left.iter_mut().for_each(|left| *left -= 1);
            (times, numbers) = (&times[len..], &numbers[len..]);
        }
        true
    }

    /// Counts of each lane all that is in rows.
    fn count_rows(&mut self, lanes: &mut [Lane]) {
        let Self { rows, tallies, lags, .. } = self;
        rows.count_all(|number, sample, sent| tallies[number].count_kept(sample, &lags[number], sent, &mut lanes[number]));
    }

    /// Counts the first frames of the block, each of which left at a time of its own (virtual time), and goes past them.
    pub fn account(&mut self, lanes: &mut [Lane], at: &[u64], start_ps: u64, tx: &mut Series, tx_bytes: &mut Series) -> Sent {
        let mut sent = Sent::default();
        let mut from = 0;
        while let Some(&first) = at.get(from) {
            // Those of one sample of time; most often all.
            self.sample += u32::from(!tx.holds(first));
            tx.add(first, 0);
            let count = at[from..].partition_point(|&at| tx.holds(at));
            let bytes = if self.bytes.len() == 1 {
                self.account_sample::<true>(lanes, from, &at[from..from + count], start_ps, &mut sent)
            } else {
                self.account_sample::<false>(lanes, from, &at[from..from + count], start_ps, &mut sent)
            };
            tx.add(first, count as u64);
            tx_bytes.add(first, bytes);
            sent.bytes += bytes;
            for number in self.burst.drain(..) {
                let left = &mut self.left[usize::from(number)];
                self.tallies[usize::from(number)].end_burst(number, left, &mut self.changed);
            }
            from += count;
        }
        self.merged.advance(at.len(), lanes);
        sent
    }

    /// Counts frames from `from` on of the block, which left in one sample of time and are all of one size if `ONE_SIZE`. Returns
    /// their bytes.
    #[inline(always)]
    fn account_sample<const ONE_SIZE: bool>(&mut self, lanes: &mut [Lane], from: usize, at: &[u64], start_ps: u64, sent: &mut Sent) -> u64 {
        let (times, numbers, sizes) = self.merged.block();
        let frames = at.iter().zip(&times[from..]).zip(numbers[from..].iter().zip(&sizes[from..]));
        let mut bytes = 0;
        for ((&at, &time), (&number, &size)) in frames {
            let tally = &mut self.tallies[usize::from(number)];
            let lag_ps = at.saturating_sub(start_ps + time);
            sent.latest_ps = sent.latest_ps.max(lag_ps);
            if tally.burst == 0 {
                tally.enter(self.sample, &mut lanes[usize::from(number)]);
                tally.at_ps = at;
                self.burst.push(number);
            }
            tally.burst += 1;
            if !ONE_SIZE {
                let size = self.bytes[self.first[usize::from(number)] as usize + usize::from(size)];
                tally.bytes += size;
                bytes += size;
            }
            if lag_ps > 0 || tally.was_late {
                let lag = &mut lanes[usize::from(number)].lag;
                lag.record(at, lag_ps, lag_ps, 1);
                tally.timed += 1;
                tally.was_late = lag.was_late();
            }
        }
        if let ([.., last], [.., number], [.., size]) = (at, &numbers[..from + at.len()], &sizes[..from + at.len()]) {
            sent.free_ps = last + self.line_ps[self.first[usize::from(*number)] as usize + usize::from(*size)];
        }
        if ONE_SIZE { self.bytes[0] * at.len() as u64 } else { bytes }
    }

    /// Frames that were written of the block, `count` of them, were not sent: they stay due.
    #[cold]
    pub fn back(&mut self, lanes: &mut [Lane], count: usize) {
        let (_, numbers, _) = self.merged.block();
        let numbers: Vec<u16> = numbers[..count.min(numbers.len())].to_vec();
        let Self { rows, tallies, lags, .. } = self;
        rows.count_of(&numbers, |number, sample, left| {
            tallies[number].count_kept(sample, &lags[number], left, &mut lanes[number])
        });
        for number in numbers.into_iter().map(usize::from) {
            self.tallies[number].settle(&mut lanes[number]);
            self.seek(number, &mut lanes[number]);
        }
    }

    /// Puts down with each lane what was counted of it.
    pub fn settle(&mut self, lanes: &mut [Lane]) {
        self.count_rows(lanes);
        for ((tally, lags), lane) in self.tallies.iter_mut().zip(&self.lags).zip(lanes) {
            tally.record(lags, lane);
            tally.settle(lane);
        }
    }

    /// The streams of which another sequence has begun since this was last asked, and one more than the highest of any of their
    /// flows.
    pub fn changed<'a>(&'a mut self, lanes: &'a [Lane]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let tallies = &mut self.tallies;
        self.changed.drain(..).map(move |number| {
            let tally = &mut tallies[usize::from(number)];
            tally.is_changed = false;
            (lanes[usize::from(number)].stream, tally.sequences)
        })
    }
}

impl Lane {
    /// Where the next frames that follow each other are in the stream; goes past them.
    fn take_run(&mut self) -> Place {
        // Streams of one flow come here at each frame.
        let (sequence, flow) = match self.flows {
            1 => (self.ahead.number() as u32, 0),
            flows => ((self.ahead.number() / flows) as u32, (self.ahead.number() % flows) as u32),
        };
        let run = self.ahead.left().min(self.flows - u64::from(flow));
        self.ahead.pass(run);
        Place {
            flow,
            sequence,
            end: flow + run as u32,
        }
    }
}
