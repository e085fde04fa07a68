//! Faults, injected where frames leave the switching point towards an egress port.
//!
//! Frames are counted per egress port from 0; every frame that leaves the switching point counts once,
//! whatever becomes of it (a duplicate does not count again). Of several faults that meet one frame,
//! `lose` ends it; the others add up.
//!
//! Pauses at fixed times are none of these: see `pauses.rs`.

use crate::chance::hits;
use crate::header::{self, be16};
use crate::pauses::Pauses;
use crate::spec::{Fault, Impairment, When};
use netdyno_frame::chance::draw;

/// A held frame that nobody overtakes any more is let go after this long.
pub(crate) const HOLD_PS: u64 = 100_000_000_000;

/// What meets one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) lose: bool,
    /// Copies beyond the first.
    pub(crate) duplicates: u32,
    /// Frames that overtake it; 0 is none.
    pub(crate) reorder: u32,
    /// Which bit to flip, as a draw.
    pub(crate) corrupt: Option<u64>,
    /// Picoseconds.
    pub(crate) stall: u64,
    /// How much later it leaves, picoseconds.
    pub(crate) hold: u64,
}

/// How often each fault was injected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Injected {
    pub(crate) lose: u64,
    pub(crate) duplicate: u64,
    pub(crate) reorder: u64,
    pub(crate) corrupt: u64,
    pub(crate) stall: u64,
    pub(crate) hold: u64,
}

impl Injected {
    pub(crate) fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("lose", self.lose),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
            ("stall", self.stall),
            ("hold", self.hold),
        ]
    }
}

/// The faults of one egress port.
#[derive(Debug)]
pub(crate) struct Impair {
    faults: Vec<(Fault, Chosen)>,
    /// Frames met so far.
    count: u64,
    pub(crate) injected: Injected,
}

#[derive(Debug)]
enum Chosen {
    /// The next one, and the distance to the one after it.
    Every {
        next: u64,
        every: u64,
    },
    /// Sorted, without doubles; `next` is an index.
    Frames {
        frames: Vec<u64>,
        next: usize,
    },
    Chance {
        parts: u64,
        of: u64,
        seed: u64,
    },
    /// The window looked at last, and whether it is hit.
    Window {
        window: u64,
        parts: u64,
        of: u64,
        seed: u64,
        last: Option<(u64, bool)>,
    },
    Period {
        every: u64,
        first: u64,
        length: u64,
    },
    /// When the port had something to send last, and how many more it takes to wake it.
    AfterIdle {
        idle: u64,
        frames: u64,
        last: Option<u64>,
        asleep: u64,
    },
}

impl Chosen {
    /// Whether frame number `frame`, which comes at `t`, is hit.
    #[inline]
    fn hits(&mut self, frame: u64, t: u64) -> bool {
        match self {
            Self::Every { next, every } => {
                let hit = frame == *next;
                if hit {
                    *next += *every;
                }
                hit
            }
            Self::Frames { frames, next } => {
                let hit = frames.get(*next) == Some(&frame);
                *next += usize::from(hit);
                hit
            }
            Self::Chance { parts, of, seed } => hits(*seed, frame, *parts, *of),
            Self::Window {
                window,
                parts,
                of,
                seed,
                last,
            } => {
                let index = t / *window;
                match *last {
                    Some((known, hit)) if known == index => hit,
                    _ => {
                        let hit = hits(*seed, index, *parts, *of);
                        *last = Some((index, hit));
                        hit
                    }
                }
            }
            Self::Period { every, first, length } => t >= *first && (t - *first) % *every < *length,
            Self::AfterIdle {
                idle,
                frames,
                last,
                asleep,
            } => {
                if last.is_none_or(|last| t - last > *idle) {
                    *asleep = *frames;
                }
                *last = Some(t);
                let hit = *asleep > 0;
                *asleep -= u64::from(hit);
                hit
            }
        }
    }
}

impl Impair {
    /// The faults of egress port `port`; `None` if it has none.
    pub(crate) fn new(all: &[Impairment], port: usize) -> Option<Self> {
        let ours = all.iter().filter(|impairment| impairment.port.is_none_or(|at| at == port));
        let with_frames = ours.filter(|impairment| Pauses::new(impairment.fault, &impairment.when).is_none());
        let faults: Vec<_> = with_frames.map(|impairment| (impairment.fault, chosen(&impairment.when))).collect();
        (!faults.is_empty()).then_some(Self {
            faults,
            count: 0,
            injected: Injected::default(),
        })
    }

    /// Whether it changes frames.
    pub(crate) fn corrupts(&self) -> bool {
        self.faults.iter().any(|(fault, _)| *fault == Fault::Corrupt)
    }

    /// Returns what the faults do to the next frame, which comes at `t`.
    pub(crate) fn next(&mut self, t: u64) -> Hit {
        let frame = self.count;
        self.count += 1;
        let mut hit = Hit::default();
        for (fault, chosen) in &mut self.faults {
            if !chosen.hits(frame, t) {
                continue;
            }
            match fault {
                Fault::Lose => hit.lose = true,
                Fault::Duplicate => hit.duplicates += 1,
                Fault::Reorder { by } => hit.reorder = hit.reorder.max(*by),
                Fault::Corrupt => hit.corrupt = Some(draw(!frame, 0)),
                Fault::Stall { for_ns } => hit.stall = hit.stall.max(for_ns.saturating_mul(1000)),
                Fault::Hold { for_ns } => hit.hold = hit.hold.max(for_ns.saturating_mul(1000)),
            }
        }
        if hit.lose {
            hit = Hit {
                lose: true,
                ..Hit::default()
            };
        }
        self.injected.lose += u64::from(hit.lose);
        self.injected.duplicate += u64::from(hit.duplicates);
        self.injected.reorder += u64::from(hit.reorder > 0);
        self.injected.corrupt += u64::from(hit.corrupt.is_some());
        self.injected.stall += u64::from(hit.stall > 0);
        self.injected.hold += u64::from(hit.hold > 0);
        hit
    }
}

