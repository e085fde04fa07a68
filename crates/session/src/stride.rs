//! How far virtual time advances in a round of a trial.
//!
//! A round costs about a microsecond whatever it moves, and at 100,000 frames a second a quantum of 32 us holds three of
//! them. It is bounded for the sake of answers alone: a tester that is asked something answers 100 us later
//! (`netdyno_engine::ANSWER_PS`), and must not have sent what leaves after that before it sees the question. So while it cannot
//! be asked anything, rounds are as long as it takes to fill the bursts.
//!
//! It cannot while
//!
//! - the tester sends by schedule alone;
//! - routers ask nobody, have not forgotten anybody whom a frame ever went to, and frames of every flow have been through them,
//!   in this trial or in the one of the same flows before it, so that there is nobody left whom they have to ask for; and what
//!   they said so far has been heard, as often as they said it;
//! - other devices, which pass on what neighbours say, were empty after the tester had said anything the last time.
//!
//! What happens to a device may change that, so a round ends before it, and with the traffic, for what leaves the device
//! after the drain is the next trial's. So it does before a poll of the tester's, which is not sent if the answer to the one
//! before it has just come, and before what the trial has it say.

use netdyno_dut::Device;
use netdyno_engine::{Standing, Trial};
use netdyno_io::time::{Duration, Instant};

/// Bytes that each port should send in a round: some 500 frames of 64 bytes or 20 of 1518, which stay near on their way.
const BYTES_A_ROUND: u64 = 32 * 1024;
/// The most that time advances in a round.
const LONGEST: Duration = Duration::from_ms(8);
/// Rounds are no longer than the quantum from so long before a poll or a message of the trial's on.
const BEFORE_WORD: Duration = Duration::from_ms(1);

/// How far virtual time advances in the next round.
#[derive(Debug)]
pub(crate) struct Stride {
    quantum: Duration,
    /// Bytes to be sent in a round.
    goal: u64,
    /// Whether no round is longer than the quantum.
    is_told: bool,
    /// Whether what the tester says on one port may be heard on another.
    relays: bool,
    /// Whether frames of every flow have been through the devices before this trial.
    has_met: bool,
    /// What it would be if nobody could be asked anything.
    wanted: Duration,
    length: Duration,
    /// What had been said when nothing was on its way.
    quiet: Option<Said>,
    sent_bytes: u64,
}

/// What was said that may have to be answered, or may be an answer.
#[derive(Clone, Copy, Debug)]
struct Said {
    /// By the tester.
    own_frames: u64,
    /// By devices, of their own accord.
    originated: u64,
    /// Heard by the tester.
    strangers: u64,
}

impl Stride {
    /// Rounds of `quantum`, and longer ones where nothing depends on it, in a lab of so many ports, where what the tester
    /// says on one may be heard on another or not, and frames of every flow have been through before or not.
    pub(crate) fn new(quantum: Duration, ports: usize, relays: bool, has_met: bool) -> Self {
        Self {
            quantum,
            goal: ports as u64 * BYTES_A_ROUND,
            relays,
            has_met,
            is_told: false,
            wanted: quantum,
            length: quantum,
            quiet: None,
            sent_bytes: 0,
        }
    }

    /// Returns a stride whose rounds all are `quantum`.
    pub(crate) fn always(quantum: Duration) -> Self {
        Self {
            is_told: true,
            ..Self::new(quantum, 0, true, false)
        }
    }

    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    /// A round begins.
    pub(crate) fn before(&mut self, trial: &Trial, devices: &[Device]) {
        if trial.began().is_none() && trial.expects_nothing() && devices.iter().all(Device::is_empty) {
            self.quiet = Some(Said::so_far(&trial.standing(), devices));
        }
    }

    /// A round has ended at `now`.
    pub(crate) fn after(&mut self, now: Instant, trial: &mut Trial, devices: &[Device]) {
        if self.is_told {
            return;
        }
        let standing = trial.standing();
        let sent = standing.sent_bytes - std::mem::replace(&mut self.sent_bytes, standing.sent_bytes);
        if !standing.is_by_schedule || !self.is_unasked(&standing, trial, devices) {
            (self.wanted, self.length) = (self.quantum, self.quantum);
            return;
        }
        if sent < self.goal / 2 {
            self.wanted += self.wanted;
            self.wanted = self.wanted.min(LONGEST);
        } else if sent > self.goal {
            self.wanted = Duration { ps: self.wanted.ps / 2 };
        }
        let word = Instant {
            ps: standing.next_word.ps.saturating_sub(BEFORE_WORD.ps),
        };
        let until = devices.iter().map(Device::next_event).fold(word.min(standing.until), Instant::min);
        self.length = self.wanted.min(until.saturating_since(now)).max(self.quantum);
    }

    fn is_unasked(&self, standing: &Standing, trial: &mut Trial, devices: &[Device]) -> bool {
        let Some(quiet) = self.quiet else { return false };
        let said = Said::so_far(standing, devices);
        let (asked, heard) = (said.originated - quiet.originated, said.strangers - quiet.strangers);
        asked == heard
            && (asked == 0 || !devices.iter().any(Device::has_faults))
            && (said.own_frames == quiet.own_frames || !self.relays)
            && devices.iter().all(Device::is_settled)
            && (self.has_met || devices.iter().all(Device::relays) || trial.has_met_all_flows())
    }
}

impl Said {
    fn so_far(standing: &Standing, devices: &[Device]) -> Self {
        Self {
            own_frames: standing.own_frames,
            originated: devices.iter().map(Device::originated).sum(),
            strangers: standing.strangers,
        }
    }
}
