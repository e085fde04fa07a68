//! A socket at which servers wait for their clients: of one process there may be several, each another interface, told
//! apart by the number a client asks for. Who comes is talked with in a thread of the door's own and handed to the interface
//! it wants. There are several, so that a client that says nothing keeps nobody else waiting.

use super::connection::Connection;
use super::conversation::{Conversation, DIALOGUE};
use super::handshake::{self, Refusal, Talk};
use super::message::Message;
use super::socket::{self, Bell, Channel, Listener};
use crate::time::{Clock, Duration, Instant, sleep};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

/// How long a client is kept waiting whose interface has not noticed yet that its last client is gone.
const TURNOVER: Duration = Duration::from_ms(20);

/// Clients talked with at once. Each may have us map memory, of which so much is made present as a dialogue may
/// ([`handshake::admit`]): few enough that all together are no danger to the machine.
const TALKS: usize = 8;
/// How long a client may take to say whom it wants. So long those wait at most who come when all talk with silent ones; a
/// client that heard nothing for two seconds is likely to give up.
const FIRST_WORD: Duration = Duration::from_ms(500);
/// What the threads need: a message is 128 bytes, and nothing is called deeply.
const STACK_BYTES: usize = 256 << 10;

/// The doors of this process, by their place.
static DOORS: Mutex<Vec<(String, Weak<Door>)>> = Mutex::new(Vec::new());

/// One socket, and who is served at it.
#[derive(Debug)]
pub struct Door {
    inside: Arc<Inside>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Inside {
    listener: Listener,
    servers: Mutex<Vec<Arc<Connection>>>,
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
    pub fn enter(place: &str, server: &Arc<Connection>) -> io::Result<Arc<Self>> {
        // Held until the socket is there or gone, so that no two are made of it.
        let mut doors = lock(&DOORS);
        doors.retain(|(_, door)| door.strong_count() > 0);
        let id = server.interface.id;
        if let Some(door) = doors.iter().find(|(at, _)| at == place).and_then(|(_, door)| door.upgrade()) {
            let mut servers = lock(&door.inside.servers);
            if servers.iter().any(|other| other.interface.id == id) {
                let why = format!("interface {id} is served there already");
                return Err(io::Error::new(io::ErrorKind::AddrInUse, why));
            }
            servers.push(Arc::clone(server));
            drop(servers);
            return Ok(door);
        }
        let inside = Arc::new(Inside {
            listener: Listener::open(place)?,
            servers: Mutex::new(vec![Arc::clone(server)]),
            bell: Bell::new()?,
            stop: AtomicBool::new(false),
        });
        // If a thread is refused, dropping the door ends those there are.
        let mut door = Self {
            inside,
            threads: Vec::new(),
        };
        for _ in 0..TALKS {
            let its = Arc::clone(&door.inside);
            let thread = std::thread::Builder::new().name("netdyno-memif-door".to_owned());
            door.threads.push(thread.stack_size(STACK_BYTES).spawn(move || its.welcome())?);
        }
        let door = Arc::new(door);
        doors.push((place.to_owned(), Arc::downgrade(&door)));
        Ok(door)
    }

    /// `server` is served no more; with the last one the socket goes.
    pub fn leave(self: Arc<Self>, server: &Arc<Connection>) {
        let doors = lock(&DOORS);
        lock(&self.inside.servers).retain(|other| !Arc::ptr_eq(other, server));
        // Under the lock: whoever comes now finds either a door that stays, or no socket.
        drop(self);
        drop(doors);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.inside.stop.store(true, Ordering::Release);
        self.inside.bell.ring();
        // A dialogue ends at once when the bell rings, which nobody silences then.
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Inside {
    fn welcome(&self) {
        loop {
            socket::wait([self.listener.fd(), self.bell.fd()], None);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let Some(channel) = self.listener.accept() else {
                // Another thread was faster, or this process may open no more files.
                sleep(Duration::from_ms(1));
                continue;
            };
            if let Err((whose, why)) = self.admit(channel) {
                for server in whose {
                    server.was_refused(&why);
                }
            }
        }
    }

    /// Talks with a client and hands it on. Why not, which is sent to it too, and to which servers that is news.
    fn admit(&self, channel: Channel) -> Result<(), (Vec<Arc<Connection>>, Refusal)> {
        let servers = lock(&self.servers).clone();
        let most = servers.iter().map(|server| server.interface.queues).max().unwrap_or(1);
        let mut talk = Conversation::new(&self.stop, &self.bell, &channel);
        talk.limit_time(FIRST_WORD);
        let refuse = |why: Refusal| {
            let _ = channel.send(&Message::disconnect(&why.text), None);
            why
        };
        let init = handshake::greet(&mut talk, most).map_err(|why| (servers.clone(), refuse(why.into())))?;
        let Some(server) = servers.iter().find(|server| server.interface.id == init.id) else {
            let mut there: Vec<_> = servers.iter().map(|server| server.interface.id.to_string()).collect();
            there.sort();
            let why = format!("no interface {} here; there is {}", init.id, there.join(", "));
            return Err((servers.clone(), refuse(why.into())));
        };
        talk.limit_time(DIALOGUE);
        // Before anything is said of who is there: that is nothing to a stranger.
        handshake::check_init(&init, &server.interface).map_err(|why| (vec![Arc::clone(server)], refuse(why.into())))?;
        let clock = Clock::start();
        while server.peer().is_some() && clock.now() < Instant::ZERO + TURNOVER {
            sleep(Duration::from_ms(1));
        }
        if let Some(peer) = server.peer() {
            // No news to the server: it has its client.
            return Err((Vec::new(), refuse(format!("already connected to {peer}").into())));
        }
        let agreed = handshake::admit(&mut talk as &mut dyn Talk, &init, &server.interface);
        match agreed {
            Ok(established) => server.welcome(channel, established).map_err(|(channel, peer)| {
                // Another was faster to say all.
                let why = format!("already connected to {peer}");
                let _ = channel.send(&Message::disconnect(&why), None);
                (Vec::new(), why.into())
            }),
            Err(why) => Err((vec![Arc::clone(server)], refuse(why))),
        }
    }
}
