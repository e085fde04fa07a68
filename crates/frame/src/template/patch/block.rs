//! Many frames side by side: field by field over arrays, which the compiler turns into vector instructions.

use super::{Cursor, Flows};
use crate::checksum::{add_halves, finish_half};
use crate::probe::Probe;
use crate::vary::add_draws;

/// Frames side by side: enough that loops over them are vectorized, few enough that all stays in the nearest cache.
pub(super) const LANES: usize = 32;

/// Which flow and sequence each frame has.
pub(super) struct Numbers {
    pub flow: [u32; LANES],
    pub sequence: [u32; LANES],
}

impl Numbers {
    /// Those of the next `count` frames, which `cursor` passes. Its counters are left alone.
    #[inline(always)]
    pub fn take(cursor: &mut Cursor, flows: u32, count: usize) -> Self {
        let mut numbers = Self {
            flow: [0; LANES],
            sequence: [cursor.sequence as u32; LANES],
        };
        if flows - cursor.flow > LANES as u32 {
            for (number, flow) in (cursor.flow..).zip(&mut numbers.flow) {
                *flow = number;
            }
            cursor.flow += count as u32;
        } else if flows == 1 {
            for (number, sequence) in (cursor.sequence as u32..).zip(&mut numbers.sequence) {
                *sequence = number;
            }
            cursor.sequence += count as u64;
        } else {
            for (flow, sequence) in numbers.flow.iter_mut().zip(&mut numbers.sequence).take(count) {
                (*flow, *sequence) = (cursor.flow, cursor.sequence as u32);
                cursor.flow += 1;
                if cursor.flow == flows {
                    (cursor.flow, cursor.sequence) = (0, cursor.sequence + 1);
                }
            }
        }
        numbers
    }
}

/// Probes, each field in the byte order of the wire.
pub(super) struct Probes {
    check: [u16; LANES],
    who: [u64; LANES],
    departure: [u64; LANES],
}

impl Probes {
    /// The probes of frames that depart at `departures` (at most [`LANES`]; the other lanes are of no use).
    #[inline]
    pub fn new(numbers: &Numbers, flows: Flows, departures: &[u64]) -> Self {
        let mut probes = Self {
            check: [0; LANES],
            who: [0; LANES],
            departure: [0; LANES],
        };
        probes.departure[..departures.len()].copy_from_slice(departures);
        for lane in 0..LANES {
            let probe = Probe {
                flow: flows.first.wrapping_add(numbers.flow[lane]),
                sequence: numbers.sequence[lane],
                departure_ps: probes.departure[lane],
            };
            probes.check[lane] = probe.check().to_be();
            probes.who[lane] = probe.who().to_be();
            probes.departure[lane] = probe.departure_ps.to_be();
        }
        probes
    }

    /// Writes that of `lane`.
    #[inline]
    pub fn put(&self, lane: usize, to: &mut [u8; 18]) {
        to[0..2].copy_from_slice(&self.check[lane].to_ne_bytes());
        to[2..10].copy_from_slice(&self.who[lane].to_ne_bytes());
        to[10..18].copy_from_slice(&self.departure[lane].to_ne_bytes());
    }
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
    fn draw(self, flows: &[u32; LANES]) -> [u32; LANES] {
        let mut drawn = [self.min; LANES];
        if self.span > 0 {
            add_draws(&mut drawn, flows, self.key, self.span);
        }
        drawn
    }
}

/// What is drawn for the innermost IPv4 and UDP headers, and the checksums, in the byte order of the wire.
pub(super) struct Headers {
    ip: [u16; LANES],
    addresses: [u64; LANES],
    ports: [u32; LANES],
    udp: [u16; LANES],
}

impl Headers {
    /// Of frames of flows `numbers.flow`; `sums` are the partial sums of each frame's IPv4 header and UDP segment,
    /// `checksum` is all ones, or 0 if the UDP checksum is not filled in.
    #[inline]
    pub fn new(numbers: &Numbers, [src, dst, sport, dport]: [Uniform; 4], sums: &[(u32, u32); LANES], checksum: u16) -> Self {
        let (src, dst) = (src.draw(&numbers.flow), dst.draw(&numbers.flow));
        let (sport, dport) = (sport.draw(&numbers.flow), dport.draw(&numbers.flow));
        let mut headers = Self {
            ip: [0; LANES],
            addresses: [0; LANES],
            ports: [0; LANES],
            udp: [0; LANES],
        };
        for lane in 0..LANES {
            let ports = sport[lane] << 16 | dport[lane];
            let addresses = add_halves(src[lane], dst[lane]);
            let udp = finish_half(add_halves(add_halves(addresses, ports), sums[lane].1));
            let udp = if udp == 0 { 0xffff } else { udp } & checksum;
            headers.ip[lane] = finish_half(add_halves(addresses, sums[lane].0)).to_be();
            headers.udp[lane] = udp.to_be();
            headers.ports[lane] = ports.to_be();
            headers.addresses[lane] = (u64::from(src[lane]) << 32 | u64::from(dst[lane])).to_be();
        }
        headers
    }

    /// Writes those of `lane` to the 28 bytes of both headers.
    #[inline]
    pub fn put(&self, lane: usize, to: &mut [u8; 28]) {
        to[10..12].copy_from_slice(&self.ip[lane].to_ne_bytes());
        to[12..20].copy_from_slice(&self.addresses[lane].to_ne_bytes());
        to[20..24].copy_from_slice(&self.ports[lane].to_ne_bytes());
        to[26..28].copy_from_slice(&self.udp[lane].to_ne_bytes());
    }
}
