//! What a port does beside its streams.

/// Which frame of which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// The message, counted over all ports in their order.
    pub message: u32,
    /// The frame, counted from 0.
    pub number: u32,
}

/// What a frame of the tester's own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ARP, ND, learning.
    Plain,
    /// It answers another.
    Answer,
    /// Said by the script of the trial.
    Message(Which),
}

/// What a port does beside its streams, and when it is due.
#[derive(Debug)]
pub struct Own {
    pub at_ps: u64,
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    /// Sends a frame of the tester's own (ARP, ND, learning, echo reply).
    Frame { bytes: Vec<u8>, kind: Kind },
    /// From now on the frames of a lane go where it moves to.
    Redirect { lane: usize },
}
