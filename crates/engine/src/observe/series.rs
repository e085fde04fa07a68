//! Counts per sample of time.

/// Counts in equal samples from the start of traffic. What lies before the first or after the last
/// sample is counted in that one, so a series always adds up to its total.
#[derive(Clone, Debug)]
pub struct Series {
    bins: Vec<u64>,
    start_ps: u64,
    sample_ps: u64,
    /// The sample last counted in and the times it spans: most frames fall into it without a division.
    current: usize,
    from: u64,
    until: u64,
}

impl Series {
    /// `samples` samples (at least one) of `sample_ps` from `start_ps` on.
    #[must_use]
    pub fn new(start_ps: u64, sample_ps: u64, samples: usize) -> Self {
        let mut series = Self {
            bins: vec![0; samples.max(1)],
            start_ps,
            sample_ps: sample_ps.max(1),
            current: 0,
            from: 0,
            until: 0,
        };
        series.seek(start_ps);
        series
    }

    /// Counts `count` at `at_ps`.
    #[inline]
    pub fn add(&mut self, at_ps: u64, count: u64) {
        if at_ps < self.from || at_ps >= self.until {
            self.seek(at_ps);
        }
        self.bins[self.current] += count;
    }

    /// Counts `count` in sample `index`.
    #[inline]
    pub fn add_in(&mut self, index: usize, count: u64) {
        self.bins[index] += count;
    }

    /// Whether `at_ps` falls into the sample last counted in.
    #[inline]
    #[must_use]
    pub fn holds(&self, at_ps: u64) -> bool {
        at_ps >= self.from && at_ps < self.until
    }

    /// Counts one at each of `times`, which lie between `low` and `high`.
    #[inline]
    pub fn add_each(&mut self, times: &[u64], low: u64, high: u64) {
        self.add(low, 0);
        if self.holds(high) {
            self.bins[self.current] += times.len() as u64;
        } else {
            times.iter().for_each(|&time| self.add(time, 1));
        }
    }

    /// The sample of `at_ps`.
    #[inline]
    pub fn place(&mut self, at_ps: u64) -> usize {
        if !self.holds(at_ps) {
            self.seek(at_ps);
        }
        self.current
    }

    #[cold]
    fn seek(&mut self, at_ps: u64) {
        let last = self.bins.len() - 1;
        let index = (at_ps.saturating_sub(self.start_ps) / self.sample_ps).min(last as u64);
        self.current = index as usize;
        self.from = if index == 0 { 0 } else { self.start_ps + index * self.sample_ps };
        self.until = if self.current == last {
            u64::MAX
        } else {
            self.start_ps + (index + 1) * self.sample_ps
        };
    }

    /// Adds the counts of another series of the same samples. One that never began has none.
    pub fn absorb(&mut self, other: &Self) {
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
    }

    /// The counts.
    #[must_use]
    pub fn bins(&self) -> &[u64] {
        &self.bins
    }
}
