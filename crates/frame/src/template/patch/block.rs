//! Many frames side by side: field by field over arrays, which the compiler turns into vector instructions.

use super::{Cursor, Flows};
use crate::checksum::finish_half;
use crate::probe::Probe;
use crate::vary::add_draws;

/// Frames side by side: enough that loops over them are vectorized, few enough that all stays in the nearest cache.
pub(super) const WIDTH: usize = 32;

/// What flows and sequences of frames side by side have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// One sequence, flow after flow.
    Flows,
    /// One flow, sequence after sequence.
    Sequences,
    Mixed,
}

/// Which flow and sequence each frame has. What lanes without a frame hold is of no use.
pub(super) struct Numbers {
    /// Counted from the first of the template.
    pub flow: [u32; WIDTH],
    pub sequence: [u32; WIDTH],
    pub run: Run,
}

impl Numbers {
    pub const fn new() -> Self {
        Self {
            flow: [0; WIDTH],
            sequence: [0; WIDTH],
            run: Run::Mixed,
        }
    }

    /// Those of the next `count` frames, which `cursor` passes. Its counters are left alone.
    #[inline(always)]
    pub fn take(&mut self, cursor: &mut Cursor, count: usize) {
        let first = cursor.sequence as u32;
        let flows = cursor.flows.clone();
        if flows.end - cursor.flow > WIDTH as u32 {
            for (number, flow) in (cursor.flow..).zip(&mut self.flow) {
                *flow = number;
            }
            self.sequence = [first; WIDTH];
            self.run = Run::Flows;
            cursor.flow += count as u32;
        } else if flows.len() == 1 {
            for (lane, sequence) in self.sequence.iter_mut().enumerate() {
                *sequence = first.wrapping_add(lane as u32);
            }
            self.flow = [flows.start; WIDTH];
            self.run = Run::Sequences;
            cursor.sequence += count as u64;
        } else {
            self.run = Run::Mixed;
            for (flow, sequence) in self.flow.iter_mut().zip(&mut self.sequence).take(count) {
                (*flow, *sequence) = (cursor.flow, cursor.sequence as u32);
                cursor.flow += 1;
                if cursor.flow == flows.end {
                    (cursor.flow, cursor.sequence) = (flows.start, cursor.sequence + 1);
                }
            }
        }
    }

    /// The probe of a lane.
    #[inline]
    pub fn probe(&self, lane: usize, flows: Flows, departure_ps: u64) -> Probe {
        Probe {
            flow: flows.first.wrapping_add(self.flow[lane]),
            sequence: self.sequence[lane],
            departure_ps,
        }
    }

    /// The checks of their probes.
    #[inline]
    pub fn checks(&self, flows: Flows, departures: &Departures, checks: &mut [u16; WIDTH]) {
        for (lane, (check, departure)) in checks.iter_mut().zip(&departures.at).enumerate() {
            *check = self.probe(lane, flows, *departure).check();
        }
    }

    /// As [`Self::checks`], of frames that all depart at `departure_ps`.
    #[inline]
    pub fn checks_at(&self, flows: Flows, departure_ps: u64, checks: &mut [u16; WIDTH]) {
        let first = self.probe(0, flows, departure_ps);
        let check = first.check();
        // From one frame to the next one word of the probe grows by 1, which its check makes up for: as long as neither
        // that word nor the check wraps.
        let growing = match self.run {
            Run::Flows => first.flow,
            Run::Sequences => first.sequence,
            Run::Mixed => u32::MAX,
        };
        if growing <= u32::MAX - WIDTH as u32 && usize::from(check) >= WIDTH && check != u16::MAX {
            for (lane, to) in checks.iter_mut().enumerate() {
                *to = check - lane as u16;
            }
        } else {
            for (lane, to) in checks.iter_mut().enumerate() {
                *to = self.probe(lane, flows, departure_ps).check();
            }
        }
    }
}

/// When frames side by side depart, picoseconds.
pub(super) struct Departures {
    pub at: [u64; WIDTH],
}

impl Departures {
    pub const fn new() -> Self {
        Self { at: [0; WIDTH] }
    }

    /// Takes those of up to [`WIDTH`] frames.
    #[inline]
    pub fn take(&mut self, departures: &[u64]) {
        match <&[u64; WIDTH]>::try_from(departures) {
            Ok(all) => self.at = *all,
            Err(_) => {
                for (at, departure) in self.at.iter_mut().zip(departures) {
                    *at = *departure;
                }
            }
        }
    }
}

