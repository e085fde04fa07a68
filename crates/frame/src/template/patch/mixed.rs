//! Bursts in which frames of several templates take turns. Nothing is the same from one frame to the next, so each is made by
//! itself, and what a template has of its own lies in one line of the cache: with thousands of them that is what takes time.

use super::block::finished;
use super::burst::copy_padded;
use super::{Flows, Plan, Shape, copy};
use crate::probe::{PROBE_BYTES, Probe};
use crate::template::slots::Slots;
use crate::vary::{WEYL, finish_hash, scale};

/// What the frames of a template have of their own, and where it has come to.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Of {
    /// Of source and destination: the sequence they are drawn from, and its state in the next frame.
    keys: [u64; 2],
    states: [u64; 2],
    /// Constant with a span of 0.
    mins: [u32; 2],
    spans: [u32; 2],
    /// The next frame's flow, as the probe has it, and its sequence.
    flow: u32,
    sequence: u32,
    /// The flow behind the run that it is in, as the probe has it.
    end: u32,
    /// All ones, or 0 if the UDP checksum is not filled in.
    checksum: u16,
}

/// Where a template has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The next frame's flow, counted from the template's first.
    pub flow: u32,
    /// Its sequence in that flow.
    pub sequence: u32,
    /// The flow behind the last one of those that follow each other from here on.
    pub end: u32,
}

/// What all templates have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing varies but the probe.
    Constant,
    /// Random or constant addresses, constant ports.
    Pairs { l3: usize },
}

/// One size of one template: where its bytes are, and the partial sums of its headers, ports counted.
#[derive(Clone, Copy, Debug, Default)]
struct Image {
    start: u32,
    len: u16,
    padded: u16,
    ip: u32,
    l4: u32,
}

/// A template as far as its frames follow from it.
#[derive(Clone, Copy, Debug)]
pub(in crate::template) struct Compiled<'a> {
    pub plan: &'a Plan,
    pub images: &'a [u8],
    pub flows: Flows,
}

/// Templates of one kind whose frames are written in any order: the kinds that have to be fast.
#[derive(Debug)]
pub struct Mixed {
    kind: Kind,
    payload: usize,
    /// As [`Plan`] has it: whether any template does.
    has_long: bool,
    of: Vec<Of>,
    /// The probe's number of flow 0 of each template.
    first: Vec<u32>,
    /// Sizes of each template.
    sizes: usize,
    images: Vec<Image>,
    bytes: Vec<u8>,
}

/// The kind of a plan, if it is one of those.
fn kind(plan: &Plan) -> Option<Kind> {
    match &plan.shape {
        Shape::Constant => Some(Kind::Constant),
        Shape::Udp4(shape) => {
            let pair = plan.random_pair().filter(|pair| pair.has_constant_ports());
            pair.map(|_| Kind::Pairs { l3: shape.l3 })
        }
        Shape::General | Shape::Bare => None,
    }
}

