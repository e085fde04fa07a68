//! Histograms in HDR's own format (V2, deflated), in base64.
//!
//! A trial may have thousands of streams with two or more each. Of one alone, most of the time goes into asking for the memory
//! that is written in, half a megabyte: so it is kept from one to the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use std::cell::RefCell;

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
    static WRITER: RefCell<Option<Box<Writer>>> = const { RefCell::new(None) };
}

/// The histogram of `counted`, values and how often each came, that tells values up to `longest` apart by `digits` significant
/// digits; and how many came that are longer.
///
/// # Panics
/// If these are no bounds of a histogram (they are constants).
pub fn write(longest: u64, digits: u8, counted: impl Iterator<Item = (u64, u64)>) -> (String, u64) {
    WRITER.with_borrow_mut(|writer| {
        let before = writer.take();
        let writer = match before.filter(|it| (it.histogram.high(), it.histogram.sigfig()) == (longest, digits)) {
            Some(same) => writer.insert(same),
            None => writer.insert(Box::new(Writer::new(longest, digits))),
        };
        writer.write(counted)
    })
}

impl Writer {
    fn new(longest: u64, digits: u8) -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, longest, digits).expect("valid bounds"),
            serializer: V2Serializer::new(),
            plain: Vec::new(),
            zlib: Compress::new(Compression::default(), true),
            deflated: Vec::new(),
        }
    }

    fn write(&mut self, counted: impl Iterator<Item = (u64, u64)>) -> (String, u64) {
        self.histogram.reset();
        let mut beyond = 0;
        for (value, count) in counted {
            if self.histogram.record_n(value, count).is_err() {
                beyond += count;
            }
        }
        self.plain.clear();
        // Writing to a vector does not fail, and the counts fit: they are frames.
        if self.serializer.serialize(&self.histogram, &mut self.plain).is_err() {
            return (String::new(), beyond);
        }
        self.deflate();
        (STANDARD.encode(&self.deflated), beyond)
    }

    /// Deflates `plain`.
    fn deflate(&mut self) {
        let Self { plain, zlib, deflated, .. } = self;
        deflated.clear();
        deflated.extend(COOKIE.to_be_bytes());
        deflated.extend([0; 4]);
        zlib.reset();
        loop {
            // As much again as is left, if it does not become shorter at all.
            let left = plain.len() - zlib.total_in() as usize;
            deflated.reserve(left + 1024);
            let status = zlib.compress_vec(&plain[plain.len() - left..], deflated, FlushCompress::Finish);
            if !matches!(status, Ok(Status::Ok | Status::BufError)) {
                break;
            }
        }
        let length = (deflated.len() - 8) as u32;
        deflated[4..8].copy_from_slice(&length.to_be_bytes());
    }
}
