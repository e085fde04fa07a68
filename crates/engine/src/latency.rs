//! One-way latency of one stream: HDR histogram, extremes and sum.

use crate::result::Latency;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

/// The longest latency the histogram tells apart, ns: ten seconds.
const LONGEST_NS: u64 = 10_000_000_000;

/// Latencies of one stream, in nanoseconds rounded down.
#[derive(Clone, Debug)]
pub struct Timing {
    histogram: Histogram<u64>,
    count: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    over: u64,
    negative: u64,
    /// The value last met and how often in a row it came: equal latencies reach the histogram once.
    run_ns: u64,
    run: u64,
}

impl Timing {
    /// Nothing timed yet.
    ///
    /// # Panics
    /// Never: the histogram's bounds are constants it accepts.
    #[must_use]
    pub fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("1, 10^10 and 3 digits are valid bounds"),
            count: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            over: 0,
            negative: 0,
            run_ns: 0,
            run: 0,
        }
    }

    /// A frame departed at `departure_ps` and had arrived at `arrival_ps`.
    #[inline]
    pub fn record(&mut self, departure_ps: u64, arrival_ps: u64) {
        let Some(taken) = arrival_ps.checked_sub(departure_ps) else {
            self.negative += 1;
            return;
        };
        let ns = taken / 1000;
        if ns != self.run_ns {
            self.end_run();
            self.run_ns = ns;
        }
        self.run += 1;
    }

    #[inline]
    fn end_run(&mut self) {
        if self.run == 0 {
            return;
        }
        self.count += self.run;
        self.min_ns = self.min_ns.min(self.run_ns);
        self.max_ns = self.max_ns.max(self.run_ns);
        self.sum_ns += u128::from(self.run_ns) * u128::from(self.run);
        let kept = if self.run == 1 {
            self.histogram.record(self.run_ns)
        } else {
            self.histogram.record_n(self.run_ns, self.run)
        };
        if kept.is_err() {
            self.over += self.run;
        }
        self.run = 0;
    }

    /// What was found; `None` if no frame was timed, not even a negative one.
    #[must_use]
    pub fn finish(mut self) -> Option<Latency> {
        self.end_run();
        if self.count == 0 && self.negative == 0 {
            return None;
        }
        let mut bytes = Vec::new();
        // Writing to a vector does not fail, and the counts fit: they are frames.
        let written = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        Some(Latency {
            count: self.count,
            min_ns: if self.count == 0 { 0 } else { self.min_ns },
            sum_ns: self.sum_ns,
            max_ns: self.max_ns,
            over: self.over,
            negative: self.negative,
            histogram: written
                .map(|_| base64::engine::general_purpose::STANDARD.encode(&bytes))
                .unwrap_or_default(),
        })
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::new()
    }
}
