//! Bursts: what differs from frame to frame is computed for many frames at once, then written frame by frame.

use super::block::{Departures, Headers, Numbers, Run, Sums, Uniform, WIDTH, common};
use super::{Cursor, Draw, Flows, Image, LINE, Plan, Shape, Udp4, copy};
use crate::probe::PROBE_BYTES;
use crate::template::slots::Slots;

/// Addresses and ports that are random or the same in all flows: the case that has to be fast.
pub(super) struct RandomPair<'a> {
    pub shape: &'a Udp4,
    pub fields: [Uniform; 4],
}

impl RandomPair<'_> {
    #[inline]
    pub fn has_constant_ports(&self) -> bool {
        let [.., sport, dport] = self.fields;
        sport.span == 0 && dport.span == 0
    }
}

/// A [`Draw::Random`] or [`Draw::Constant`] below 2^32.
fn uniform(draw: &Draw) -> Option<Uniform> {
    let (key, min, span) = match *draw {
        Draw::Random { key, min, span } => (key, min, span),
        Draw::Constant(value) => (0, value, 0),
        _ => return None,
    };
    Some(Uniform {
        key,
        min: u32::try_from(min).ok()?,
        span: u32::try_from(span).ok()?,
    })
}

/// What a burst is made of.
pub(in crate::template) struct Asked<'a> {
    pub images: &'a [u8],
    pub flows: Flows,
    /// Index of each frame's size.
    pub sizes: &'a [u16],
    /// Picoseconds.
    pub departures: &'a [u64],
}

impl Asked<'_> {
    /// The frames' places in the burst, [`WIDTH`] and [`WIDTH`], and their sizes and departures.
    fn blocks(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &[u16], &[u64])> {
        let blocks = self.sizes.chunks(WIDTH).zip(self.departures.chunks(WIDTH));
        blocks.enumerate().map(|(number, (sizes, departures))| {
            let count = sizes.len().min(departures.len());
            let first = number * WIDTH;
            (first..first + count, &sizes[..count], &departures[..count])
        })
    }
}

/// Copies an image of `len` bytes and its padding to a slot. Lines of a known number need no call.
#[inline]
pub(super) fn copy_padded(image: &[u8], len: usize, slot: &mut [u8]) {
    let (from, _) = image.as_chunks::<LINE>();
    match (from, slot.as_chunks_mut::<LINE>().0) {
        ([a], [to, ..]) => *to = *a,
        ([a, b], [to, next, ..]) => (*to, *next) = (*a, *b),
        _ => slot[..len].copy_from_slice(&image[..len]),
    }
}

/// A line that is copied again and again: its place in memory makes it one line of the cache, not two.
#[repr(align(64))]
struct Line([u8; LINE]);

/// Makes a slot the frame that `write` makes of the line `head`, of which the frame has `len` bytes.
#[inline(always)]
fn write_line(Line(head): &Line, len: usize, slot: &mut [u8], write: impl FnOnce(&mut [u8; LINE])) -> usize {
    if let Some(line) = slot.first_chunk_mut() {
        *line = *head;
        write(line);
    } else {
        let mut line = *head;
        write(&mut line);
        slot[..len].copy_from_slice(&line[..len]);
    }
    len
}

impl Plan {
    /// Writes a burst. The cases that matter most are written many frames at once.
    #[inline]
    pub fn burst(&self, cursor: &mut Cursor, asked: &Asked<'_>, slots: &mut impl Slots) {
        let heads = self.has_long && slots.remembers();
        if let Some(pair) = self.random_pair() {
            match self.only_line(cursor, asked) {
                Some((head, image, departure_ps)) if pair.has_constant_ports() && pair.shape.l3 + 46 <= LINE => {
                    self.pairs_on_a_line(cursor, asked, slots, &pair, head, image, departure_ps);
                }
                _ if heads => self.pairs::<true>(cursor, asked, slots, &pair),
                _ => self.pairs::<false>(cursor, asked, slots, &pair),
            }
        } else if let Shape::Constant = self.shape {
            match self.only_line(cursor, asked) {
                Some((head, image, departure_ps)) if cursor.flows.len() == 1 && self.payload + PROBE_BYTES <= LINE => {
                    self.one_flow_on_a_line(cursor, asked, slots, head, image, departure_ps);
                }
                _ if heads => self.constant::<true>(cursor, asked, slots),
                _ => self.constant::<false>(cursor, asked, slots),
            }
        } else {
            let frames = 0..asked.sizes.len().min(asked.departures.len());
            let of = |index: usize| (usize::from(asked.sizes[index]), asked.departures[index]);
            if heads {
                slots.each_head(frames, self.head(), |index, slot| {
                    let (size, departure_ps) = of(index);
                    self.write_first(asked.images, cursor, asked.flows, size, departure_ps, slot)
                });
            } else {
                slots.each(frames, |index, slot| {
                    let (size, departure_ps) = of(index);
                    self.write(asked.images, cursor, asked.flows, size, departure_ps, slot)
                });
            }
        }
    }

