//! The addresses and ports of a template's flows, and flows that are picked out of many.

use super::Template;
use super::patch::compile::compile;
use crate::tuple::FourTuple;
use crate::vary::Source;

impl Template {
    /// Gives flow `i` the headers of flow `picks[i]`, of which there are as many as flows.
    pub fn pick(&mut self, picks: &[u32]) {
        debug_assert_eq!(picks.len(), self.flows.count as usize);
        let fields = self.stack.fields.iter_mut().map(|field| &mut field.source);
        for source in fields.chain(self.stack.writes.iter_mut().map(|write| &mut write.source)) {
            if !matches!(source, Source::Constant(_)) {
                *source = Source::List(picks.iter().map(|&flow| source.value(flow)).collect());
            }
        }
        (self.images, self.plan) = compile(&self.stack, &self.sizes, self.flows.count);
    }

    /// That of each flow, of a template of which [`FourTuple::before_payload`] is known.
    pub fn tuples(&self) -> impl Iterator<Item = FourTuple> + '_ {
        let of = |flow| FourTuple::of(&self.frame(flow, 0, 0, 0)).unwrap_or_default();
        (0..self.flows.count).map(of)
    }

    /// Gives flow `i` the addresses and ports `tuples[i]`, of which there are as many as flows; as [`Self::tuples`].
    ///
    /// Whatever they are, the template stays of one kind: it takes its place among [others](super::Mixed) again.
    pub fn set_tuples(&mut self, tuples: &[FourTuple]) {
        debug_assert_eq!(tuples.len(), self.flows.count as usize);
        for field in &mut self.stack.fields {
            let values: Option<Vec<_>> = tuples.iter().map(|tuple| tuple.field(field.field)).collect();
            // Those of Ethernet have the same names.
            if let Some(values) = values.filter(|_| field.header > self.tags) {
                field.source = Source::List(values);
            }
        }
        (self.images, self.plan) = compile(&self.stack, &self.sizes, self.flows.count);
    }
}
