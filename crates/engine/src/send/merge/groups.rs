//! Lanes that depart together, and the order of what several such groups have due.

use super::ahead::Ahead;
use super::frames::{FRAMES, Frames, MOST_FRAMES, SOME};
use crate::send::block::BLOCK;
use crate::send::lane::Lane;
use std::ops::Range;

/// The most frames in a window: those beside which others of the same group are due at once.
const ROOM: usize = MOST_FRAMES + BLOCK;
/// The longest window, ps: times within it fit a key.
const LONGEST_PS: u64 = 1 << 46;
/// Bits of a key behind its time: the place of the frame among those gathered.
const PLACE_BITS: u32 = 12;
/// Of so many frames sorting takes less time than dealing.
const FEW: usize = 16;
/// How many groups' next departures are looked at together.
const SIDE: usize = 8;

/// Lanes beside each other whose frames are all due at the same times: merged as one.
#[derive(Debug)]
pub struct Groups {
    /// Which lanes each of them has.
    of: Vec<Range<usize>>,
    /// Frames of a window, by group.
    merged: Frames,
    /// When each group's next frame that is not merged is due; `u64::MAX` if it has none.
    next: Vec<u64>,
    /// The next ones of each group, that one included.
    ahead: Ahead,
    window_ps: u64,
    /// Whether many were due at one instant, the last time.
    is_at_once: bool,
    /// Whether one had many due before any other.
    is_run: bool,
    scratch: Scratch,
}

/// Memory that is used anew for each window.
#[derive(Debug)]
struct Scratch {
    /// Groups with frames due in it.
    due: Vec<u16>,
    /// Those frames, group by group.
    found: Frames,
    /// Time from the start of the window, and place.
    keys: Vec<u64>,
    /// Where each bucket begins.
    starts: Vec<u32>,
}

impl Groups {
    pub fn new(lanes: &mut [Lane]) -> Self {
        let mut of: Vec<Range<usize>> = Vec::new();
        for lane in 0..lanes.len() {
            match of.last_mut() {
                Some(group) if lanes[lane].departs_with(&lanes[group.start]) => group.end = lane + 1,
                _ => of.push(lane..lane + 1),
            }
        }
        let ahead = Ahead::new(&of, lanes);
        let mut next: Vec<u64> = (0..of.len()).map(|group| ahead.peek(group)).collect();
        next.resize(next.len().next_multiple_of(SIDE), u64::MAX);
        Self {
            of,
            merged: Frames::with_room(ROOM),
            next,
            ahead,
            window_ps: 1,
            is_at_once: false,
            is_run: false,
            scratch: Scratch {
                due: Vec::new(),
                found: Frames::with_room(ROOM),
                keys: vec![0; ROOM],
                starts: Vec::new(),
            },
        }
    }

    /// Whether all lanes depart together.
    pub fn is_one(&self) -> bool {
        self.of.len() == 1
    }

    /// The lanes of a group.
    pub fn lanes_of(&self, group: u16) -> &Range<usize> {
        &self.of[usize::from(group)]
    }

    /// The first lane of each and when its next frame is due that is not merged, if there is one.
    pub fn behind(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let firsts = self.of.iter().map(|lanes| lanes.start);
        firsts.zip(self.next.iter().copied()).filter(|(_, next)| *next != u64::MAX)
    }

    /// The frames of the window that was merged last, by group.
    pub fn merged(&self) -> &Frames {
        &self.merged
    }

    /// Merges the next window. Whether there is any.
    pub fn merge(&mut self, lanes: &mut [Lane]) -> bool {
        self.merged.count = 0;
        let first = self.next.iter().copied().min().unwrap_or(u64::MAX);
        if first == u64::MAX {
            return false;
        }
        if self.is_one() {
            self.merge_only(lanes);
        } else if self.is_at_once {
            self.merge_instant(lanes, first);
        } else if self.is_run {
            self.merge_run(lanes, first);
        } else {
            self.merge_window(lanes, first);
        }
        true
    }

    /// Merges what is at hand of the only group.
    fn merge_only(&mut self, lanes: &mut [Lane]) {
        let (frames, (times, kinds)) = (&mut self.merged, self.ahead.of(0));
        frames.count = times.len();
        frames.times[..times.len()].copy_from_slice(times);
        frames.sizes[..times.len()].copy_from_slice(kinds);
        frames.lanes[..times.len()].fill(0);
        self.ahead.advance(0, frames.count, &mut lanes[self.of[0].start]);
        self.next[0] = self.ahead.peek(0);
    }

