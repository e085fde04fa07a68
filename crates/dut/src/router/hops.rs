//! Where prefixes lead, each place once and by a number.

use std::collections::HashMap;

/// Where a matching prefix leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hop {
    /// To a next hop: index of a neighbour.
    Via(usize),
    /// To the destination itself, on this interface's link.
    Connected(usize),
    /// To the router itself.
    Local,
}

/// All there are: a full table has many routes and thousands of next hops.
#[derive(Debug, Default)]
pub(super) struct Hops {
    all: Vec<Hop>,
    numbers: HashMap<Hop, u32>,
}

impl Hops {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// The number of a hop.
    pub(super) fn number(&mut self, hop: Hop) -> u32 {
        *self.numbers.entry(hop).or_insert_with(|| {
            self.all.push(hop);
            self.all.len() as u32 - 1
        })
    }

    /// The hop of a number.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Hop {
        self.all[number as usize]
    }
}
