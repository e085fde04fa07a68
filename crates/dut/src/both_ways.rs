//! The server that both directions of a port share.

use crate::flight::{Flight, Frame};
use crate::member::Member;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::service::Server;

/// Capacity for both directions of a port, first come first served (`both_fps`). At the same picosecond a
/// frame on its way out goes first.
#[derive(Debug)]
pub(crate) struct BothWays {
    pub(crate) server: Server,
    pub(crate) inbound: Queue<Flight>,
    pub(crate) outbound: Queue<Flight>,
    /// Served on their way out, by the time they reach the line.
    pub(crate) leaving: Queue<Flight>,
    /// Frames just served: inward, outward, lost.
    served: Box<[[Flight; CHUNK]; 3]>,
    pub(crate) drops: u64,
}

/// Frames served at once, then moved on.
const CHUNK: usize = 128;

impl BothWays {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            inbound: Queue::with_room(64),
            outbound: Queue::with_room(64),
            leaving: Queue::with_room(64),
            served: Box::new([[Flight::default(); CHUNK]; 3]),
            drops: 0,
        }
    }

    /// A reset: all that is in it is lost; how many frames that are.
    pub(crate) fn clear(&mut self, pool: &mut Pool) -> u64 {
        self.server.clear();
        let queues = [&mut self.inbound, &mut self.outbound, &mut self.leaving];
        queues.into_iter().map(|queue| pool.give_back_all(queue)).sum()
    }

    /// When the next frame reaches the server.
    pub(crate) fn next(&self) -> u64 {
        let at = |queue: &Queue<Flight>| queue.front().map_or(u64::MAX, |flight| flight.at);
        at(&self.inbound).min(at(&self.outbound))
    }

    /// Serves all that arrive by `until`, in order of time, on a member of a group if `GROUP`. Frames inward go to `ready`.
    pub(crate) fn serve<const GROUP: bool>(&mut self, until: u64, ready: &mut Queue<Flight>, pool: &mut Pool) {
        while self.next() <= until {
            self.serve_some::<GROUP>(until, ready, pool);
        }
        self.inbound.tidy();
        self.outbound.tidy();
    }

    /// Hands what was served outward and is done by `known` to its line.
    pub(crate) fn leave(&mut self, known: u64, line: &mut Member, pool: &mut Pool) {
        let leaving = self.leaving.records();
        let due = match leaving.last() {
            Some(last) if last.at > known => leaving.partition_point(|flight| flight.at <= known),
            _ => leaving.len(),
        };
        line.enqueue_each(&leaving[..due], pool);
        self.leaving.skip(due);
        self.leaving.tidy();
    }

    /// Serves up to [`CHUNK`] frames.
    ///
    /// On a plain port frames go in and out in turns that a processor soon foretells. On the members of a group, picked by
    /// a hash, they do not, and a branch on which way the next one goes or whether it is lost would cost more than all the
    /// rest: there each frame is written to wherever it might go, and counted where it does.
    fn serve_some<const GROUP: bool>(&mut self, until: u64, ready: &mut Queue<Flight>, pool: &mut Pool) {
        // Behind the last one waits one that never arrives.
        const NEVER: Flight = Flight {
            at: u64::MAX,
            frame: Frame::NONE,
        };
        self.inbound.push(NEVER);
        self.outbound.push(NEVER);
        let (inbound, outbound) = (self.inbound.records(), self.outbound.records());
        let until = until.min(u64::MAX - 1);
        let mut server = self.server.clone();
        let [inward, outward, lost] = &mut *self.served;
        let (mut from_in, mut from_out, mut to_in, mut to_out, mut to_lost) = (0, 0, 0, 0, 0);
        for _ in 0..CHUNK {
            let (one, other) = (inbound[from_in], outbound[from_out]);
            let out = other.at <= one.at;
            if one.at.min(other.at) > until {
                break;
            }
            if GROUP {
                let flight = if out { other } else { one };
                from_in += usize::from(!out);
                from_out += usize::from(out);
                let (admitted, done) = server.offer(flight.at);
                let served = Flight { at: done, ..flight };
                inward[to_in % CHUNK] = served;
                outward[to_out % CHUNK] = served;
                lost[to_lost % CHUNK] = flight;
                to_in += usize::from(admitted & !out);
                to_out += usize::from(admitted & out);
                to_lost += usize::from(!admitted);
                continue;
            }
            let (flight, from, to, served) = if out {
                (other, &mut from_out, &mut to_out, &mut *outward)
            } else {
                (one, &mut from_in, &mut to_in, &mut *inward)
            };
            *from += 1;
            if let Some(done) = server.admit(flight.at) {
                served[*to % CHUNK] = Flight { at: done, ..flight };
                *to += 1;
            } else {
                lost[to_lost % CHUNK] = flight;
                to_lost += 1;
            }
        }
        self.server = server;
        self.drops += to_lost as u64;
        ready.extend(inward[..to_in].iter().copied());
        self.leaving.extend(outward[..to_out].iter().copied());
        for flight in &lost[..to_lost] {
            pool.give_back(flight.frame);
        }
        for (queue, served) in [(&mut self.inbound, from_in), (&mut self.outbound, from_out)] {
            queue.unpush();
            queue.skip(served);
        }
    }
}
