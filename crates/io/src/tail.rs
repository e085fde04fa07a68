//! What is known of frames without looking at them: most bytes of a long test frame are the same in all of them.
//!
//! Behind its probe a test frame holds bytes that count up from 0 (RFC 2544 appendix C.2.6.4). Where such a frame was written
//! over another one, they are there already: so whoever keeps frames at places of his own memory may keep a [`Tail`] for each
//! place, and whoever writes there through a [`Place`] leaves alone what is as it should be. The bytes are always there, and
//! reading them asks nobody: what is saved is writing, copying and summing them, and that the memory they lie in is touched.
//!
//! A tail is believed by those who do not look, so it must never say more than is so. Only a [`Place`] writes it, together with
//! the bytes, and whoever may change any byte through it takes the tail away first.

/// Bytes that count up, as many as are written at once.
const COUNT: [u8; 256] = {
    let mut count = [0; 256];
    let mut at = 0;
    while at < count.len() {
        count[at] = at as u8;
        at += 1;
    }
    count
};

/// What is known of the bytes at a place: from the one at `from` to the one before `end` they count up from 0, 255 followed
/// by 0 again. Nothing, if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    from: u16,
    end: u16,
}

impl Tail {
    /// Nothing is known.
    pub const NONE: Self = Self { from: 0, end: 0 };

    /// From where on the bytes of a frame of `len` bytes at this place are known; `len` if none are.
    #[inline(always)]
    fn of_frame(self, len: usize) -> usize {
        if len <= usize::from(self.end) {
            usize::from(self.from).min(len)
        } else {
            len
        }
    }

    /// Whether the bytes from the one at `from` to the one before `end` are known.
    #[inline(always)]
    pub(crate) fn says(self, from: usize, end: usize) -> bool {
        usize::from(self.from) == from && end <= usize::from(self.end)
    }

    /// The first `count` bytes may be about to change.
    #[inline(always)]
    fn forget_first(&mut self, count: usize) {
        if count > usize::from(self.from) {
            *self = Self::NONE;
        }
    }
}

/// A frame to be read, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    bytes: &'a [u8],
    counts_from: usize,
}

impl<'a> Seen<'a> {
    /// The frame `bytes`, at the beginning of a place of which `tail` is known.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &'a [u8], tail: Tail) -> Self {
        Self {
            bytes,
            counts_from: tail.of_frame(bytes.len()),
        }
    }

    /// Its bytes, all of them.
    #[inline(always)]
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// From where on its bytes are known to count up from 0: its length, if nothing is known.
    #[inline(always)]
    #[must_use]
    pub fn counts_from(self) -> usize {
        self.counts_from
    }
}

impl<'a> From<&'a [u8]> for Seen<'a> {
    /// A frame of which nothing is known.
    #[inline(always)]
    fn from(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            counts_from: bytes.len(),
        }
    }
}

/// A place for a frame, to be written, and what is known of it.
#[derive(Debug)]
pub struct Place<'a> {
    bytes: &'a mut [u8],
    tail: &'a mut Tail,
}

