//! Which frames of a stream a worker sends.
//!
//! Frame k belongs to flow k mod flows, and a flow stays with one worker, so that its frames leave in their order. The
//! flows are cut into runs of neighbours, as even as can be and no longer than a burst, and the workers take the runs turn
//! by turn: all are at work at any time, and each writes its frames many at once. What is sent, and when, is that of one
//! worker: the shares of all workers are disjoint and together everything.

use super::block::BLOCK;
use std::ops::Range;

/// The runs of a stream's flows that one worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRuns {
    flows: u32,
    /// Run i has the flows from `i * flows / runs` on. A multiple of `turns`.
    runs: u32,
    /// The flows of each run if all have as many, else 0.
    even: u32,
    /// Of so many runs in a row one is this worker's: the one with this number.
    turns: u32,
    turn: u32,
}

impl FlowRuns {
    /// All of `flows` flows.
    #[must_use]
    pub const fn all(flows: u32) -> Self {
        Self {
            flows,
            runs: 1,
            even: flows,
            turns: 1,
            turn: 0,
        }
    }

    /// Run `turn` of each `turns` runs in a row of `flows` flows.
    const fn of(flows: u32, turns: u32, turn: u32) -> Self {
        let runs = turns * flows.div_ceil(turns.saturating_mul(BLOCK as u32));
        Self {
            flows,
            runs,
            even: if flows.is_multiple_of(runs) { flows / runs } else { 0 },
            turns,
            turn,
        }
    }

    /// Whether it is all there is.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.turns == 1
    }

    /// How many flows are in it.
    #[must_use]
    pub fn count(&self) -> u32 {
        let runs = (self.turn..self.runs).step_by(self.turns as usize);
        runs.map(|run| self.begin(run + 1) - self.begin(run)).sum::<u64>() as u32
    }

    /// The flows, if they are neighbours: of few flows a worker has no more than one run.
    #[must_use]
    pub fn neighbours(&self) -> Option<Range<u32>> {
        (self.runs == self.turns).then(|| self.begin(self.turn) as u32..self.begin(self.turn + 1) as u32)
    }

    /// Whether flow `flow` is in it.
    #[must_use]
    pub fn has(&self, flow: u32) -> bool {
        let run = ((u64::from(flow) + 1) * u64::from(self.runs) - 1) / u64::from(self.flows);
        run % u64::from(self.turns) == u64::from(self.turn)
    }

    /// The first flow of run `run`, or `flows` behind the last.
    #[inline]
    fn begin(&self, run: u32) -> u64 {
        match self.even {
            0 => u64::from(run) * u64::from(self.flows) / u64::from(self.runs),
            // A worker comes to another run with each burst: without a division.
            even => u64::from(run) * u64::from(even),
        }
    }
}

/// Deals `flows` flows, which send `frames` frames in all, to as many workers as there are `loads`: the frames each of
/// them has been dealt so far. A stream with fewer flows than workers goes to those with the least.
#[must_use]
pub fn deal(flows: u32, frames: u64, loads: &mut [u64]) -> Vec<Option<FlowRuns>> {
    let workers = loads.len();
    let turns = workers.min(flows as usize);
    let mut order: Vec<usize> = (0..workers).collect();
    if turns < workers {
        order.sort_by_key(|&worker| loads[worker]);
    }
    let mut shares = vec![None; workers];
    for (turn, &worker) in order.iter().take(turns).enumerate() {
        shares[worker] = Some(FlowRuns::of(flows, turns as u32, turn as u32));
        loads[worker] += frames / turns as u64;
    }
    shares
}

/// A place in a share, which goes through its frames in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    flow_runs: FlowRuns,
    run: u32,
    /// The number of the frame it is at, and of the first behind its run. Frames are counted over all flows.
    number: u64,
    end: u64,
    /// Number of the frame of flow 0 with the same sequence.
    base: u64,
    /// How many flows it has.
    own: u32,
}

impl Walk {
    /// Begins at the first frame of `flow_runs`.
    #[must_use]
    pub fn new(flow_runs: FlowRuns) -> Self {
        let mut walk = Self {
            flow_runs,
            run: flow_runs.turn,
            number: 0,
            end: u64::MAX,
            base: 0,
            own: flow_runs.count(),
        };
        walk.enter();
        walk
    }

    /// Begins the run. What has all flows has one run without an end.
    fn enter(&mut self) {
        if !self.flow_runs.is_all() {
            self.number = self.base + self.flow_runs.begin(self.run);
            self.end = self.base + self.flow_runs.begin(self.run + 1);
        }
    }

