//! Where a template's flows go on the first link: their outermost destinations, and the VLANs they are on.

use super::Template;
use crate::layout::mac;
use crate::parse::Tag;
use crate::spec::Mac;
use crate::vary::Source;
use crate::write::StackWrite;
use std::collections::HashSet;

impl Template {
    /// The VLANs the flows are on, in order of flows: the outermost tags of the first flow on each. `None` if these are
    /// more than `most`.
    ///
    /// Looks at no more flows than it takes to have seen every one, and of those at the VLAN identifiers alone.
    #[must_use]
    pub fn vlans(&self, most: usize) -> Option<Vec<Vec<Tag>>> {
        let mut different = Different::new(self.vids().collect(), self.flows.count);
        let found: Vec<_> = different.by_ref().take(most).map(|flow| self.tags(flow)).collect();
        different.next().is_none().then_some(found)
    }

    /// The outermost destination MACs of the first `most` flows, with the tags before which they stand: each pair
    /// once, in order of flows.
    ///
    /// Looks at no more flows than it takes to have seen every one: at a single one where neither varies.
    pub fn destinations(&self, most: u32) -> impl Iterator<Item = (Mac, Vec<Tag>)> + '_ {
        let dst = self.stack.fields.iter().find(|field| field.header == 0 && field.field == "dst");
        let dst = &dst.expect("the first header is Ethernet").source;
        let over_dst = || self.stack.writes.iter().filter(|write| write.at < 6);
        let sources = [dst].into_iter().chain(self.vids()).chain(over_dst().map(|write| &write.source));
        let (sources, is_written) = (sources.collect(), over_dst().next().is_some());
        Different::new(sources, self.flows.count.min(most)).map(move |flow| {
            let tags = if self.tags == 0 { Vec::new() } else { self.tags(flow) };
            let written = || {
                self.frame(flow, 0, 0, 0)[..6]
                    .iter()
                    .fold(0, |number, byte| number << 8 | u128::from(*byte))
            };
            (mac(if is_written { written() } else { dst.value(flow) }), tags)
        })
    }

    /// What the VLAN identifiers of the outermost tags vary by.
    fn vids(&self) -> impl Iterator<Item = &Source> {
        let outermost = self.stack.fields.iter().filter(|field| (1..=self.tags).contains(&field.header));
        let tags = 12..12 + 4 * self.tags;
        let is_over = move |write: &&StackWrite| write.at < tags.end && write.range().end > tags.start;
        let written = self.stack.writes.iter().filter(is_over);
        outermost.map(|field| &field.source).chain(written.map(|write| &write.source))
    }
}

/// The flows in which fields together have values that they had in no flow before.
struct Different<'a> {
    sources: Vec<&'a Source>,
    /// The next flow, and the one from which on everything comes again.
    next: u32,
    end: u32,
    /// How many there are to be found at most.
    left: u64,
    known: HashSet<Vec<u128>>,
    values: Vec<u128>,
}

impl<'a> Different<'a> {
    fn new(sources: Vec<&'a Source>, flows: u32) -> Self {
        let period = sources.iter().try_fold(1, |all, one| least_common_multiple(all, one.period()?));
        Self {
            next: 0,
            end: period.map_or(flows, |period| period.min(u64::from(flows)) as u32),
            left: sources.iter().map(|one| one.count()).fold(1, u64::saturating_mul),
            known: HashSet::new(),
            values: vec![0; sources.len()],
            sources,
        }
    }
}

impl Iterator for Different<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.left > 0 && self.next < self.end {
            let flow = self.next;
            self.next += 1;
            for (value, source) in self.values.iter_mut().zip(&self.sources) {
                *value = source.value(flow);
            }
            if !self.known.contains(&self.values) {
                self.known.insert(self.values.clone());
                self.left -= 1;
                return Some(flow);
            }
        }
        None
    }
}

/// Of numbers above 0; `None` beyond 64 bits.
fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b)
}