    /// Merges what is due at `first`: of streams of one rate that began together all have a frame at each instant.
    fn merge_instant(&mut self, lanes: &mut [Lane], first: u64) {
        let frames = &mut self.merged;
        'all: for (block, times) in self.next.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            if times.iter().fold(true, |none, &time| none & (time != first)) {
                continue;
            }
            for (place, time) in times.iter_mut().enumerate().filter(|(_, time)| **time == first) {
                let lane = block * SIDE + place;
                let count = frames.count;
                if count == MOST_FRAMES {
                    break 'all;
                }
                (frames.times[count], frames.lanes[count]) = (first, lane as u16);
                (frames.sizes[count], *time) = self.ahead.take(lane, &mut lanes[self.of[lane].start]);
                frames.count += 1;
                // More of it at this instant comes before others.
                if *time == first {
                    break 'all;
                }
            }
        }
        self.is_at_once = frames.count >= SOME;
    }

    /// Merges what one group has due from `first` on before any other: as it is with bursts.
    fn merge_run(&mut self, lanes: &mut [Lane], first: u64) {
        let Some(group) = self.next.iter().position(|&time| time == first) else {
            return;
        };
        self.next[group] = u64::MAX;
        let until = self.next.iter().copied().min().unwrap_or(u64::MAX);
        let (frames, lane) = (&mut self.merged, &mut lanes[self.of[group].start]);
        let mut next = first;
        // Of those that are due at the first instant it is the lowest.
        while frames.count < MOST_FRAMES && (next < until || next == first) {
            let count = frames.count;
            (frames.times[count], frames.lanes[count]) = (next, group as u16);
            (frames.sizes[count], next) = self.ahead.take(group, lane);
            frames.count += 1;
        }
        self.next[group] = next;
        self.is_run = frames.count >= SOME;
    }

    /// Merges a window that begins at `first`.
    fn merge_window(&mut self, lanes: &mut [Lane], first: u64) {
        let (until, last) = self.window(first);
        // No more than so many frames of each group, so that a window has a bound: two at least, or the first of all ends it.
        let most = (MOST_FRAMES / self.scratch.due.len()).clamp(1, self.ahead.depth);
        let cut = self.cut(lanes, (until, last), most);
        self.gather(lanes, cut);
        if self.scratch.due.len() == 2 {
            self.take_turns();
        } else {
            self.sort(first, cut.0);
        }
        // Twice as long or half as long, until it holds about as many as it should.
        let found = self.merged.count;
        if found < FRAMES / 2 && cut.0 == until {
            self.window_ps = (2 * self.window_ps).clamp(1, LONGEST_PS);
        } else if found > FRAMES || cut.0 < until && found < self.scratch.due.len() {
            // Too many, or one group had all that may be of it long before the others' time.
            self.window_ps /= 2;
        }
        self.is_run = cut.0 < until && found < FRAMES / 8;
        let at_first = self.merged.times[..found].iter().take_while(|&&time| time == first).count();
        self.is_at_once = at_first >= SOME && at_first >= self.scratch.due.len();
    }

    /// Finds the groups with frames due in the window that begins at `first`, and its end: the last time and group.
    fn window(&mut self, first: u64) -> (u64, u16) {
        let due = &mut self.scratch.due;
        loop {
            let until = first.saturating_add(self.window_ps);
            find_due(&self.next, until, due);
            if due.len() <= FRAMES {
                return (until, u16::MAX);
            }
            if self.window_ps == 0 {
                // All at one instant: the lowest of them.
                due.truncate(FRAMES);
                return (until, due[FRAMES - 1]);
            }
            self.window_ps /= 16;
        }
    }

    /// The last frame that may be merged now, by time and group: in the window that ends with `end`, and no later than frame
    /// `most` of any group.
    fn cut(&mut self, lanes: &mut [Lane], end: (u64, u16), most: usize) -> (u64, u16) {
        self.scratch.due.iter().fold(end, |cut, &number| {
            let lane = usize::from(number);
            self.ahead.provide(lane, most, &mut lanes[self.of[lane].start]);
            self.ahead.of(lane).0.get(most - 1).map_or(cut, |&last| cut.min((last, number)))
        })
    }

    /// Takes what is due up to `cut` from its groups, group by group.
    fn gather(&mut self, lanes: &mut [Lane], (until, last): (u64, u16)) {
        let Scratch { due, found, .. } = &mut self.scratch;
        let mut count = 0;
        for &number in due.iter() {
            let lane = usize::from(number);
            let (times, kinds) = self.ahead.of(lane);
            let before = count;
            for (&time, &kind) in times.iter().zip(kinds) {
                if time > until || time == until && number > last {
                    break;
                }
                (found.times[count], found.lanes[count], found.sizes[count]) = (time, number, kind);
                count += 1;
            }
            self.ahead.advance(lane, count - before, &mut lanes[self.of[lane].start]);
            self.next[lane] = self.ahead.peek(lane);
        }
        found.count = count;
    }

    /// Puts what was gathered of two groups in order.
    fn take_turns(&mut self) {
        let (found, frames) = (&self.scratch.found, &mut self.merged);
        let all = &found.times[..found.count];
        let second = found.lanes[..found.count].partition_point(|&lane| lane == found.lanes[0]);
        let to = frames.count..frames.count + found.count;
        let (times, of, sizes) = (&mut frames.times[to.clone()], &mut frames.lanes[to.clone()], &mut frames.sizes[to]);
        let mut put = |to: usize, place: usize| (times[to], of[to], sizes[to]) = (all[place], found.lanes[place], found.sizes[place]);
        // From both ends at once: each step must wait for the one before it at its end. Of one time the first group's is first.
        let (mut one, mut other) = (0, second);
        let (mut last, mut later) = (second, all.len());
        let middle = all.len() / 2;
        for step in 0..middle {
            let is_low = other == all.len() || one < second && all[one] <= all[other];
            put(step, if is_low { one } else { other });
            (one, other) = (one + usize::from(is_low), other + usize::from(!is_low));
            let is_high = last == 0 || later > second && all[last - 1] <= all[later - 1];
            (last, later) = (last - usize::from(!is_high), later - usize::from(is_high));
            put(all.len() - 1 - step, if is_high { later } else { last });
        }
        if all.len() % 2 == 1 {
            put(middle, if one < last { one } else { other });
        }
        frames.count += found.count;
    }

    /// Puts what was gathered, due from `first` to `until`, in order.
    fn sort(&mut self, first: u64, until: u64) {
        let Scratch { found, keys, starts, .. } = &mut self.scratch;
        let count = found.count;
        let (times, keys) = (&found.times[..count], &mut keys[..count]);
        // Streams of one rate that began together.
        if times.is_sorted() {
            return self.merged.append(found);
        }
        let key = |place: usize, time: u64| (time - first) << PLACE_BITS | place as u64;
        if count <= FEW {
            for (place, (&time, to)) in times.iter().zip(&mut *keys).enumerate() {
                *to = key(place, time);
            }
            keys.sort_unstable();
        } else {
            // A power of two of buckets, each of a power of two of picoseconds: no division.
            let length = until - first + 1;
            let shift = (length.next_power_of_two() / count.next_power_of_two() as u64).max(1).ilog2();
            let buckets = ((length - 1) >> shift) as usize + 1;
            starts.clear();
            starts.resize(buckets + 1, 0);
            for time in times {
                starts[((time - first) >> shift) as usize + 1] += 1;
            }
            let mut most = 0;
            for bucket in 1..=buckets {
                most = most.max(starts[bucket]);
                starts[bucket] += starts[bucket - 1];
            }
            for (place, &time) in times.iter().enumerate() {
                let to = &mut starts[((time - first) >> shift) as usize];
                keys[*to as usize] = key(place, time);
                *to += 1;
            }
            if most as usize <= FEW {
                insert(keys);
            } else {
                keys.sort_unstable();
            }
        }
        let frames = &mut self.merged;
        for (to, key) in (frames.count..).zip(&*keys) {
            let place = (key & ((1 << PLACE_BITS) - 1)) as usize;
            frames.times[to] = first + (key >> PLACE_BITS);
            frames.lanes[to] = found.lanes[place];
            frames.sizes[to] = found.sizes[place];
        }
        frames.count += count;
    }
}

/// Which groups have a frame due by `until`.
fn find_due(next: &[u64], until: u64, due: &mut Vec<u16>) {
    due.clear();
    for (block, times) in next.as_chunks::<SIDE>().0.iter().enumerate() {
        // Most often none of them.
        if times.iter().fold(false, |any, &time| any | (time <= until)) {
            let lanes = (block * SIDE..).zip(times);
            due.extend(lanes.filter(|(_, time)| **time <= until).map(|(lane, _)| lane as u16));
        }
    }
}

/// Sorts keys of which none is far from its place.
fn insert(keys: &mut [u64]) {
    for at in 1..keys.len() {
        let key = keys[at];
        let mut to = at;
        while to > 0 && keys[to - 1] > key {
            keys[to] = keys[to - 1];
            to -= 1;
        }
        keys[to] = key;
    }
}