    /// The case of [`Shape::Udp4`] that has to be fast.
    #[inline]
    pub(super) fn random_pair(&self) -> Option<RandomPair<'_>> {
        let Shape::Udp4(shape) = &self.shape else { return None };
        if !self.patches.is_empty() || !self.periods.is_empty() {
            return None;
        }
        Some(RandomPair {
            shape,
            fields: [
                uniform(&shape.src)?,
                uniform(&shape.dst)?,
                uniform(&shape.sport)?,
                uniform(&shape.dport)?,
            ],
        })
    }

    /// The frames' only image and its line, with the cursor's flow and the departure they have in common written in, if all of
    /// that is so.
    #[inline]
    fn only_line(&self, cursor: &Cursor, asked: &Asked<'_>) -> Option<(Line, &Image, u64)> {
        let [image] = &self.images[..] else { return None };
        let departure_ps = common(asked.departures)?;
        let line = <&[u8; LINE]>::try_from(asked.images.get(image.start..)?.get(..image.padded)?).ok()?;
        let mut head = *line;
        let probe = head.get_mut(self.payload..)?.first_chunk_mut::<PROBE_BYTES>()?;
        probe[2..6].copy_from_slice(&asked.flows.first.wrapping_add(cursor.flow).to_be_bytes());
        probe[10..18].copy_from_slice(&departure_ps.to_be_bytes());
        Some((Line(head), image, departure_ps))
    }

    /// One flow on one line, all at one time: only sequence and check differ.
    #[inline(never)]
    fn one_flow_on_a_line(
        &self,
        cursor: &mut Cursor,
        asked: &Asked<'_>,
        slots: &mut impl Slots,
        head: Line,
        image: &Image,
        departure_ps: u64,
    ) {
        let (mut numbers, mut checks) = (Numbers::new(), [0; WIDTH]);
        let payload = self.payload;
        for (frames, ..) in asked.blocks() {
            numbers.take(cursor, frames.len());
            numbers.checks_at(asked.flows, departure_ps, &mut checks);
            slots.each(frames, |lane, slot| {
                write_line(&head, image.len, slot, |line| {
                    if let Some(probe) = line.get_mut(payload..).and_then(|probe| probe.first_chunk_mut::<PROBE_BYTES>()) {
                        probe[0..2].copy_from_slice(&checks[lane % WIDTH].to_be_bytes());
                        probe[6..10].copy_from_slice(&numbers.sequence[lane % WIDTH].to_be_bytes());
                    }
                })
            });
        }
    }

    /// Random addresses on one line, all at one time.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)] // the burst's, and the case
    fn pairs_on_a_line(
        &self,
        cursor: &mut Cursor,
        asked: &Asked<'_>,
        slots: &mut impl Slots,
        pair: &RandomPair<'_>,
        mut head: Line,
        image: &Image,
        departure_ps: u64,
    ) {
        let (mut numbers, mut checks, mut headers) = (Numbers::new(), [0; WIDTH], Headers::new());
        let sums = Sums {
            ip: [image.ip.into(); WIDTH],
            l4: [image.l4.into(); WIDTH],
        };
        let (l3, sequence_at) = (pair.shape.l3, self.payload + 6);
        for (frames, ..) in asked.blocks() {
            numbers.take(cursor, frames.len());
            numbers.checks_at(asked.flows, departure_ps, &mut checks);
            headers.draw::<false>(&numbers, asked.flows, pair.fields, &sums, pair.shape.checksum, &checks);
            if let Some(sequence) = head.0.get_mut(sequence_at..).and_then(|probe| probe.first_chunk_mut()) {
                *sequence = numbers.sequence[0].to_be_bytes();
            }
            let is_one_sequence = numbers.run == Run::Flows;
            slots.each(frames, |lane, slot| {
                let lane = lane % WIDTH;
                write_line(&head, image.len, slot, |line| {
                    if let Some(window) = line.get_mut(l3..).and_then(|packet| packet.first_chunk_mut::<46>()) {
                        window[10..12].copy_from_slice(&headers.ip[lane].to_ne_bytes());
                        window[12..20].copy_from_slice(&headers.addresses[lane].to_ne_bytes());
                        window[26..34].copy_from_slice(&headers.udp[lane].to_ne_bytes());
                        if !is_one_sequence {
                            window[34..38].copy_from_slice(&numbers.sequence[lane].to_be_bytes());
                        }
                    }
                })
            });
        }
    }

    /// With `HEADS` no more than that is written of each frame: in a function of its own, for all that the loop works with is to
    /// fit the registers.
    #[inline(never)]
    fn pairs<const HEADS: bool>(&self, cursor: &mut Cursor, asked: &Asked<'_>, slots: &mut impl Slots, pair: &RandomPair<'_>) {
        let (mut numbers, mut checks, mut headers) = (Numbers::new(), [0; WIDTH], Headers::new());
        let mut times = Departures::new();
        let mut sums = Sums {
            ip: [0; WIDTH],
            l4: [0; WIDTH],
        };
        let l3 = pair.shape.l3;
        for (frames, sizes, departures) in asked.blocks() {
            numbers.take(cursor, frames.len());
            times.take(departures);
            numbers.checks(asked.flows, &times, &mut checks);
            for ((ip, l4), &size) in sums.ip.iter_mut().zip(&mut sums.l4).zip(sizes) {
                let image = self.image(size);
                (*ip, *l4) = (image.ip.into(), image.l4.into());
            }
            headers.draw::<true>(&numbers, asked.flows, pair.fields, &sums, pair.shape.checksum, &checks);
            let write = |lane: usize, slot: &mut [u8]| {
                let image = self.image(sizes[lane]);
                let lane = lane % WIDTH;
                if HEADS {
                    copy(&asked.images[image.start..][..slot.len()], slot);
                } else {
                    copy_padded(&asked.images[image.start..][..image.padded], image.len, slot);
                }
                if let Some(window) = slot.get_mut(l3..).and_then(|packet| packet.first_chunk_mut::<46>()) {
                    window[10..12].copy_from_slice(&headers.ip[lane].to_ne_bytes());
                    window[12..20].copy_from_slice(&headers.addresses[lane].to_ne_bytes());
                    window[20..24].copy_from_slice(&headers.ports[lane].to_ne_bytes());
                    window[26..34].copy_from_slice(&headers.udp[lane].to_ne_bytes());
                    window[34..38].copy_from_slice(&numbers.sequence[lane].to_be_bytes());
                    window[38..46].copy_from_slice(&times.at[lane].to_be_bytes());
                }
                image.len
            };
            if HEADS {
                slots.each_head(frames, self.head(), write);
            } else {
                slots.each(frames, write);
            }
        }
    }

    #[inline(never)]
    fn constant<const HEADS: bool>(&self, cursor: &mut Cursor, asked: &Asked<'_>, slots: &mut impl Slots) {
        let (mut numbers, mut checks, mut times) = (Numbers::new(), [0; WIDTH], Departures::new());
        for (frames, sizes, departures) in asked.blocks() {
            numbers.take(cursor, frames.len());
            times.take(departures);
            numbers.checks(asked.flows, &times, &mut checks);
            let write = |lane: usize, slot: &mut [u8]| {
                let image = self.image(sizes[lane]);
                let lane = lane % WIDTH;
                if HEADS {
                    copy(&asked.images[image.start..][..slot.len()], slot);
                } else {
                    copy_padded(&asked.images[image.start..][..image.padded], image.len, slot);
                }
                if let Some(payload) = slot
                    .get_mut(self.payload..)
                    .and_then(|payload| payload.first_chunk_mut::<PROBE_BYTES>())
                {
                    let probe = numbers.probe(lane, asked.flows, times.at[lane]);
                    payload[0..2].copy_from_slice(&checks[lane].to_be_bytes());
                    payload[2..10].copy_from_slice(&probe.flow_and_sequence().to_be_bytes());
                    payload[10..18].copy_from_slice(&probe.departure_ps.to_be_bytes());
                }
                image.len
            };
            if HEADS {
                slots.each_head(frames, self.head(), write);
            } else {
                slots.each(frames, write);
            }
        }
    }

    /// The image of a size; most templates have one.
    #[inline]
    fn image(&self, size: u16) -> &Image {
        match &self.images[..] {
            [image] => image,
            images => &images[usize::from(size)],
        }
    }
}
