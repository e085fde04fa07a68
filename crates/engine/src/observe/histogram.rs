//! Histograms of latency in HDR's own format (V2, deflated), in base64.
//!
//! A trial may have thousands of streams with two or more each. Of one alone, most of the time goes into asking for the memory
//! that is written in, half a megabyte: so it is kept from one to the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use std::cell::RefCell;

/// The longest latency with a bucket of its own, ns: ten seconds.
pub const LONGEST_NS: u64 = 10_000_000_000;
/// Significant digits.
const DIGITS: u8 = 3;
/// How the deflated form begins; its length follows.
const COOKIE: u32 = 0x1c84_9314;

/// What histograms are written with.
struct Writer {
    histogram: Histogram<u64>,
    serializer: V2Serializer,
    plain: Vec<u8>,
    zlib: Compress,
    deflated: Vec<u8>,
}

thread_local! {
    static WRITER: RefCell<Writer> = RefCell::new(Writer {
        histogram: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("1, 10^10 and 3 digits are valid bounds"),
        serializer: V2Serializer::new(),
        plain: Vec::new(),
        zlib: Compress::new(Compression::default(), true),
        deflated: Vec::new(),
    });
}

/// The histogram of `counted`: latencies in ns, none with more bits than [`LONGEST_NS`], and how often each came.
pub fn write(counted: impl Iterator<Item = (u64, u64)>) -> String {
    WRITER.with_borrow_mut(|writer| writer.write(counted))
}

impl Writer {
    fn write(&mut self, counted: impl Iterator<Item = (u64, u64)>) -> String {
        self.histogram.reset();
        for (ns, count) in counted {
            self.histogram.saturating_record_n(ns, count);
        }
        self.plain.clear();
        // Writing to a vector does not fail, and the counts fit: they are frames.
        if self.serializer.serialize(&self.histogram, &mut self.plain).is_err() {
            return String::new();
        }
        self.deflate();
        STANDARD.encode(&self.deflated)
    }

    /// Deflates `plain`.
    fn deflate(&mut self) {
        let Self { plain, zlib, deflated, .. } = self;
        deflated.clear();
        deflated.extend(COOKIE.to_be_bytes());
        deflated.extend([0; 4]);
        zlib.reset();
        loop {
            let rest = &plain[zlib.total_in() as usize..];
            // As much again, if it does not become shorter at all.
            deflated.reserve(rest.len() + 1024);
            let status = zlib.compress_vec(rest, deflated, FlushCompress::Finish);
            if !matches!(status, Ok(Status::Ok | Status::BufError)) {
                break;
            }
        }
        let length = (deflated.len() - 8) as u32;
        deflated[4..8].copy_from_slice(&length.to_be_bytes());
    }
}
