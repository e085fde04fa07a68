//! A dialogue with a peer that may take no more than its time.

use super::handshake::Talk;
use super::message::Message;
use super::socket::{self, Bell, Channel, Received};
use crate::time::{Clock, Duration};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a dialogue may take.
pub const DIALOGUE: Duration = Duration::from_secs(2);
/// The reason sent to a peer when the port is closed.
pub const CLOSED: &str = "netdyno closed this port";

/// A dialogue on a channel, until its time is over or who leads it is to stop.
pub struct Conversation<'a> {
    stop: &'a AtomicBool,
    bell: &'a Bell,
    channel: &'a Channel,
    clock: Clock,
    /// The time it has, from its begin.
    has: Duration,
}

impl<'a> Conversation<'a> {
    /// Begins now. `bell` is rung when `stop` is set, and others may wait for it then, too.
    pub fn new(stop: &'a AtomicBool, bell: &'a Bell, channel: &'a Channel) -> Self {
        let clock = Clock::start();
        Self {
            stop,
            bell,
            channel,
            clock,
            has: DIALOGUE,
        }
    }

    /// Limits the conversation to `time` from its begin.
    pub const fn limit_time(&mut self, time: Duration) {
        self.has = time;
    }
}

impl Talk for Conversation<'_> {
    fn hear(&mut self) -> Result<Received, String> {
        loop {
            if self.stop.load(Ordering::Acquire) {
                return Err(CLOSED.to_owned());
            }
            // Before each message, so that a peer that always has another to say has no more time than one that is silent.
            let left = self.has.ps.saturating_sub(self.clock.now().ps);
            if left == 0 {
                let ms = self.has.ps / 1_000_000_000;
                return Err(format!("the handshake took longer than {ms} ms"));
            }
            match self.channel.receive() {
                Ok(Some(received)) => return Ok(received),
                Ok(None) => {}
                Err(_) => return Err("the peer closed the connection during the handshake".to_owned()),
            }
            let most = std::time::Duration::from_nanos(left / 1000);
            let [_, rung] = socket::wait([self.channel.fd(), self.bell.fd()], Some(most));
            // To stop, it rings for others too.
            if rung && !self.stop.load(Ordering::Acquire) {
                self.bell.silence();
            }
        }
    }

    fn say(&mut self, message: &Message, file: Option<BorrowedFd<'_>>) -> Result<(), String> {
        self.channel
            .send(message, file)
            .map_err(|why| format!("{} could not be sent: {why}", message.name()))
    }
}