/// The time at which all frames depart, if it is one.
#[inline]
pub(super) fn common(departures: &[u64]) -> Option<u64> {
    let first = *departures.first()?;
    let mut differences = 0;
    for departure in departures {
        differences |= departure ^ first;
    }
    (differences == 0).then_some(first)
}

/// A field below 2^32: random, or constant with a span of 0.
#[derive(Clone, Copy)]
pub(super) struct Uniform {
    pub key: u64,
    pub min: u32,
    pub span: u32,
}

impl Uniform {
    #[inline]
    fn draw(self, flows: &[u32; WIDTH]) -> [u32; WIDTH] {
        let mut drawn = [self.min; WIDTH];
        if self.span > 0 {
            add_draws(&mut drawn, flows, self.key, self.span);
        }
        drawn
    }
}

/// Partial sums of frames side by side: of each IPv4 header, and of each UDP segment with its pseudo-header.
pub(super) struct Sums {
    pub ip: [u32; WIDTH],
    pub l4: [u32; WIDTH],
}

/// What is drawn for the innermost IPv4 and UDP headers, and the checksums; in the byte order of the wire what is public.
pub(super) struct Headers {
    pub ip: [u16; WIDTH],
    pub addresses: [u64; WIDTH],
    pub ports: [u32; WIDTH],
    /// The UDP checksum, and behind it the probe's check and flow.
    pub udp: [u64; WIDTH],
}

/// The sum of both halves of an address: a partial that can be added to some more of its kind without a carry.
#[inline]
const fn fold_once(address: u32) -> u32 {
    (address & 0xffff) + (address >> 16)
}

/// Checksums of an IPv4 and a UDP header.
pub(super) struct Finished {
    pub ip: u16,
    pub udp: u16,
}

/// Those of a frame with these addresses and ports (their sum), and partial sums of all else; `checksum` is all ones, or 0 if
/// that of UDP is not filled in.
#[inline(always)]
pub(super) const fn finished(src: u32, dst: u32, ports: u32, (ip, l4): (u32, u32), checksum: u16) -> Finished {
    let addresses = fold_once(src) + fold_once(dst);
    let udp = finish_half(addresses + ports + l4);
    Finished {
        ip: finish_half(addresses + ip),
        udp: if udp == 0 { 0xffff } else { udp } & checksum,
    }
}

impl Headers {
    pub const fn new() -> Self {
        Self {
            ip: [0; WIDTH],
            addresses: [0; WIDTH],
            ports: [0; WIDTH],
            udp: [0; WIDTH],
        }
    }

    /// Those of frames of flows `numbers.flow` whose probes have `checks`; `checksum` is all ones, or 0 if the UDP
    /// checksum is not filled in. Without `DRAW_PORTS` the ports are constant, and left out.
    #[inline]
    pub fn draw<const DRAW_PORTS: bool>(
        &mut self,
        numbers: &Numbers,
        flows: Flows,
        [src, dst, sport, dport]: [Uniform; 4],
        sums: &Sums,
        checksum: u16,
        checks: &[u16; WIDTH],
    ) {
        let (src, dst) = (src.draw(&numbers.flow), dst.draw(&numbers.flow));
        let mut ports = [sport.min + dport.min; WIDTH];
        if DRAW_PORTS {
            let (sport, dport) = (sport.draw(&numbers.flow), dport.draw(&numbers.flow));
            for lane in 0..WIDTH {
                ports[lane] = sport[lane] + dport[lane];
                self.ports[lane] = (sport[lane] << 16 | dport[lane]).to_be();
            }
        }
        for lane in 0..WIDTH {
            let found = finished(src[lane], dst[lane], ports[lane], (sums.ip[lane], sums.l4[lane]), checksum);
            let both = u32::from(found.udp) << 16 | u32::from(checks[lane]);
            let flow = flows.first.wrapping_add(numbers.flow[lane]);
            self.ip[lane] = found.ip.to_be();
            self.udp[lane] = (u64::from(both) << 32 | u64::from(flow)).to_be();
            self.addresses[lane] = (u64::from(src[lane]) << 32 | u64::from(dst[lane])).to_be();
        }
    }
}
