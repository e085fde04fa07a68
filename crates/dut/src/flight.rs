//! A frame on its way through the device.

use crate::aggregation::MEMBERS;

/// Frames handed to a port at once.
pub(crate) const BURST: usize = 256;

/// Where a frame lies in the pool, and when it is due at its next stage. Two words, because that is how it is moved, many
/// times over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    /// Picoseconds.
    pub(crate) at: u64,
    pub(crate) frame: Frame,
}

/// Slot in the low half, length in the 16 bits above it, then a bit for `late`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame(u64);

const LATE: u64 = 1 << 48;

impl Frame {
    /// No frame at all.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(crate) fn new(slot: u32, len: u16) -> Self {
        Self(u64::from(slot) | u64::from(len) << 32)
    }

    /// Returns the frame's slot in the pool.
    #[inline(always)]
    pub(crate) fn slot(self) -> u32 {
        self.0 as u32
    }

    /// Bytes, FCS not counted.
    #[inline(always)]
    pub(crate) fn len(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// In front of a line: whether it is due within the picosecond after [`Flight::at`], not at that itself.
    #[inline(always)]
    pub(crate) fn is_late(self) -> bool {
        self.0 & LATE != 0
    }

    #[inline(always)]
    pub(crate) fn late(self, late: bool) -> Self {
        Self(self.0 & !LATE | u64::from(late) << 48)
    }
}

/// Fills `merged` with the first flights of all `rows`, each in order of time, in order of time (at the same picosecond those of
/// the lower row first); `whose` learns from which row each one is. There must be as many.
///
/// No branch on which row is next: it is as good as random. Never inlined: all that it works with fits the registers.
#[inline(never)]
pub(crate) fn merge(rows: &[&[Flight]], merged: &mut [Flight], whose: impl FnMut(usize, usize)) {
    match rows.len() {
        2 => merge_two([rows[0], rows[1]], merged, whose),
        ..=8 => Tournament::<8>::of(rows).play(merged, whose),
        _ => Tournament::<MEMBERS>::of(rows).play(merged, whose),
    }
}

#[inline(always)]
fn merge_two(rows: [&[Flight]; 2], merged: &mut [Flight], mut whose: impl FnMut(usize, usize)) {
    const NEVER: Flight = Flight {
        at: u64::MAX,
        frame: Frame::NONE,
    };
    let [one, other] = rows;
    let (mut from_one, mut from_other) = (0, 0);
    for (index, to) in merged.iter_mut().enumerate() {
        let first = one.get(from_one).copied().unwrap_or(NEVER);
        let second = other.get(from_other).copied().unwrap_or(NEVER);
        let row = usize::from(second.at < first.at);
        *to = if second.at < first.at { second } else { first };
        whose(index, row);
        from_one += 1 - row;
        from_other += row;
    }
}

/// A merge of up to `N` rows, a power of two: the first flights of the rows play for the earliest, two rows, two winners and so on.
/// Once the winner has gone on its way, the next of its row plays the games on its way to the final, and no others.
///
/// A flight plays with a number that has its row in the lowest bits: so no game ends in a draw, and its result is one number.
struct Tournament<'a, const N: usize> {
    /// What is left of each row.
    rows: [&'a [Flight]; N],
    /// The numbers the first flights of the rows play with.
    players: [u64; N],
    /// Winners: of the final in 1, of the games before the one in `i` in `2 * i` and `2 * i + 1`.
    winners: [u64; N],
    /// Times are counted from here.
    from: u64,
}

impl<'a, const N: usize> Tournament<'a, N> {
    /// Times from here on do not fit a number: they all count as this.
    const FAR: u64 = u64::MAX / 2 / N as u64;

    fn of(rows: &[&'a [Flight]]) -> Self {
        let mut all = [&[][..]; N];
        all[..rows.len()].copy_from_slice(rows);
        let mut tournament = Self {
            rows: all,
            players: [0; N],
            winners: [0; N],
            from: 0,
        };
        tournament.begin();
        tournament
    }

    /// Counts times from the earliest flight on, and plays all games.
    fn begin(&mut self) {
        self.from = self
            .rows
            .iter()
            .filter_map(|row| row.first())
            .map(|flight| flight.at)
            .min()
            .unwrap_or(0);
        for row in 0..N {
            self.players[row] = self.player(row);
        }
        for game in (1..N).rev() {
            self.winners[game] = match 2 * game {
                row if row >= N => self.players[row - N].min(self.players[row - N + 1]),
                before => self.winners[before].min(self.winners[before + 1]),
            };
        }
    }

    /// The number that the first flight of `row` plays with.
    #[inline(always)]
    fn player(&self, row: usize) -> u64 {
        match self.rows[row].first() {
            Some(flight) => (flight.at - self.from).min(Self::FAR) * N as u64 + row as u64,
            None => u64::MAX,
        }
    }

    #[inline(always)]
    fn play(mut self, merged: &mut [Flight], mut whose: impl FnMut(usize, usize)) {
        let mut winner = self.winners[1];
        for (index, to) in merged.iter_mut().enumerate() {
            if winner >= Self::FAR * N as u64 {
                self.begin();
                winner = self.winners[1];
            }
            let row = winner as usize % N;
            let Some((flight, rest)) = self.rows[row].split_first() else {
                return;
            };
            *to = *flight;
            whose(index, row);
            self.rows[row] = rest;
            winner = self.player(row);
            self.players[row] = winner;
            winner = winner.min(self.players[row ^ 1]);
            let mut game = (N + row) / 2;
            for _ in 1..N.ilog2() {
                self.winners[game % N] = winner;
                winner = winner.min(self.winners[(game ^ 1) % N]);
                game /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a stable sort, with few different times, so that many are equal, and with times that are far apart.
        #[test]
        fn rows_merge_in_order_of_time_and_row(
            rows in prop::collection::vec(prop::collection::vec((0..9_u64, 0..9_u64, any::<bool>()), 0..40), 1..=MEMBERS),
            members in 1..=MEMBERS,
            less in 0..9_usize,
        ) {
            let mut rows: Vec<Vec<Flight>> = rows
                .iter()
                .map(|row| row.iter().map(|&(near, far, is_far)| near + if is_far { far << 59 } else { 0 }))
                .map(|row| row.map(|at| Flight { at, frame: Frame::NONE }).collect())
                .collect();
            rows.resize(members, Vec::new());
            let mut expected = Vec::new();
            for (row, flights) in rows.iter_mut().enumerate() {
                flights.sort_by_key(|flight| flight.at);
                for (place, flight) in flights.iter_mut().enumerate() {
                    flight.frame = Frame::new((row * 100 + place) as u32, 60);
                    expected.push((row, *flight));
                }
            }
            expected.sort_by_key(|(row, flight)| (flight.at, *row));
            expected.truncate(expected.len().saturating_sub(less));
            let rows: Vec<&[Flight]> = rows.iter().map(Vec::as_slice).collect();
            let (mut merged, mut of) = (vec![Flight::default(); expected.len()], Vec::new());
            merge(&rows, &mut merged, |_, row| of.push(row));
            let merged: Vec<_> = of.into_iter().zip(merged).collect();
            let of = |(row, flight): &(usize, Flight)| (*row, flight.at, flight.frame);
            prop_assert_eq!(merged.iter().map(of).collect::<Vec<_>>(), expected.iter().map(of).collect::<Vec<_>>());
        }
    }
}
