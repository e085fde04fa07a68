//! What is to go over the members of a group, sorted by member: so each member is given a run of frames, not one at a time.

use crate::aggregation::MEMBERS;
use crate::flight::BURST;

/// Up to [`BURST`] items, those of each member together. What is left in it means nothing.
#[derive(Debug)]
pub(crate) struct ByMember<T> {
    sorted: [T; BURST],
    member_of: [u8; BURST],
    /// Where the items of each member end.
    ends: [u16; MEMBERS],
}

impl<T: Copy + Default> ByMember<T> {
    pub(crate) fn new() -> Self {
        Self {
            sorted: [T::default(); BURST],
            member_of: [0; BURST],
            ends: [0; MEMBERS],
        }
    }

    /// Sorts the first [`BURST`] of `items`, of which those of a member stay in order; `member_of` is asked once for each.
    #[inline(never)]
    pub(crate) fn sort(&mut self, items: &[T], member_of: impl Fn(&T) -> usize) {
        let items = &items[..items.len().min(BURST)];
        // By counting: how many are of lower members is where those of a member begin.
        let mut places = [0; MEMBERS];
        for (member, item) in self.member_of.iter_mut().zip(items) {
            *member = member_of(item) as u8;
            places[usize::from(*member) % MEMBERS] += 1;
        }
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        for (member, item) in self.member_of.iter().zip(items) {
            let place = &mut places[usize::from(*member) % MEMBERS];
            self.sorted[usize::from(*place) % BURST] = *item;
            *place += 1;
        }
        self.ends = places;
    }

    /// The items of each member that were sorted last, from member 0 on.
    #[inline]
    pub(crate) fn runs(&mut self, members: usize, mut visit: impl FnMut(usize, &mut [T])) {
        let mut begin = 0;
        for (member, end) in self.ends[..members].iter().enumerate() {
            let end = usize::from(*end);
            visit(member, &mut self.sorted[begin..end]);
            begin = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted_by_member_and_stay_in_order(
            items in prop::collection::vec(any::<u32>(), 0..=BURST),
            members in 1..=MEMBERS,
        ) {
            let mut by_member = ByMember::new();
            by_member.sort(&[u32::MAX; BURST], |_| members - 1);
            by_member.sort(&items, |item| *item as usize % members);
            let mut visited = 0;
            by_member.runs(members, |member, run| {
                let expected: Vec<_> = items.iter().copied().filter(|item| *item as usize % members == member).collect();
                assert_eq!((member, &*run), (visited, &expected[..]));
                visited += 1;
            });
            prop_assert_eq!(visited, members);
        }
    }
}
