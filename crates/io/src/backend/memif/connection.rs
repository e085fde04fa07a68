//! The control connection of a port, in a thread of its own that sleeps until something happens: connects or is handed who
//! came in by the [`door`](super::door), hands the rings to the queues, notices when the peer goes, begins again.
//!
//! A queue looks at one number a burst, which changes when the connection does. So the data path makes no system call, and
//! a peer that comes back is connected to whether frames flow or not.

use super::conversation::{CLOSED, Conversation};
use super::handshake::{self, Ends, Established, Interface, Refusal};
use super::message::Message;
use super::role::Role;
use super::socket::{self, Bell, Channel, Received};
use crate::port::Absence;
use crate::time::{Clock, Duration, Instant, sleep};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A client tries again after this long: where nobody listens, and where it was refused.
const RETRY: std::time::Duration = std::time::Duration::from_millis(20);
const RETRY_REFUSED: std::time::Duration = std::time::Duration::from_millis(300);
/// How long the end of the thread is waited for: a peer can at most keep it, not its owner.
const FAREWELL: Duration = Duration::from_secs(1);

/// What the thread and the queues share.
#[derive(Debug)]
pub struct Connection {
    pub interface: Interface,
    socket: String,
    /// Changes with every connection made or lost.
    epoch: AtomicU64,
    state: Mutex<State>,
    /// Queues whose peer is to be woken, a bit each.
    wake: AtomicU64,
    bell: Bell,
    stop: AtomicBool,
    finished: AtomicBool,
}

#[derive(Debug)]
struct State {
    /// By queue, until the queue fetches it.
    ends: Vec<Option<Ends>>,
    /// Why there is no connection.
    absence: Absence,
    /// What ended the last one.
    ended: String,
    /// What a queue found wrong, and in which epoch.
    violation: Option<(u64, String)>,
    /// Of a server: who is connected, or about to be.
    peer: Option<String>,
    /// The process at the other end, while connected.
    process: Option<u32>,
    /// Of a server: who comes from the door.
    visitor: Option<(Channel, Established)>,
}

