//! What happens to a device at a given time: it is reset, a link goes, its tables are forgotten.
//!
//! All that is due by then is done first, so what happens at `t` meets the device as it is behind `t`, however far time
//! jumps. A frame that has begun to leave is out; one that has not come in whole is not in.

use crate::device::{Device, Forwarder};
use crate::error::DeviceError;
use crate::spec::EventKind;
use crate::timeline::What;
use netdyno_io::time::Instant;

impl Device {
    /// What is to happen from now on, instead of what was to happen before: when, what, and to which port (`None`: all). A
    /// reset is one of the whole device. Links are up again, and a reset under way comes to its end.
    ///
    /// # Errors
    /// If there is no such port.
    pub fn set_events(&mut self, events: &[(Instant, EventKind, Option<usize>)]) -> Result<(), DeviceError> {
        let ports = self.ports.len();
        if let Some(port) = events.iter().filter_map(|event| event.2).find(|port| *port >= ports) {
            return Err(DeviceError::new(
                "events",
                format!("there is no port {port}; the device has {ports}"),
            ));
        }
        self.timeline.to_come.retain(|(_, what)| *what == What::Back);
        self.timeline.next = self.timeline.to_come.front().map_or(u64::MAX, |first| first.0);
        self.timeline.down.fill(false);
        self.timeline.mute.fill(false);
        for &(at, kind, port) in events {
            // What was decided before stays decided.
            self.timeline.put(at.ps.max(self.horizon), What::Event(kind, port));
        }
        Ok(())
    }

    /// Carries out the events due at `t`, after all earlier ones.
    #[cold]
    pub(crate) fn carry_out_events(&mut self, t: u64) {
        while let Some(&(_, what)) = self.timeline.to_come.front().filter(|first| first.0 <= t) {
            self.timeline.to_come.pop_front();
            match what {
                What::Back if self.timeline.off_until <= t => self.timeline.off_until = 0,
                // Another reset came meanwhile.
                What::Back => {}
                What::Event(EventKind::Reset, _) => self.reset(t),
                What::Event(EventKind::Forget, port) => self.forget(port),
                What::Event(kind @ (EventKind::Mute | EventKind::Unmute), port) => {
                    let ports = port.map_or(0..self.ports.len(), |port| port..port + 1);
                    self.timeline.mute[ports].fill(kind == EventKind::Mute);
                }
                What::Event(kind, port) => {
                    let ports = port.map_or(0..self.ports.len(), |port| port..port + 1);
                    ports.for_each(|port| self.link(port, kind == EventKind::LinkUp, t));
                }
            }
        }
        self.timeline.next = self.timeline.to_come.front().map_or(u64::MAX, |first| first.0);
    }

    fn reset(&mut self, t: u64) {
        self.forget(None);
        let until = t.saturating_add(self.timeline.reset);
        let mut lost = 0;
        for member_input in &mut self.member_inputs {
            lost += member_input.clear(&mut self.pool);
        }
        for output in &mut self.outputs {
            lost += output.cut(t, until, &mut self.pool);
        }
        self.core.server.iter_mut().for_each(crate::service::Server::clear);
        self.core.limits.iter_mut().for_each(|limits| limits.clear());
        self.core.count.reset_drops += lost;
        self.core.agent.iter_mut().for_each(|agent| agent.restart(until));
        self.core
            .adjacencies
            .iter_mut()
            .for_each(|adjacencies| adjacencies.kill(None, t, until));
        self.set_alarm();
        if self.timeline.reset > 0 {
            self.timeline.off_until = until;
            self.timeline.put(until, What::Back);
        }
    }

    fn link(&mut self, port: usize, up: bool, t: u64) {
        if self.timeline.down[port] != up {
            return;
        }
        self.timeline.down[port] = !up;
        if up {
            return;
        }
        self.forget(Some(port));
        self.core
            .adjacencies
            .iter_mut()
            .for_each(|adjacencies| adjacencies.kill(Some(port), t, t));
        let output = &mut self.outputs[port];
        output.down_drops += output.cut(t, t, &mut self.pool);
        self.set_alarm();
    }

    /// Forgets what was learned behind one port, or behind all. Frames that waited for a neighbour have no way to go.
    fn forget(&mut self, port: Option<usize>) {
        match &mut self.core.forwarder {
            Forwarder::CrossConnect(_) => {}
            Forwarder::Bridge(bridge) => bridge.forget(port),
            Forwarder::Router(router) => {
                let waited = router.forget(port);
                self.core.count.no_route += waited.len() as u64;
                waited.into_iter().for_each(|frame| self.pool.give_back(frame));
            }
        }
        self.set_alarm();
    }
}
