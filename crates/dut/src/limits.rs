//! What the whole box and its cards can do, beyond a plain `box_fps`: a box that makes haste, capacities in bits, ports
//! that share a card. Served first come first served in the order in which frames reach the switching point, the card
//! first.

use crate::flight::Flight;
use crate::queue::Queue;
use crate::service::{Line, Server};
use crate::spec::{BitRate, FrameRate, Haste, Layer};
use netdyno_io::port::{MIN_SLOT_BYTES, WIRE_OVERHEAD_BYTES};

/// Bytes of the FCS.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// All of them.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) cards: Vec<Card>,
    /// Of each port, the card it is on.
    pub(crate) card_of: Vec<Option<usize>>,
    pub(crate) server: Option<Boxed>,
    pub(crate) bits: Option<BitServer>,
    pub(crate) trunk: Option<Trunk>,
    pub(crate) card_drops: u64,
    pub(crate) box_drops: u64,
}

/// The server of the box.
#[derive(Debug)]
pub(crate) enum Boxed {
    Steady(Server),
    TwoRates(TwoRateServer),
}

impl Boxed {
    fn admit(&mut self, t: u64) -> Option<u64> {
        match self {
            Self::Steady(server) => server.admit(t),
            Self::TwoRates(server) => server.admit(t),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Steady(server) => server.clear(),
            Self::TwoRates(server) => server.clear(),
        }
    }
}

/// What the ports of one card share.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) server: Option<Server>,
    pub(crate) bits: Option<BitServer>,
}

impl Limits {
    /// A frame that came in on `port` reaches the switching point: when it is through, or `None` if it is lost.
    pub(crate) fn admit(&mut self, port: usize, flight: Flight) -> Option<u64> {
        let bytes = u64::from(flight.frame.len()).max(MIN_SLOT_BYTES);
        let mut t = flight.at;
        if let Some(card) = self.card_of[port] {
            let Some(done) = self.cards[card].admit(t, bytes) else {
                self.card_drops += 1;
                return None;
            };
            t = done;
        }
        let through = match &mut self.server {
            Some(server) => server.admit(t),
            None => Some(t),
        };
        let through = match (&mut self.bits, through) {
            (Some(bits), Some(t)) => bits.admit(t, bytes),
            _ => through,
        };
        self.box_drops += u64::from(through.is_none());
        through
    }

    /// A frame goes from one port to another at `flight.at`: when it is across the trunk, if there is one on its way.
    pub(crate) fn cross(&mut self, port: usize, out: usize, flight: Flight) -> Option<u64> {
        match &mut self.trunk {
            Some(trunk) => trunk.cross(port, out, flight),
            None => Some(flight.at),
        }
    }

    /// All that was being served is gone.
    pub(crate) fn clear(&mut self) {
        if let Some(trunk) = &mut self.trunk {
            trunk.ways.iter_mut().for_each(BitServer::clear);
            trunk.is_full = [false; 2];
        }
        for card in &mut self.cards {
            card.server.iter_mut().for_each(Server::clear);
            card.bits.iter_mut().for_each(BitServer::clear);
        }
        self.server.iter_mut().for_each(Boxed::clear);
        self.bits.iter_mut().for_each(BitServer::clear);
    }
}

/// A line between two halves of the device.
#[derive(Debug)]
pub(crate) struct Trunk {
    /// Of each port whether it is on the near side.
    is_near: Vec<bool>,
    /// To the far side, and back.
    ways: [BitServer; 2],
    /// A queue that was full drops all frames until no more than so many wait.
    resume: Option<usize>,
    /// Whether the queue of each way does.
    is_full: [bool; 2],
    pub(crate) drops: u64,
}

impl Trunk {
    /// Between ports that are on its near side and those that are not. `None` at 0 bit/s.
    pub(crate) fn new(is_near: Vec<bool>, trunk: &crate::spec::Trunk) -> Option<Self> {
        let way = || {
            let rate = BitRate {
                rate_bps: trunk.rate_bps,
                layer: Layer::L1,
            };
            let mut server = BitServer::new(rate, trunk.queue)?;
            server.beyond += u64::from(trunk.more_bytes);
            Some(server)
        };
        Some(Self {
            is_near,
            ways: [way()?, way()?],
            resume: trunk.resume.map(|frames| frames as usize),
            is_full: [false; 2],
            drops: 0,
        })
    }

    fn cross(&mut self, port: usize, out: usize, flight: Flight) -> Option<u64> {
        if self.is_near[port] == self.is_near[out] {
            return Some(flight.at);
        }
        let bytes = u64::from(flight.frame.len()).max(MIN_SLOT_BYTES);
        let way = usize::from(!self.is_near[port]);
        if let Some(resume) = self.resume.filter(|_| self.is_full[way]) {
            self.is_full[way] = self.ways[way].waiting(flight.at) > resume;
        }
        let across = if self.is_full[way] {
            None
        } else {
            self.ways[way].admit(flight.at, bytes)
        };
        self.drops += u64::from(across.is_none());
        self.is_full[way] = across.is_none() && self.resume.is_some();
        across
    }
}

