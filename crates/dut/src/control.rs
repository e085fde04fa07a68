//! What a device does by itself: asking for neighbours, answering, letting go what was held back.

use crate::device::{Device, Forwarder};
use crate::flight::Flight;
use crate::router::neighbour::Due;

impl Device {
    /// A frame waits for a neighbour that is not known yet.
    #[cold]
    pub(crate) fn wait(&mut self, neighbour: usize, flight: Flight) {
        let Forwarder::Router(router) = &mut self.core.forwarder else {
            return;
        };
        let (displaced, ask) = router.neighbours.wait(neighbour, flight.frame, flight.at);
        if let Some(frame) = displaced {
            self.core.count.no_route += 1;
            self.pool.give_back(frame);
        }
        if ask {
            self.ask(neighbour, flight.at);
        }
        self.set_alarm();
    }

    fn ask(&mut self, neighbour: usize, t: u64) {
        let Forwarder::Router(router) = &self.core.forwarder else { return };
        if let Some((interface, frame)) = router.request(neighbour) {
            self.originate(interface, &frame, t);
        }
    }

    /// A query for the agent: it takes no notice of one it does not understand.
    #[cold]
    pub(crate) fn query(&mut self, interface: usize, flight: Flight) {
        self.core.count.consumed += 1;
        let frame = self.pool.frame(flight.frame);
        let agent = self.core.agent.as_ref();
        let answer = agent.and_then(|agent| agent.answer(frame, flight.at));
        let longest = self.inputs[self.port_of(interface)].max_frame;
        self.pool.give_back(flight.frame);
        if let Some(answer) = answer.filter(|answer| answer.len() <= longest) {
            self.originate(interface, &answer, flight.at);
        }
    }

    /// A routing update: what it changes holds for what is switched behind it.
    #[cold]
    pub(crate) fn update(&mut self, interface: usize, flight: Flight) {
        self.core.count.consumed += 1;
        if let Forwarder::Router(router) = &mut self.core.forwarder {
            router.update(self.pool.frame(flight.frame), interface, flight.at);
        }
        self.pool.give_back(flight.frame);
        self.set_alarm();
    }

    /// Sends a frame without tags by an interface, with its tags.
    pub(crate) fn originate(&mut self, interface: usize, frame: &[u8], t: u64) {
        self.core.count.originated += 1;
        let frame = self.pool.store(frame.into());
        self.send_untagged(interface, Flight { at: t, frame });
    }

    fn send_untagged(&mut self, interface: usize, flight: Flight) {
        let Some(frame) = self.dress(flight.frame, 0, interface) else {
            return;
        };
        let port = self.port_of(interface);
        self.core
            .agent
            .iter_mut()
            .for_each(|agent| agent.send(port, self.pool.frame(frame)));
        self.leave(port, Flight { frame, ..flight });
    }

    /// The answer first, then the frames that waited for what was learned.
    #[cold]
    pub(crate) fn heard(&mut self, interface: usize, heard: crate::router::Heard, t: u64) {
        if let Some(answer) = heard.answer {
            self.originate(interface, &answer, t);
        }
        let Some((neighbour, mac)) = heard.learned else { return };
        let Forwarder::Router(router) = &mut self.core.forwarder else {
            return;
        };
        let waited = router.neighbours.learn(neighbour, mac);
        let out = router.neighbours.get(neighbour).interface;
        for frame in waited {
            let Forwarder::Router(router) = &mut self.core.forwarder else {
                return;
            };
            router.rewrite(&mut self.pool.place(frame), out, mac);
            self.send_untagged(out, Flight { at: t, frame });
        }
        self.set_alarm();
    }

    /// Does what the device does by itself at `t`.
    #[cold]
    pub(crate) fn ring(&mut self, t: u64) {
        for out in 0..self.outputs.len() {
            let held = std::mem::take(&mut self.outputs[out].held);
            for frame in held {
                if frame.until > t {
                    self.outputs[out].held.push(frame);
                    continue;
                }
                let at = t.saturating_add(self.core.delay.fixed).max(self.outputs[out].last);
                self.outputs[out].last = at;
                self.depart(out, Flight { at, ..frame.flight });
            }
        }
        self.let_go(t.saturating_add(self.core.delay.fixed));
        if let Forwarder::Router(router) = &mut self.core.forwarder {
            router.expire(t);
        }
        while let Forwarder::Router(router) = &mut self.core.forwarder {
            match router.neighbours.due(t) {
                Some(Due::Request(neighbour)) => self.ask(neighbour, t),
                Some(Due::GiveUp(frames)) => {
                    self.core.count.no_route += frames.len() as u64;
                    for frame in frames {
                        self.pool.give_back(frame);
                    }
                }
                None => break,
            }
        }
        self.say_hello(t);
        self.set_alarm();
    }

    /// Frames that were kept, and leave the delay by `until`.
    fn let_go(&mut self, until: u64) {
        for out in 0..self.outputs.len() {
            while let Some(&flight) = self.outputs[out].kept.front().filter(|flight| flight.at <= until) {
                self.outputs[out].kept.pop_front();
                let at = flight.at.max(self.outputs[out].last);
                self.outputs[out].last = at;
                self.depart(out, Flight { at, ..flight });
            }
        }
    }

    pub(crate) fn set_alarm(&mut self) {
        let neighbours = match &self.core.forwarder {
            Forwarder::Router(router) => router.next_due(),
            _ => u64::MAX,
        };
        let held = self.outputs.iter().flat_map(|output| &output.held).map(|frame| frame.until).min();
        let kept = self
            .outputs
            .iter()
            .filter_map(|output| output.kept.front())
            .map(|flight| flight.at)
            .min();
        let kept = kept.map_or(u64::MAX, |at| at.saturating_sub(self.core.delay.fixed));
        let hellos = self.core.adjacencies.as_ref().map_or(u64::MAX, |adjacencies| adjacencies.next());
        self.core.alarm = neighbours.min(held.unwrap_or(u64::MAX)).min(kept).min(hellos);
    }
}