    /// The number of the frame it is at.
    #[inline]
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Frames from here on that follow each other.
    #[inline]
    #[must_use]
    pub fn left(&self) -> u64 {
        self.end - self.number
    }

    /// Goes past `count` frames, no more than are [left](Self::left). Whether it is at another run now.
    #[inline]
    pub fn pass(&mut self, count: u64) -> bool {
        self.number += count;
        if self.number < self.end {
            return false;
        }
        self.run += self.flow_runs.turns;
        if self.run >= self.flow_runs.runs {
            self.run = self.flow_runs.turn;
            self.base += u64::from(self.flow_runs.flows);
        }
        self.enter();
        true
    }

    /// Skips `count` frames, however many runs that are.
    #[inline]
    pub fn advance(&mut self, mut count: u64) {
        if count >= u64::from(self.own) && !self.flow_runs.is_all() {
            // Its flows once over and over again, as many times as that is.
            let (rounds, flows) = (count / u64::from(self.own), u64::from(self.flow_runs.flows));
            for place in [&mut self.number, &mut self.end, &mut self.base] {
                *place += rounds * flows;
            }
            count %= u64::from(self.own);
        }
        while count > 0 {
            let run = count.min(self.left());
            self.pass(run);
            count -= run;
        }
    }

    /// Returns how many frames of flow `flow` were passed; `None` if this worker does not send the flow.
    #[must_use]
    pub fn passed(&self, flow: u32) -> Option<u64> {
        let flows = u64::from(self.flow_runs.flows);
        let (sequence, place) = (self.number / flows, self.number % flows);
        self.flow_runs.has(flow).then(|| sequence + u64::from(u64::from(flow) < place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The frames below `frames` that a share has, in its order.
    fn frames_of(flow_runs: FlowRuns, frames: u64) -> Vec<u64> {
        let mut walk = Walk::new(flow_runs);
        let mut found = Vec::new();
        while walk.number() < frames {
            found.push(walk.number());
            walk.pass(1);
        }
        found
    }

    proptest! {
        #[test]
        fn shares_are_disjoint_and_together_all(flows in 1_u32..3000, workers in 1_usize..9, frames in 0_u64..10_000) {
            let mut seen = vec![0; frames as usize];
            let mut loads = vec![0; workers];
            for flow_runs in deal(flows, frames, &mut loads).into_iter().flatten() {
                let mine = frames_of(flow_runs, frames);
                prop_assert_eq!(frames_of(flow_runs, u64::from(flows)).len() as u32, flow_runs.count());
                prop_assert!(mine.is_sorted());
                for number in mine {
                    seen[number as usize] += 1;
                    prop_assert!(flow_runs.has((number % u64::from(flows)) as u32), "frame {number}");
                }
            }
            prop_assert!(seen.iter().all(|&times| times == 1));
        }

        #[test]
        fn workers_have_as_much_to_do(flows in 1_u32..100_000, workers in 1_usize..9) {
            let own: Vec<u64> = deal(flows, 0, &mut vec![0; workers])
                .into_iter()
                .map(|flow_runs| flow_runs.map_or(0, |flow_runs| (0..flows).filter(|&flow| flow_runs.has(flow)).count() as u64))
                .collect();
            let (least, most) = (own.iter().min().expect("workers"), own.iter().max().expect("workers"));
            // A run more or less of one flow each; with fewer flows than workers some have none.
            prop_assert!(most - least <= 1 + u64::from(flows) / (workers * BLOCK) as u64, "{own:?}");
        }

        #[test]
        fn what_was_passed_is_known_of_each_flow(flows in 1_u32..500, workers in 1_usize..5, steps in 0_u64..2000) {
            for flow_runs in deal(flows, 0, &mut vec![0; workers]).into_iter().flatten() {
                let (mut one, mut many) = (Walk::new(flow_runs), Walk::new(flow_runs));
                let mut passed = vec![0; flows as usize];
                for _ in 0..steps {
                    passed[(one.number() % u64::from(flows)) as usize] += 1;
                    one.pass(1);
                }
                many.advance(steps);
                prop_assert_eq!(one.number(), many.number());
                for flow in 0..flows {
                    prop_assert_eq!(many.passed(flow), flow_runs.has(flow).then_some(passed[flow as usize]));
                }
            }
        }
    }

    #[test]
    fn streams_of_one_flow_go_to_the_worker_with_least_to_do() {
        let mut loads = [0; 2];
        let mut workers = Vec::new();
        for frames in [100, 10, 10, 10] {
            let shares = deal(1, frames, &mut loads);
            workers.push(shares.iter().position(Option::is_some));
        }
        assert_eq!((workers, loads), (vec![Some(0), Some(1), Some(1), Some(1)], [100, 30]));
    }
}
