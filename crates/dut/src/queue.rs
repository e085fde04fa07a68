//! A first-in first-out queue whose records always lie side by side, in memory that grows when it must and never shrinks.

/// A queue of small plain records.
///
/// Not a ring: what is in it is one slice, to be worked through without masks. What was taken out leaves room at the
/// front, which [`Self::tidy`] fills when that is cheap.
#[derive(Debug, Default)]
pub(crate) struct Queue<T> {
    records: Vec<T>,
    /// Records taken out since the last tidying.
    head: usize,
}

impl<T: Copy> Queue<T> {
    /// An empty queue with room for `room` records before it first grows.
    pub(crate) fn with_room(room: usize) -> Self {
        Self {
            records: Vec::with_capacity(room),
            head: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.records.len() - self.head
    }

    #[inline]
    pub(crate) fn push(&mut self, record: T) {
        self.records.push(record);
    }

    /// Puts in all of `records`.
    #[inline]
    pub(crate) fn extend(&mut self, records: impl ExactSizeIterator<Item = T>) {
        self.records.extend(records);
    }

    /// All records, oldest first.
    #[inline]
    pub(crate) fn records(&self) -> &[T] {
        &self.records[self.head..]
    }

    /// The same, to change them.
    #[inline]
    pub(crate) fn records_mut(&mut self) -> &mut [T] {
        &mut self.records[self.head..]
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<T> {
        self.records.get(self.head).copied()
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let record = self.front()?;
        self.head += 1;
        Some(record)
    }

    /// Takes out the record that was put in last.
    #[inline]
    pub(crate) fn unpush(&mut self) {
        self.records.pop();
    }

    /// Takes out the first `count` records; there must be as many.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) {
        self.head += count;
    }

    /// Takes out some, oldest first; there must be as many.
    pub(crate) fn remove(&mut self, which: std::ops::Range<usize>) -> std::vec::Drain<'_, T> {
        self.records.drain(self.head + which.start..self.head + which.end)
    }

    /// Takes out all but the first `count` records; there must be as many.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.records.truncate(self.head + count);
    }

    /// Moves what is left to the front, if at least as much was taken out: so a queue that is emptied again and again
    /// stays in the same few cache lines, and each record is moved at most once for one that left.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.head == self.records.len() {
            self.clear();
        } else if self.head >= self.len() {
            let left = self.len();
            self.records.copy_within(self.head.., 0);
            self.records.truncate(left);
            self.head = 0;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Every way in, out and through, beside the standard library's queue.
    #[test]
    fn records_leave_in_the_order_they_came() {
        let (mut queue, mut plain) = (Queue::with_room(1), VecDeque::new());
        let mut state = 1_u32;
        for step in 0..10_000_u32 {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            match state >> 16 & 7 {
                0..=2 => {
                    queue.push(step);
                    plain.push_back(step);
                }
                3 => {
                    queue.extend([step, step + 1].into_iter());
                    plain.extend([step, step + 1]);
                }
                4 | 5 => assert_eq!(queue.pop(), plain.pop_front()),
                6 if step % 3 == 1 => {
                    let (from, to) = (plain.len() / 3, plain.len() / 2);
                    assert!(queue.remove(from..to).eq(plain.drain(from..to)));
                }
                6 if step % 3 == 0 => {
                    let count = plain.len() / 2;
                    queue.truncate(count);
                    plain.truncate(count);
                }
                6 => {
                    let count = plain.len() / 2;
                    queue.skip(count);
                    plain.drain(..count);
                }
                _ => queue.tidy(),
            }
            assert_eq!(queue.front(), plain.front().copied());
            assert_eq!((queue.len(), queue.records()), (plain.len(), &*plain.make_contiguous()));
        }
    }
}
