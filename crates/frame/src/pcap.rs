//! Capture files, for Wireshark and tcpdump: classic pcap with nanosecond times.

use std::io::{self, Write};

/// The magic number of a pcap with nanosecond times, written in the byte order of the rest (little endian).
const MAGIC: u32 = 0xa1b2_3c4d;
/// Link type Ethernet.
const ETHERNET: u32 = 1;
/// Longest frame kept whole.
const SNAP_LENGTH: u32 = 262_144;

/// Writes frames to a capture.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Begins a capture in `to`; buffer it if it is a file.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn new(mut to: W) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&MAGIC.to_le_bytes());
        header.extend_from_slice(&2u16.to_le_bytes()); // version 2.4
        header.extend_from_slice(&4u16.to_le_bytes());
        header.extend_from_slice(&[0; 8]); // UTC; accuracy
        header.extend_from_slice(&SNAP_LENGTH.to_le_bytes());
        header.extend_from_slice(&ETHERNET.to_le_bytes());
        to.write_all(&header)?;
        Ok(Self { to })
    }

    /// Appends a frame (no FCS) seen at `time_ns`, nanoseconds since the epoch (or since the trial began).
    ///
    /// # Errors
    /// If the capture cannot be written.
    pub fn write(&mut self, time_ns: u64, frame: &[u8]) -> io::Result<()> {
        let kept = frame.len().min(SNAP_LENGTH as usize);
        let words = [
            (time_ns / 1_000_000_000) as u32,
            (time_ns % 1_000_000_000) as u32,
            kept as u32,
            frame.len() as u32,
        ];
        for word in words {
            self.to.write_all(&word.to_le_bytes())?;
        }
        self.to.write_all(&frame[..kept])
    }

    /// Ends the capture and gives back where it went, flushed.
    ///
    /// # Errors
    /// If the capture cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}
