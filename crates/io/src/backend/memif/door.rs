//! A socket at which servers wait for their clients: of one process there may be several, each another interface, told
//! apart by the number a client asks for. Who comes is talked with in a thread of the door's own, one after the other, and
//! handed to the interface it wants.

use super::handshake::{self, Talk};
use super::link::{Common, Conversation};
use super::message::Message;
use super::socket::{self, Bell, Channel, Listener};
use crate::time::{Clock, Duration, Instant, sleep};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

/// How long a client is kept waiting whose interface has not noticed yet that its last client is gone.
const TURNOVER: Duration = Duration::from_ms(20);

/// The doors of this process, by their place.
static DOORS: Mutex<Vec<(String, Weak<Door>)>> = Mutex::new(Vec::new());

/// One socket, and who is served at it.
#[derive(Debug)]
pub struct Door {
    common: Arc<Inside>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Inside {
    servers: Mutex<Vec<Arc<Common>>>,
    bell: Bell,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    /// Has `server` served at `place`: by the door that is there in this process, or by a new one.
    ///
    /// # Errors
    /// If somebody else listens there, its number is taken, or there is no thread.
    pub fn enter(place: &str, server: &Arc<Common>) -> io::Result<Arc<Self>> {
        // Held until the socket is there or gone, so that no two are made of it.
        let mut doors = lock(&DOORS);
        doors.retain(|(_, door)| door.strong_count() > 0);
        let id = server.interface.id;
        if let Some(door) = doors.iter().find(|(at, _)| at == place).and_then(|(_, door)| door.upgrade()) {
            let mut servers = lock(&door.common.servers);
            if servers.iter().any(|other| other.interface.id == id) {
                let why = format!("interface {id} is served there already");
                return Err(io::Error::new(io::ErrorKind::AddrInUse, why));
            }
            servers.push(Arc::clone(server));
            drop(servers);
            return Ok(door);
        }
        let listener = Listener::open(place)?;
        let common = Arc::new(Inside {
            servers: Mutex::new(vec![Arc::clone(server)]),
            bell: Bell::new()?,
            stop: AtomicBool::new(false),
        });
        let its = Arc::clone(&common);
        let name = "netdyno-memif-door".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || its.welcome(&listener))?;
        let door = Arc::new(Self {
            common,
            thread: Mutex::new(Some(thread)),
        });
        doors.push((place.to_owned(), Arc::downgrade(&door)));
        Ok(door)
    }

    /// `server` is served no more; with the last one the socket goes.
    pub fn leave(self: Arc<Self>, server: &Arc<Common>) {
        let doors = lock(&DOORS);
        lock(&self.common.servers).retain(|other| !Arc::ptr_eq(other, server));
        // Under the lock: whoever comes now finds either a door that stays, or no socket.
        drop(self);
        drop(doors);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.common.stop.store(true, Ordering::Release);
        self.common.bell.ring();
        if let Some(thread) = lock(&self.thread).take() {
            // A dialogue ends at once when the bell rings.
            let _ = thread.join();
        }
    }
}

impl Inside {
    fn welcome(&self, listener: &Listener) {
        loop {
            let [_, rung] = socket::wait([listener.fd(), self.bell.fd()], None);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            if rung {
                self.bell.silence();
            }
            let Some(channel) = listener.accept() else { continue };
            if let Err((whose, why)) = self.admit(channel) {
                for server in whose {
                    server.was_refused(&why);
                }
            }
        }
    }

    /// Talks with a client and hands it on. Why not, which it is told too, and to which servers that is news.
    fn admit(&self, channel: Channel) -> Result<(), (Vec<Arc<Common>>, String)> {
        let servers = lock(&self.servers).clone();
        let most = servers.iter().map(|server| server.interface.queues).max().unwrap_or(1);
        let mut talk = Conversation::new(&self.stop, &self.bell, &channel);
        let refuse = |why: String| {
            let _ = channel.send(&Message::disconnect(&why), None);
            why
        };
        let init = handshake::greet(&mut talk, most).map_err(|why| (servers.clone(), refuse(why)))?;
        let Some(server) = servers.iter().find(|server| server.interface.id == init.id) else {
            let mut there: Vec<_> = servers.iter().map(|server| server.interface.id.to_string()).collect();
            there.sort();
            let why = format!("no interface {} here; there is {}", init.id, there.join(", "));
            return Err((servers.clone(), refuse(why)));
        };
        let clock = Clock::start();
        while server.peer().is_some() && clock.now() < Instant::ZERO + TURNOVER {
            sleep(Duration::from_ms(1));
        }
        if let Some(peer) = server.peer() {
            // No news to the server: it has its client.
            return Err((Vec::new(), refuse(format!("already connected to {peer}"))));
        }
        let agreed = handshake::admit(&mut talk as &mut dyn Talk, &init, &server.interface);
        match agreed {
            Ok(established) => {
                server.welcome(channel, established);
                Ok(())
            }
            Err(why) => Err((vec![Arc::clone(server)], refuse(why))),
        }
    }
}
