//! The control connection of a port, in a thread of its own that sleeps until something happens: connects or is handed who
//! came in by the [`door`](super::door), hands the rings to the queues, notices when the peer goes, begins again.
//!
//! A queue looks at one number a burst, which changes when the connection does. So the data path makes no system call, and
//! a peer that comes back is connected to whether frames flow or not.

use super::door::Door;
use super::handshake::{self, Ends, Established, Interface, Talk};
use super::message::Message;
use super::socket::{self, Bell, Channel, Received};
use crate::time::{Clock, Duration, Instant, sleep};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// How long a dialogue may take.
pub const DIALOGUE: Duration = Duration::from_secs(2);
/// A client tries again after this long: where nobody listens, and where it was refused.
const RETRY: std::time::Duration = std::time::Duration::from_millis(20);
const RETRY_REFUSED: std::time::Duration = std::time::Duration::from_millis(300);
/// How long the end of the thread is waited for: a peer can at most keep it, not its owner.
const FAREWELL: Duration = Duration::from_secs(1);
/// What a peer is told when the port is closed.
const CLOSED: &str = "netdyno closed this port";

/// Which end makes the memory, and which the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Connects, and owns the memory.
    #[default]
    Client,
    /// Makes the socket, and uses the client's memory.
    Server,
}

/// A port's connection, shared by its queues.
#[derive(Debug)]
pub struct Link {
    common: Arc<Common>,
    thread: Option<JoinHandle<()>>,
    /// Where a server's clients come in.
    door: Option<Arc<Door>>,
}

/// What the thread and the queues share.
#[derive(Debug)]
pub struct Common {
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
    why: String,
    /// What ended the last one.
    ended: String,
    /// What a queue found wrong, and in which epoch.
    violation: Option<(u64, String)>,
    /// Of a server: who is connected, or about to be.
    peer: Option<String>,
    /// Of a server: who comes from the door.
    visitor: Option<(Channel, Established)>,
}

/// The most queues of a port: bits of `Common::wake`.
pub const MOST_QUEUES: usize = 64;

impl Link {
    /// Starts the connection of `interface` at `socket`.
    ///
    /// # Errors
    /// If a server cannot listen there, or there is no thread.
    pub fn start(interface: Interface, socket: &str, role: Role) -> io::Result<Self> {
        let common = Arc::new(Common {
            socket: socket.to_owned(),
            epoch: AtomicU64::new(0),
            state: Mutex::new(State {
                ends: Vec::new(),
                why: match role {
                    Role::Client => format!("nobody listens at `{socket}`"),
                    Role::Server => format!("nobody has connected to `{socket}`"),
                },
                ended: String::new(),
                violation: None,
                peer: None,
                visitor: None,
            }),
            interface,
            wake: AtomicU64::new(0),
            bell: Bell::new()?,
            stop: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        });
        let its = Arc::clone(&common);
        let thread = std::thread::Builder::new().name("netdyno-memif".to_owned()).spawn(move || {
            match role {
                Role::Client => its.connect_again_and_again(),
                Role::Server => its.receive_visitors(),
            }
            its.finished.store(true, Ordering::Release);
        })?;
        let mut link = Self {
            common,
            thread: Some(thread),
            door: None,
        };
        if role == Role::Server {
            link.door = Some(Door::enter(socket, &link.common)?);
        }
        Ok(link)
    }

    /// Changes with every connection made or lost.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.common.epoch.load(Ordering::Relaxed)
    }

    /// The epoch, and the ends of a queue if there is a connection.
    pub fn fetch(&self, queue: usize) -> (u64, Option<Ends>) {
        let mut state = self.common.state();
        // Under the lock, so that the two belong together.
        let epoch = self.common.epoch.load(Ordering::Relaxed);
        (epoch, state.ends.get_mut(queue).and_then(Option::take))
    }

    /// Why there is no connection.
    pub fn why(&self) -> String {
        self.common.state().why.clone()
    }

    /// What ended the last connection.
    pub fn ended(&self) -> String {
        self.common.state().ended.clone()
    }

    /// Ends the connection of `epoch`, since the peer did what it may not.
    pub fn report(&self, epoch: u64, violation: String) {
        self.common.state().violation = Some((epoch, violation));
        self.common.bell.ring();
    }

    /// Has the peer's reader of `queue` woken.
    pub fn wake(&self, queue: usize) {
        let bit = 1 << queue;
        if self.common.wake.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.common.bell.ring();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(door) = self.door.take() {
            door.leave(&self.common);
        }
        self.common.stop.store(true, Ordering::Release);
        self.common.bell.ring();
        let clock = Clock::start();
        while !self.common.finished.load(Ordering::Acquire) && clock.now() < Instant::ZERO + FAREWELL {
            sleep(Duration::from_us(50));
        }
        if let Some(thread) = self.thread.take().filter(|_| self.common.finished.load(Ordering::Acquire)) {
            let _ = thread.join();
        }
    }
}

impl Common {
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
                    self.state().why = format!("nobody listens at `{}` ({why})", self.socket);
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

    /// Of a server: who is connected, or about to be.
    pub fn peer(&self) -> Option<String> {
        self.state().peer.clone()
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
    pub fn was_refused(&self, why: &str) {
        let mut state = self.state();
        if state.peer.is_none() {
            state.why = format!("the connection at `{}` failed: {why}", self.socket);
        }
    }

    fn refuse(&self, channel: &Channel, why: &str) {
        let _ = channel.send(&Message::disconnect(why), None);
        self.state().why = format!("the connection at `{}` failed: {why}", self.socket);
    }

    /// A new epoch, and what queues find in it: the ends of a connection, or what ended it.
    fn publish(&self, found: Result<Vec<Ends>, String>) {
        let mut state = self.state();
        state.ends.clear();
        match found {
            Ok(ends) => state.ends.extend(ends.into_iter().map(Some)),
            Err(why) => {
                state.why.clone_from(&why);
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
        self.publish(Ok(ends));
        let ended = match role {
            Role::Server => channel.send(&handshake::connected(&self.interface), None),
            Role::Client => Ok(()),
        };
        let why = match ended {
            Ok(()) => self.watch(channel, &bells, &peer),
            Err(_) => closed(&peer),
        };
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
    format!("{peer} went without a word: its process ended or closed the connection")
}

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

    /// It has so much time from its begin.
    pub const fn has(&mut self, time: Duration) {
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
                return Err(format!("the dialogue had come no further within {ms} ms"));
            }
            match self.channel.receive() {
                Ok(Some(received)) => return Ok(received),
                Ok(None) => {}
                Err(_) => return Err("the peer went in the middle of the dialogue".to_owned()),
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