fn chosen(when: &When) -> Chosen {
    match when {
        When::Every { every, first } => Chosen::Every {
            next: *first,
            every: *every,
        },
        When::Frames(frames) => {
            let mut frames = frames.clone();
            frames.sort_unstable();
            frames.dedup();
            Chosen::Frames { frames, next: 0 }
        }
        When::Chance { parts, of, seed } => Chosen::Chance {
            parts: *parts,
            of: *of,
            seed: *seed,
        },
        When::Window {
            window_ns,
            parts,
            of,
            seed,
        } => Chosen::Window {
            window: window_ns.saturating_mul(1000),
            parts: *parts,
            of: *of,
            seed: *seed,
            last: None,
        },
        When::Period {
            every_ns,
            first_ns,
            for_ns,
        } => Chosen::Period {
            every: every_ns.saturating_mul(1000),
            first: first_ns.saturating_mul(1000),
            length: for_ns.saturating_mul(1000),
        },
        When::AfterIdle { idle_ns, frames } => Chosen::AfterIdle {
            idle: idle_ns.saturating_mul(1000),
            frames: *frames,
            last: None,
            asleep: 0,
        },
    }
}

/// Flips one bit where a checksum can see it: from the network header on to the end of the IP packet, never
/// in the padding behind it. IPv6 has no header checksum, so there it begins with the source address. A bit
/// whose flip would make an IPv4/UDP checksum 0 ("not computed") is left alone and the next one taken.
pub(crate) fn flip(frame: &mut [u8], draw: u64) {
    let Some((kind, at)) = header::network(frame) else {
        return;
    };
    let (from, end) = match kind {
        header::IPV4 if frame.len() >= at + 20 => (at, at + usize::from(be16(frame, at + 2))),
        header::IPV6 if frame.len() >= at + 40 => (at + 8, at + 40 + usize::from(be16(frame, at + 4))),
        _ => (at, frame.len()),
    };
    let end = end.min(frame.len());
    if end <= from {
        return;
    }
    let bits = (end - from) as u64 * 8;
    let checksum = (kind == header::IPV4).then(|| at + usize::from(frame[at] & 0x0f) * 4 + 6);
    for step in 0..bits {
        let bit = (draw % bits + step) % bits;
        let (byte, mask) = (from + (bit / 8) as usize, 1 << (bit % 8));
        frame[byte] ^= mask;
        let vanished = checksum.is_some_and(|field| (field..field + 2).contains(&byte) && field + 2 <= end && be16(frame, field) == 0);
        if !vanished {
            return;
        }
        frame[byte] ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(when: When, count: u64) -> Vec<u64> {
        let impairment = Impairment {
            port: None,
            fault: Fault::Lose,
            when,
        };
        let mut impair = Impair::new(&[impairment], 0).unwrap();
        (0..count).filter(|_| impair.next(0).lose).collect()
    }

    #[test]
    fn which_frames_are_hit() {
        assert_eq!(hits(When::Every { every: 10, first: 3 }, 30), [3, 13, 23]);
        assert_eq!(hits(When::Frames(vec![7, 2, 7]), 30), [2, 7]);
        let all = When::Chance { parts: 1, of: 1, seed: 5 };
        assert_eq!(hits(all, 100).len(), 100);
        let none = When::Chance { parts: 0, of: 9, seed: 5 };
        assert_eq!(hits(none, 100).len(), 0);
    }

    #[test]
    fn a_fault_of_another_port_is_none_of_ours() {
        let impairment = Impairment {
            port: Some(1),
            fault: Fault::Lose,
            when: When::Every { every: 1, first: 0 },
        };
        assert!(Impair::new(std::slice::from_ref(&impairment), 0).is_none());
        assert!(Impair::new(&[impairment], 1).is_some());
    }

    #[test]
    fn flips_exactly_one_bit_inside_the_ip_packet() {
        let mut frame = vec![0u8; 100];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        frame[17] = 46;
        frame[23] = 17;
        for seed in 0..5000 {
            let mut hit = frame.clone();
            flip(&mut hit, draw(seed, 0));
            let differing: Vec<usize> = (0..100).filter(|byte| hit[*byte] != frame[*byte]).collect();
            assert_eq!(differing.len(), 1);
            assert!((14..60).contains(&differing[0]));
            assert_eq!((hit[differing[0]] ^ frame[differing[0]]).count_ones(), 1);
        }
    }

    #[test]
    fn never_turns_a_udp_checksum_into_none() {
        let mut frame = vec![0u8; 60];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        frame[17] = 46;
        frame[23] = 17;
        frame[41] = 1;
        for bit in 0..46 * 8 {
            let mut hit = frame.clone();
            flip(&mut hit, bit);
            assert_ne!(be16(&hit, 40), 0, "bit {bit}");
            assert_ne!(hit, frame);
        }
    }
}
