//! Which frames of a stream are missing: gaps, the first ones and the last, in memory that does not grow.

/// Missing frames near each other, counted in order of departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many of those from the first to the last.
    pub frames: u64,
}

/// The gaps of a stream.
#[derive(Clone, Debug)]
pub struct Losses {
    /// How many may be kept, the last one with them.
    most: usize,
    /// Missing frames with no more than so many others between them are in one gap.
    bridge: u64,
    /// All but the last, as far as there is room.
    kept: Vec<Gap>,
    last: Option<Gap>,
    /// Gaps between those kept and the last.
    further: u64,
    /// Those gaps as one: the frames missing in them, and where the first begins and the last ends.
    between: Option<Gap>,
}

impl Losses {
    /// None yet; `most` gaps, at least one, are kept.
    #[must_use]
    pub fn new(most: u32, bridge: u64) -> Self {
        Self {
            most: (most as usize).max(1),
            bridge,
            kept: Vec::new(),
            last: None,
            further: 0,
            between: None,
        }
    }

    /// Frames `first` to `last` are missing. In ascending order.
    pub fn lose(&mut self, first: u64, last: u64) {
        let frames = last - first + 1;
        match &mut self.last {
            Some(gap) if first - gap.last - 1 <= self.bridge => {
                gap.last = last;
                gap.frames += frames;
            }
            gap => {
                if let Some(before) = gap.replace(Gap { first, last, frames }) {
                    if self.kept.len() + 1 < self.most && self.between.is_none() {
                        self.kept.push(before);
                    } else {
                        self.further += 1;
                        let between = self.between.get_or_insert(Gap { frames: 0, ..before });
                        between.last = before.last;
                        between.frames += before.frames;
                    }
                }
            }
        }
    }

    /// Takes back frame `number`, which was taken for missing.
    #[cold]
    pub fn find(&mut self, number: u64) {
        let place = self.kept.partition_point(|gap| gap.last < number);
        if let Some(gap) = self.kept.get_mut(place).filter(|gap| gap.first <= number) {
            gap.find(number);
            if gap.frames == 0 {
                self.kept.remove(place);
            }
        } else if let Some(gap) = self.last.as_mut().filter(|gap| gap.first <= number) {
            gap.find(number);
            if gap.frames == 0 {
                // Which of those between are still missing is not known one by one: they are the last gap together,
                // and so the last loss is never taken to be one of the first.
                self.further = 0;
                self.last = self.between.take().or_else(|| self.kept.pop());
            }
        } else if let Some(between) = self.between.as_mut() {
            between.find(number);
            if between.frames == 0 {
                self.further = 0;
                self.between = None;
            }
        }
    }

    /// The gaps that are kept, in order of departure.
    pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.kept.iter().chain(&self.last)
    }

    /// How many gaps lie before the last and are not kept, and the frames missing in them.
    #[must_use]
    pub fn further(&self) -> (u64, u64) {
        (self.further, self.between.map_or(0, |gap| gap.frames))
    }
}

impl Gap {
    /// Frame `number` is not missing. Where others are not missing either, which is the next missing one is not known.
    fn find(&mut self, number: u64) {
        let is_dense = self.last - self.first + 1 == self.frames;
        self.frames -= 1;
        if is_dense && self.frames > 0 {
            self.first += u64::from(number == self.first);
            self.last -= u64::from(number == self.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(losses: &Losses) -> Vec<(u64, u64, u64)> {
        losses.gaps().map(|gap| (gap.first, gap.last, gap.frames)).collect()
    }

    #[test]
    fn the_first_gaps_and_the_last_are_kept() {
        let mut losses = Losses::new(3, 0);
        for first in [10, 20, 30, 40, 50] {
            losses.lose(first, first + 1);
            losses.lose(first + 2, first + 2);
        }
        assert_eq!(found(&losses), [(10, 12, 3), (20, 22, 3), (50, 52, 3)]);
        assert_eq!(losses.further(), (2, 6));
        let mut last = Losses::new(1, 0);
        last.lose(1, 1);
        last.lose(3, 3);
        assert_eq!((found(&last), last.further()), (vec![(3, 3, 1)], (1, 1)));
    }

    #[test]
    fn missing_frames_near_each_other_are_one_gap() {
        let mut losses = Losses::new(9, 5);
        for number in [0, 6, 13, 14, 20] {
            losses.lose(number, number);
        }
        assert_eq!(found(&losses), [(0, 6, 2), (13, 20, 3)]);
    }

    #[test]
    fn frames_that_come_after_all_are_taken_out_again() {
        let mut losses = Losses::new(3, 0);
        for first in [10, 20, 30, 40] {
            losses.lose(first, first + 2);
        }
        losses.find(10);
        losses.find(21);
        losses.find(31);
        losses.find(42);
        assert_eq!(found(&losses), [(11, 12, 2), (20, 22, 2), (40, 41, 2)]);
        assert_eq!(losses.further(), (1, 2));
        losses.find(11);
        losses.find(12);
        assert_eq!(found(&losses), [(20, 22, 2), (40, 41, 2)]);
        // Where nothing is missing in the last gap any more, those before it are the last, and none of the first is.
        let mut reordered = Losses::new(2, 0);
        for first in [10, 20, 30, 40] {
            reordered.lose(first, first + 1);
        }
        reordered.find(40);
        reordered.find(41);
        assert_eq!(found(&reordered), [(10, 11, 2), (20, 31, 4)]);
        assert_eq!(reordered.further(), (0, 0));
        let mut all = Losses::new(3, 0);
        all.lose(1, 1);
        all.lose(5, 5);
        all.find(5);
        assert_eq!(found(&all), [(1, 1, 1)]);
        all.find(1);
        assert_eq!(found(&all), []);
    }
}
