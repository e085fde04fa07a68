//! With which addresses and ports the frames of each flow come: whether a device that translates keeps to what it began with.

use netdyno_frame::tuple::FourTuple;

/// What is known of the flows of all streams.
#[derive(Debug)]
pub struct Tuples {
    /// By the number of the flow.
    known: Vec<FourTuple>,
    /// By stream, where a tuple begins: bytes before the probe. 0: it is not looked at.
    back: Vec<u32>,
}

impl Tuples {
    /// Nothing is known of so many streams and flows.
    pub fn new(streams: usize, flows: usize) -> Self {
        Self {
            known: vec![FourTuple::default(); flows],
            back: vec![0; streams],
        }
    }

    /// The flows of stream `stream`, from number `first_flow` on, come with these, `back` bytes before the probe.
    pub fn expect(&mut self, stream: usize, first_flow: u32, back: usize, tuples: &[FourTuple]) {
        self.known[first_flow as usize..][..tuples.len()].copy_from_slice(tuples);
        self.back[stream] = back as u32;
    }

    /// How often (0 or 1) flow `flow` of stream `stream` has changed with `frame`, whose probe is at `place`.
    #[inline]
    pub fn look(&mut self, stream: usize, flow: u32, frame: &[u8], place: usize) -> u64 {
        let back = self.back[stream] as usize;
        let Some(start) = place.checked_sub(back).filter(|_| back > 0) else {
            return 0;
        };
        let known = &mut self.known[flow as usize];
        match FourTuple::at(frame, start) {
            Some(came) if came != *known => {
                *known = came;
                1
            }
            _ => 0,
        }
    }
}
