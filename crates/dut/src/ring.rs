//! A first-in first-out queue in one flat piece of memory that grows when it must and never shrinks.

/// A ring of small plain records. Capacity is a power of two, so a place is found with a mask.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    /// Number of records ever taken out; the place is this, masked.
    head: usize,
    /// Number of records ever put in.
    tail: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring with room for at least `room` records before it first grows.
    pub(crate) fn with_room(room: usize) -> Self {
        Self {
            places: vec![T::default(); room.next_power_of_two().max(16)],
            head: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tail - self.head
    }

    #[inline]
    pub(crate) fn push(&mut self, record: T) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        self.places[self.tail & mask] = record;
        self.tail += 1;
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<T> {
        self.get(0)
    }

    /// The record `index` places behind the front.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        let mask = self.places.len() - 1;
        (index < self.len()).then(|| self.places[(self.head + index) & mask])
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let mask = self.places.len() - 1;
        if index < self.len() {
            Some(&mut self.places[(self.head + index) & mask])
        } else {
            None
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let record = self.front()?;
        self.head += 1;
        Some(record)
    }

    /// The first `count` records (there must be as many), in two pieces: the second is what lies beyond the end.
    #[inline]
    pub(crate) fn first(&self, count: usize) -> (&[T], &[T]) {
        let from = self.head & (self.places.len() - 1);
        let whole = count.min(self.places.len() - from);
        (&self.places[from..from + whole], &self.places[..count - whole])
    }

    /// Takes out the first `count` records; there must be as many.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) {
        self.head += count;
    }

    /// Starts over at the first place if empty: a ring that is emptied again and again then stays in the same few
    /// cache lines, where it would else walk through all of its memory.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        if self.head == self.tail {
            self.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.head, self.tail) = (0, 0);
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity(self.places.len() * 2);
        larger.extend((0..self.len()).filter_map(|index| self.get(index)));
        self.head = 0;
        self.tail = larger.len();
        larger.resize(self.places.len() * 2, T::default());
        self.places = larger;
    }
}
