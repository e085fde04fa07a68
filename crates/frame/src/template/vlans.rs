//! The VLANs that a template's flows are on.

use super::Template;
use crate::parse::Tag;
use crate::vary::Source;
use std::collections::HashSet;

impl Template {
    /// The VLANs the flows are on, in order of flows: the outermost tags of the first flow on each. `None` if these are
    /// more than `most`.
    ///
    /// Looks at no more flows than it takes to have seen every one, and of those at the VLAN identifiers alone.
    #[must_use]
    pub fn vlans(&self, most: usize) -> Option<Vec<Vec<Tag>>> {
        let outermost = self.stack.fields.iter().filter(|field| (1..=self.tags).contains(&field.header));
        let vids: Vec<&Source> = outermost.map(|field| &field.source).collect();
        let combinations = vids.iter().map(|vid| vid.count()).fold(1, u64::saturating_mul);
        let period = vids.iter().try_fold(1, |all, vid| least_common_multiple(all, vid.period()?));
        let flows = period.map_or(self.flows.count, |period| period.min(u64::from(self.flows.count)) as u32);
        let (mut known, mut found) = (HashSet::new(), Vec::new());
        let mut values = vec![0_u16; vids.len()];
        for flow in 0..flows {
            for (value, vid) in values.iter_mut().zip(&vids) {
                *value = vid.value(flow) as u16; // 12 bits
            }
            if known.contains(&values) {
                continue;
            }
            if found.len() == most {
                return None;
            }
            known.insert(values.clone());
            found.push(self.tags(flow));
            if found.len() as u64 == combinations {
                break;
            }
        }
        Some(found)
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