impl<'a> Place<'a> {
    /// The place that `bytes` are or begin; `tail` is what is known of them.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &'a mut [u8], tail: &'a mut Tail) -> Self {
        Self { bytes, tail }
    }

    /// All its bytes, to be read.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// All its bytes, to be changed in any way.
    #[inline(always)]
    pub fn all(&mut self) -> &mut [u8] {
        *self.tail = Tail::NONE;
        self.bytes
    }

    /// Its first `N` bytes, to be changed in any way; `None` if there are not as many.
    #[inline(always)]
    pub fn first<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.tail.forget_first(N);
        self.bytes.first_chunk_mut()
    }

    /// Its first `count` bytes, to be changed in any way.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline(always)]
    pub fn head(&mut self, count: usize) -> &mut [u8] {
        self.tail.forget_first(count);
        &mut self.bytes[..count]
    }

    /// From the one at `from` to the one before `end` its bytes count up from 0 from now on.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline(always)]
    pub fn count_up(&mut self, from: usize, end: usize) {
        if from < end && !self.tail.says(from, end) {
            self.count_up_anew(from, end);
        }
    }

    #[inline(never)]
    fn count_up_anew(&mut self, from: usize, end: usize) {
        *self.tail = Tail::NONE;
        for run in self.bytes[from..end].chunks_mut(COUNT.len()) {
            run.copy_from_slice(&COUNT[..run.len()]);
        }
        if let (Ok(from), Ok(end)) = (u16::try_from(from), u16::try_from(end)) {
            *self.tail = Tail { from, end };
        }
    }

    /// Makes its first bytes those of `frame`; how many.
    ///
    /// # Panics
    /// If it is longer.
    #[inline(always)]
    pub fn copy(&mut self, frame: Seen<'_>) -> usize {
        let (len, head) = (frame.bytes.len(), frame.counts_from);
        copy(self.head(head), &frame.bytes[..head]);
        self.count_up(head, len);
        len
    }
}

/// Copies a frame, or its beginning, to as many bytes. What fits two cache lines, as most does, by its first and last bytes,
/// which may overlap: moves of a constant length cost less than a call.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        32..=64 => copy_ends::<32>(to, from),
        65..=128 => copy_ends::<64>(to, from),
        _ => to.copy_from_slice(from),
    }
}

#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk()) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROOM: usize = 700;

    /// What may be done at a place.
    #[derive(Clone, Debug)]
    enum Step {
        All(usize),
        First,
        Head(usize),
        CountUp(usize, usize),
        Copy(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let at = || prop_oneof![0..ROOM, Just(60), Just(61), Just(ROOM - 1)];
        prop_oneof![
            at().prop_map(Step::All),
            Just(Step::First),
            at().prop_map(Step::Head),
            (at(), at()).prop_map(|(from, end)| Step::CountUp(from, end)),
            (at(), at()).prop_map(|(from, len)| Step::Copy(from.min(len), len)),
        ]
    }

    fn count(bytes: &mut [u8]) {
        bytes.iter_mut().zip((0..=255).cycle()).for_each(|(byte, number)| *byte = number);
    }

    proptest! {
        /// Beside bytes that are all written each time.
        #[test]
        fn nothing_is_known_that_is_not_so(steps in prop::collection::vec((step(), 1..=255_u8), 1..40)) {
            let (mut bytes, mut expected, mut tail) = ([0; ROOM], [0; ROOM], Tail::NONE);
            for (step, value) in steps {
                let mut place = Place::new(&mut bytes, &mut tail);
                match step {
                    Step::All(at) => {
                        place.all()[at] ^= value;
                        expected[at] ^= value;
                    }
                    Step::First => {
                        place.first::<34>().expect("as many")[33] ^= value;
                        expected[33] ^= value;
                    }
                    Step::Head(len) => {
                        place.head(len).iter_mut().for_each(|byte| *byte ^= value);
                        expected[..len].iter_mut().for_each(|byte| *byte ^= value);
                    }
                    Step::CountUp(from, end) => {
                        place.count_up(from, end);
                        if let Some(bytes) = expected.get_mut(from..end) {
                            count(bytes);
                        }
                    }
                    Step::Copy(from, len) => {
                        let (mut other, mut known) = ([value; ROOM], Tail::NONE);
                        Place::new(&mut other, &mut known).count_up(from, len);
                        prop_assert_eq!(place.copy(Seen::new(&other[..len], known)), len);
                        expected[..len].copy_from_slice(&other[..len]);
                    }
                }
                prop_assert_eq!(bytes, expected);
                let mut known = bytes;
                count(&mut known[usize::from(tail.from)..usize::from(tail.end)]);
                prop_assert_eq!(known, bytes);
            }
        }
    }
}