impl Mixed {
    /// `templates` side by side, each at its beginning; `None` if they are not all of one kind that has to be fast, with as
    /// many sizes and their probes in the same place.
    pub(in crate::template) fn new<'a>(templates: impl Iterator<Item = Compiled<'a>> + Clone) -> Option<Self> {
        let plan = templates.clone().next()?.plan;
        let is_alike = |other: &Plan| {
            let is_same = other.payload == plan.payload && other.counts_up == plan.counts_up;
            is_same && kind(other) == kind(plan) && other.images.len() == plan.images.len()
        };
        let bytes: usize = templates.clone().map(|template| template.images.len()).sum();
        if !templates.clone().all(|template| is_alike(template.plan)) || u32::try_from(bytes).is_err() {
            return None;
        }
        let mut mixed = Self {
            kind: kind(plan)?,
            payload: plan.payload,
            has_long: templates.clone().any(|template| template.plan.has_long),
            of: Vec::new(),
            first: Vec::new(),
            sizes: plan.images.len(),
            images: Vec::new(),
            bytes: Vec::new(),
        };
        for (which, template) in templates.enumerate() {
            let start = mixed.bytes.len();
            mixed.bytes.resize(start + template.images.len(), 0);
            mixed.images.extend(template.plan.images.iter().map(|image| Image {
                start: (start + image.start) as u32,
                ..Image::default()
            }));
            mixed.of.push(Of::default());
            mixed.first.push(0);
            mixed.set(which, template);
            let end = template.flows.count;
            mixed.seek(which, Place { flow: 0, sequence: 0, end });
        }
        Some(mixed)
    }

    /// Template `which` is now `template`: the same but for its addresses of Ethernet.
    pub(in crate::template) fn set(&mut self, which: usize, template: Compiled<'_>) {
        let of = &mut self.of[which];
        self.first[which] = template.flows.first;
        let mut ports = 0;
        if let Some(pair) = template.plan.random_pair() {
            let [src, dst, sport, dport] = pair.fields;
            of.keys = [src.key, dst.key];
            of.mins = [src.min, dst.min];
            of.spans = [src.span, dst.span];
            of.checksum = pair.shape.checksum;
            ports = sport.min + dport.min;
        }
        let images = &mut self.images[which * self.sizes..][..self.sizes];
        for (to, from) in images.iter_mut().zip(&template.plan.images) {
            // Sizes are below 2^16 (`MAXIMUM_SIZE`), and a fold of less than 2^18 fits a partial sum.
            *to = Image {
                start: to.start,
                len: from.len as u16,
                padded: from.padded as u16,
                ip: from.ip.into(),
                l4: u32::from(from.l4) + ports,
            };
            self.bytes[to.start as usize..][..from.padded].copy_from_slice(&template.images[from.start..][..from.padded]);
        }
    }

    /// Template `which` goes on at `place`.
    pub fn seek(&mut self, which: usize, place: Place) {
        self.of[which].seek(place, self.first[which]);
    }

    /// Writes the next frames of the templates `which`, one after the other, of the sizes `sizes` (which of each template's)
    /// and with `departures` (picoseconds). Where one comes to the end of a run of flows, `next` says where it goes on.
    ///
    /// # Panics
    /// If a slot is shorter than its frame, or there is no such template or size.
    pub fn write(&mut self, which: &[u16], sizes: &[u16], departures: &[u64], slots: &mut impl Slots, next: impl FnMut(usize) -> Place) {
        if self.has_long && slots.remembers() {
            self.write_as::<true>(which, sizes, departures, slots, next);
        } else {
            self.write_as::<false>(which, sizes, departures, slots, next);
        }
    }

    /// With `HEADS` no more than that is written of each frame. Each in a function of its own: what writes a frame becomes part of a
    /// loop only where it is used once.
    #[inline(never)]
    fn write_as<const HEADS: bool>(
        &mut self,
        which: &[u16],
        sizes: &[u16],
        departures: &[u64],
        slots: &mut impl Slots,
        next: impl FnMut(usize) -> Place,
    ) {
        match self.kind {
            Kind::Constant => {
                let payload = self.payload;
                self.write_each::<HEADS>(which, sizes, departures, slots, next, |_, _, probe, slot| {
                    if let Some(bytes) = slot.get_mut(payload..).and_then(|rest| rest.first_chunk_mut::<PROBE_BYTES>()) {
                        probe.put(bytes, 0);
                    }
                });
            }
            Kind::Pairs { l3 } => self.write_each::<HEADS>(which, sizes, departures, slots, next, |of, image, probe, slot| {
                if let Some(window) = slot.get_mut(l3..).and_then(|packet| packet.first_chunk_mut::<46>()) {
                    of.patch(image, probe, window);
                }
            }),
        }
    }

    #[inline(always)]
    fn write_each<const HEADS: bool>(
        &mut self,
        which: &[u16],
        sizes: &[u16],
        departures: &[u64],
        slots: &mut impl Slots,
        mut next: impl FnMut(usize) -> Place,
        patch: impl Fn(&Of, &Image, Probe, &mut [u8]),
    ) {
        let (frames, head) = (0..which.len(), self.payload + PROBE_BYTES);
        let Self {
            of, first, images, bytes, ..
        } = self;
        let write = |at: usize, slot: &mut [u8]| {
            let which = usize::from(which[at]);
            let of = &mut of[which];
            let image = &images[which * self.sizes + usize::from(sizes[at])];
            let len = usize::from(image.len);
            let image_bytes = &bytes[image.start as usize..][..usize::from(image.padded)];
            if HEADS {
                copy(&image_bytes[..slot.len()], slot);
            } else {
                copy_padded(image_bytes, len, slot);
            }
            let probe = Probe {
                flow: of.flow,
                sequence: of.sequence,
                departure_ps: departures[at],
            };
            patch(of, image, probe, slot);
            of.states = of.states.map(|state| state.wrapping_add(WEYL));
            of.flow = of.flow.wrapping_add(1);
            if of.flow == of.end {
                of.seek(next(which), first[which]);
            }
            len
        };
        if HEADS {
            slots.each_head(frames, head, write);
        } else {
            slots.each(frames, write);
        }
    }
}

impl Of {
    fn seek(&mut self, place: Place, first: u32) {
        self.flow = first.wrapping_add(place.flow);
        self.end = first.wrapping_add(place.end);
        self.sequence = place.sequence;
        self.states = self.keys.map(|key| key.wrapping_add(u64::from(place.flow).wrapping_mul(WEYL)));
    }

    /// Writes all that is not as in the image, from the IPv4 header to the end of the probe.
    #[inline(always)]
    fn patch(&self, image: &Image, probe: Probe, window: &mut [u8; 46]) {
        let draw = |side: usize| self.mins[side] + scale(finish_hash(self.states[side]), self.spans[side].into()) as u32;
        let (src, dst) = (draw(0), draw(1));
        let found = finished(src, dst, 0, (image.ip, image.l4), self.checksum);
        let both = u32::from(found.udp) << 16 | u32::from(probe.check());
        window[10..12].copy_from_slice(&found.ip.to_be_bytes());
        window[12..20].copy_from_slice(&(u64::from(src) << 32 | u64::from(dst)).to_be_bytes());
        window[26..34].copy_from_slice(&(u64::from(both) << 32 | u64::from(probe.flow)).to_be_bytes());
        window[34..38].copy_from_slice(&probe.sequence.to_be_bytes());
        window[38..46].copy_from_slice(&probe.departure_ps.to_be_bytes());
    }
}