impl Card {
    fn admit(&mut self, t: u64, bytes: u64) -> Option<u64> {
        let t = match &mut self.server {
            Some(server) => server.admit(t)?,
            None => t,
        };
        match &mut self.bits {
            Some(bits) => bits.admit(t, bytes),
            None => Some(t),
        }
    }
}

/// A server that takes as long for a frame as its bits take, with a finite queue.
#[derive(Debug)]
pub(crate) struct BitServer {
    line: Line,
    /// Bytes each frame counts beyond its own.
    beyond: u64,
    room: usize,
    /// When the frames that wait begin, rounded up to whole picoseconds.
    starts: Queue<u64>,
}

impl BitServer {
    /// `None` at 0 bit/s.
    pub(crate) fn new(rate: BitRate, queue: u32) -> Option<Self> {
        Some(Self {
            line: Line::new(rate.rate_bps)?,
            beyond: match rate.layer {
                Layer::L1 => WIRE_OVERHEAD_BYTES,
                Layer::L2 => FCS_BYTES,
            },
            room: queue as usize,
            starts: Queue::with_room(16),
        })
    }

    /// A frame of `bytes` (no FCS) arrives at `t`, no earlier than the one before it: when it is done.
    pub(crate) fn admit(&mut self, t: u64, bytes: u64) -> Option<u64> {
        if !enter(&mut self.starts, self.room, t, self.line.free()) {
            return None;
        }
        self.line.carry(t, bytes + self.beyond);
        Some(self.line.free())
    }

    /// How many frames wait at `t`.
    fn waiting(&mut self, t: u64) -> usize {
        begin(&mut self.starts, t);
        self.starts.len()
    }

    fn clear(&mut self) {
        self.starts.clear();
        self.line.clear();
    }
}

/// A server that is quicker for frames that have waited for long.
#[derive(Debug)]
pub(crate) struct TwoRateServer {
    /// Service times in whole picoseconds and in parts of one, of which `den` make one.
    slow: (u64, u64),
    fast: (u64, u64),
    den: u64,
    /// From this wait on a frame is served fast.
    behind: u64,
    free: (u64, u64),
    room: usize,
    starts: Queue<u64>,
}

impl TwoRateServer {
    /// `None` if a rate is none, or the two have no common measure in 63 bits.
    pub(crate) fn new(rate: FrameRate, haste: Haste, queue: u32) -> Option<Self> {
        const SECOND: u128 = 1_000_000_000_000;
        let den = rate.0.checked_mul(haste.fps.0).filter(|den| (1..1 << 63).contains(den))?;
        let service = |rate: FrameRate| {
            let parts = SECOND.checked_mul(u128::from(rate.1))?.checked_mul(u128::from(den / rate.0))?;
            let whole = u64::try_from(parts / u128::from(den)).ok()?;
            (rate.1 > 0 && whole < u64::MAX / 4).then_some((whole, (parts % u128::from(den)) as u64))
        };
        Some(Self {
            slow: service(rate)?,
            fast: service(haste.fps)?,
            den,
            behind: haste.behind_ns.checked_mul(1000)?,
            free: (0, 0),
            room: queue as usize,
            starts: Queue::with_room(16),
        })
    }

    /// A frame arrives at `t`: when it is done, or `None` if it finds the queue full.
    fn admit(&mut self, t: u64) -> Option<u64> {
        if !enter(&mut self.starts, self.room, t, up(self.free)) {
            return None;
        }
        let begin = self.free.max((t, 0));
        let service = if begin.0 - t >= self.behind { self.fast } else { self.slow };
        // Both parts are below 2^63.
        let part = begin.1 + service.1;
        let over = part >= self.den;
        self.free = (begin.0 + service.0 + u64::from(over), if over { part - self.den } else { part });
        Some(up(self.free))
    }

    fn clear(&mut self) {
        self.starts.clear();
        self.free = (0, 0);
    }
}

/// The first whole picosecond at or after an exact instant.
fn up(at: (u64, u64)) -> u64 {
    at.0 + u64::from(at.1 > 0)
}

/// Takes out the frames that have begun by `t`.
fn begin(starts: &mut Queue<u64>, t: u64) {
    while starts.front().is_some_and(|start| start <= t) {
        starts.pop();
    }
    starts.tidy();
}

/// A frame arrives at `t` in front of a server that is free from `free` on: whether there is room for it. `starts` are those
/// of the frames that wait.
fn enter(starts: &mut Queue<u64>, room: usize, t: u64, free: u64) -> bool {
    begin(starts, t);
    if free <= t {
        return true;
    }
    let fits = starts.len() < room;
    if fits {
        starts.push(free);
    }
    fits
}
