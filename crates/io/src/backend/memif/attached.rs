//! A port's connection, which its queues share, and the thread that keeps it.

use super::connection::Connection;
use super::door::Door;
use super::handshake::Interface;
use super::role::Role;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A port's connection, shared by its queues.
#[derive(Debug)]
pub struct Attached {
    connection: Arc<Connection>,
    thread: Option<JoinHandle<()>>,
    /// Where a server's clients come in.
    door: Option<Arc<Door>>,
}

/// The most queues of a port: bits of `Connection::wake`.
pub const MOST_QUEUES: usize = 64;

impl Attached {
    /// Starts the connection of `interface` at `socket`.
    ///
    /// # Errors
    /// If a server cannot listen there, or there is no thread.
    pub fn start(interface: Interface, socket: &str, role: Role) -> io::Result<Self> {
        let connection = Arc::new(Connection::new(interface, socket, role)?);
        let its = Arc::clone(&connection);
        let thread = std::thread::Builder::new().name("netdyno-memif".to_owned());
        let mut attached = Self {
            thread: Some(thread.spawn(move || its.run(role))?),
            connection,
            door: None,
        };
        if role == Role::Server {
            attached.door = Some(Door::enter(socket, &attached.connection)?);
        }
        Ok(attached)
    }

    /// Returns the connection that its queues ask and pass messages to.
    #[inline]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(door) = self.door.take() {
            door.leave(&self.connection);
        }
        let has_ended = self.connection.stop();
        if let Some(thread) = self.thread.take().filter(|_| has_ended) {
            let _ = thread.join();
        }
    }
}