impl Connection {
    /// None yet, of `interface` at `socket`, in this role.
    pub fn new(interface: Interface, socket: &str, role: Role) -> io::Result<Self> {
        Ok(Self {
            socket: socket.to_owned(),
            epoch: AtomicU64::new(0),
            state: Mutex::new(State {
                ends: Vec::new(),
                absence: match role {
                    Role::Client => Absence::NobodyListens {
                        socket: socket.to_owned(),
                        error: "not tried yet".to_owned(),
                        is_left_over: false,
                    },
                    Role::Server => Absence::NobodyConnected { socket: socket.to_owned() },
                },
                ended: String::new(),
                violation: None,
                peer: None,
                process: None,
                visitor: None,
            }),
            interface,
            wake: AtomicU64::new(0),
            bell: Bell::new()?,
            stop: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    /// Keeps the connection in its role until it is stopped; to be run by a thread of its own.
    pub fn run(&self, role: Role) {
        match role {
            Role::Client => self.connect_again_and_again(),
            Role::Server => self.receive_visitors(),
        }
        self.finished.store(true, Ordering::Release);
    }

    /// Ends the connection's thread. Whether it ended within [`FAREWELL`].
    pub fn stop(&self) -> bool {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
        let clock = Clock::start();
        while !self.finished.load(Ordering::Acquire) && clock.now() < Instant::ZERO + FAREWELL {
            sleep(Duration::from_us(50));
        }
        self.finished.load(Ordering::Acquire)
    }

    /// Returns a number that changes with every connection made or lost.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// The epoch, and the ends of a queue if there is a connection.
    pub fn fetch(&self, queue: usize) -> (u64, Option<Ends>) {
        let mut state = self.state();
        // Under the lock, so that the two belong together.
        let epoch = self.epoch.load(Ordering::Relaxed);
        (epoch, state.ends.get_mut(queue).and_then(Option::take))
    }

    /// Why there is no connection.
    pub fn absence(&self) -> Absence {
        self.state().absence.clone()
    }

    /// Describes what ended the last connection.
    pub fn last_end(&self) -> String {
        self.state().ended.clone()
    }

    /// Ends the connection of `epoch`, since the peer did what it may not.
    pub fn end_for(&self, epoch: u64, violation: String) {
        self.state().violation = Some((epoch, violation));
        self.bell.ring();
    }

    /// Wakes the peer's reader of `queue`.
    pub fn wake(&self, queue: usize) {
        let bit = 1 << queue;
        if self.wake.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.bell.ring();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn connect_again_and_again(&self) {
        while !self.stopped() {
            let pause = match socket::connect(&self.socket) {
                Err(why) => {
                    self.state().absence = Absence::NobodyListens {
                        socket: self.socket.clone(),
                        error: why.to_string(),
                        is_left_over: why.kind() == io::ErrorKind::ConnectionRefused && !self.socket.starts_with('@'),
                    };
                    RETRY
                }
                Ok(channel) => {
                    let agreed = handshake::client(&mut Conversation::new(&self.stop, &self.bell, &channel), &self.interface);
                    match agreed {
                        Ok(established) => {
                            self.serve(&channel, Role::Client, established);
                            RETRY
                        }
                        Err(why) => {
                            self.refuse(&channel, &why);
                            RETRY_REFUSED
                        }
                    }
                }
            };
            if !self.stopped() {
                socket::wait([self.bell.fd()], Some(pause));
                self.bell.silence();
            }
        }
    }

    fn receive_visitors(&self) {
        while !self.stopped() {
            socket::wait([self.bell.fd()], None);
            self.bell.silence();
            let visitor = self.state().visitor.take();
            if let Some((channel, established)) = visitor {
                self.serve(&channel, Role::Server, established);
                self.state().peer = None;
            }
        }
    }

    /// Returns the client that is connected to this server, or about to be.
    pub fn peer(&self) -> Option<String> {
        self.state().peer.clone()
    }

    /// The process at the other end, where it is connected and the kernel tells.
    pub fn process(&self) -> Option<u32> {
        self.state().process
    }

    /// A client that has come in by the door and said all.
    ///
    /// # Errors
    /// If there is another, whose name it is: the channel is given back.
    pub fn welcome(&self, channel: Channel, established: Established) -> Result<(), (Channel, String)> {
        let mut state = self.state();
        if let Some(peer) = &state.peer {
            return Err((channel, peer.clone()));
        }
        state.peer = Some(named(&established.peer));
        state.visitor = Some((channel, established));
        drop(state);
        self.bell.ring();
        Ok(())
    }

    /// A client did not get past the door.
    pub fn was_refused(&self, why: &Refusal) {
        let mut state = self.state();
        if state.peer.is_none() {
            state.absence = self.disagreed(why);
        }
    }

    fn refuse(&self, channel: &Channel, why: &Refusal) {
        let _ = channel.send(&Message::disconnect(&why.text), None);
        self.state().absence = self.disagreed(why);
    }

    fn disagreed(&self, why: &Refusal) -> Absence {
        Absence::Disagreed {
            socket: self.socket.clone(),
            why: why.text.clone(),
            has_fewer_queues: why.has_fewer_queues,
        }
    }

    /// A new epoch, and what queues find in it: the ends of a connection, or what ended it.
    fn publish(&self, found: Result<Vec<Ends>, String>) {
        let mut state = self.state();
        state.ends.clear();
        match found {
            Ok(ends) => state.ends.extend(ends.into_iter().map(Some)),
            Err(why) => {
                state.absence = Absence::Ended { why: why.clone() };
                state.ended = why;
            }
        }
        // Under the lock: whoever sees the new number finds what belongs to it.
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Hands the rings to the queues and stays until the connection ends.
    fn serve(&self, channel: &Channel, role: Role, established: Established) {
        let Established { ends, bells, peer } = established;
        let peer = named(&peer);
        self.state().process = channel.process();
        self.publish(Ok(ends));
        let ended = match role {
            Role::Server => channel.send(&handshake::connected(&self.interface), None),
            Role::Client => Ok(()),
        };
        let why = match ended {
            Ok(()) => self.watch(channel, &bells, &peer),
            Err(_) => closed(&peer),
        };
        self.state().process = None;
        self.publish(Err(why));
    }

    /// Until the connection ends: why it did.
    fn watch(&self, channel: &Channel, bells: &[OwnedFd], peer: &str) -> String {
        let epoch = self.epoch.load(Ordering::Relaxed);
        loop {
            let [said, rung] = socket::wait([channel.fd(), self.bell.fd()], None);
            if rung {
                self.bell.silence();
                if self.stopped() {
                    let _ = channel.send(&Message::disconnect(CLOSED), None);
                    return CLOSED.to_owned();
                }
                let wake = self.wake.swap(0, Ordering::AcqRel);
                for (queue, bell) in bells.iter().enumerate() {
                    if wake & (1 << queue) != 0 {
                        socket::ring(bell.as_fd());
                    }
                }
                if let Some((when, why)) = self.state().violation.take()
                    && when == epoch
                {
                    let _ = channel.send(&Message::disconnect(&why), None);
                    return format!("{peer} broke the rules of memif: {why}");
                }
            }
            if said {
                match channel.receive() {
                    Ok(None) => {}
                    Ok(Some(Received { message, .. })) => match message {
                        Ok(Message::Disconnect(_, why)) => return format!("{peer} disconnected: {why}"),
                        other => {
                            let why = other.map_or_else(|why| why, |it| format!("{} on a connection that is made", it.name()));
                            let _ = channel.send(&Message::disconnect(&why), None);
                            return format!("{peer} broke the rules of memif: {why}");
                        }
                    },
                    Err(_) => return closed(peer),
                }
            }
        }
    }
}

fn named(peer: &str) -> String {
    let name = if peer.is_empty() { "a peer without a name" } else { peer };
    name.to_owned()
}

fn closed(peer: &str) -> String {
    format!("{peer} closed the connection without a DISCONNECT; its process may have ended")
}
