//! What a device can be asked: its own counters.

use crate::device::{Count, Device};
use crate::impair::Injected;
use crate::member::Member;
use crate::spec::{DeviceCounters, DevicePortCounters, DeviceVlanCounters};
use netdyno_io::reason::Reason;

impl Device {
    /// Returns the counts since the device was built or [`Self::reset_counters`] was called.
    #[must_use]
    pub fn counters(&self) -> DeviceCounters {
        let count = &self.core.count;
        let mut injected = std::collections::BTreeMap::new();
        for impair in self.outputs.iter().filter_map(|output| output.impair.as_ref()) {
            for (name, frames) in impair.injected.named() {
                *injected.entry(name.to_owned()).or_insert(0) += frames;
            }
        }
        // Pauses at fixed times are the same on every member.
        let pauses = self.outputs.iter().map(|output| output.members[0].paused).sum::<u64>();
        *injected.entry("stall".to_owned()).or_insert(0) += pauses;
        injected.retain(|_, frames| *frames > 0);
        DeviceCounters {
            ports: (0..self.ports.len()).map(|port| self.port_counters(port)).collect(),
            box_drops: count.box_drops + self.core.limits.as_ref().map_or(0, |limits| limits.box_drops),
            trunk_drops: self
                .core
                .limits
                .as_ref()
                .and_then(|limits| limits.trunk.as_ref())
                .map_or(0, |trunk| trunk.drops),
            card_drops: self.core.limits.as_ref().map_or(0, |limits| limits.card_drops),
            reset_drops: count.reset_drops,
            no_route: count.no_route,
            ttl_expired: count.ttl_expired,
            malformed: count.malformed + self.inputs.iter().map(|input| input.malformed).sum::<u64>(),
            unknown_vlan: count.unknown_vlan,
            flooded: count.flooded,
            copies: count.copies,
            filtered: count.filtered,
            consumed: count.consumed,
            originated: count.originated,
            held: self.pool.taken() as u64,
            injected,
        }
    }

    fn port_counters(&self, port: usize) -> DevicePortCounters {
        let (input, output) = (&self.inputs[port], &self.outputs[port]);
        let member_inputs = &self.member_inputs[input.first_input..][..output.members.len()];
        DevicePortCounters {
            name: self.names[port].clone(),
            rx_frames: input.malformed + input.down_drops + member_inputs.iter().map(|member_input| member_input.rx_frames).sum::<u64>(),
            tx_frames: output.members.iter().map(|member| member.tx_frames).sum(),
            partner_drops: input.partner_drops,
            denied: member_inputs
                .iter()
                .filter_map(|member_input| Some(member_input.processor.as_ref()?.denied))
                .sum(),
            policed: member_inputs.iter().map(|member_input| member_input.policed).sum(),
            excess: member_inputs
                .iter()
                .filter_map(|member_input| Some(member_input.police.as_ref()?.excess))
                .sum(),
            class_drops: class_drops(&output.members),
            vlans: vlans(&output.members),
            in_drops: member_inputs.iter().map(|member_input| member_input.drops).sum(),
            weary_drops: member_inputs
                .iter()
                .filter_map(|member_input| Some(member_input.memory.as_ref()?.drops))
                .sum(),
            down_drops: input.down_drops + output.down_drops,
            both_drops: member_inputs
                .iter()
                .filter_map(|member_input| member_input.shared.as_ref())
                .map(|shared| shared.drops)
                .sum(),
            out_drops: output.members.iter().map(|member| member.drops).sum(),
            member_tx: output.members.iter().map(|member| member.tx_frames).collect(),
            member_rx: member_inputs.iter().map(|member_input| member_input.rx_frames).collect(),
            member_flows: if output.spread.single { Vec::new() } else { output.shown.texts() },
        }
    }

    /// Sets all counters to zero. What is in the device, learned or still to be injected stays.
    pub fn reset_counters(&mut self) {
        self.core.count = Count::default();
        if let Some(limits) = &mut self.core.limits {
            (limits.card_drops, limits.box_drops) = (0, 0);
            limits.trunk.iter_mut().for_each(|trunk| trunk.drops = 0);
        }
        for input in &mut self.inputs {
            input.partner_drops = 0;
            input.malformed = 0;
            input.down_drops = 0;
        }
        for member_input in &mut self.member_inputs {
            member_input.rx_frames = 0;
            member_input.drops = 0;
            member_input.policed = 0;
            member_input.processor.iter_mut().for_each(|processor| processor.denied = 0);
            member_input.police.iter_mut().for_each(|police| police.excess = 0);
            if let Some(memory) = &mut member_input.memory {
                memory.drops = 0;
            }
            if let Some(shared) = &mut member_input.shared {
                shared.drops = 0;
            }
        }
        for output in &mut self.outputs {
            for member in &mut output.members {
                member.tx_frames = 0;
                member.drops = 0;
                member.paused = 0;
                let classes = member.classes.iter_mut().flat_map(|classes| &mut classes.queues);
                classes.for_each(|class| class.drops = 0);
                member.shapers.iter_mut().for_each(|shapers| shapers.reset_counters());
            }
            output.down_drops = 0;
            output.shown.clear();
            if let Some(impair) = &mut output.impair {
                impair.injected = Injected::default();
            }
        }
    }

    /// Frames that came to each port and were lost there, before the device.
    pub fn unheard(&self) -> impl Iterator<Item = u64> {
        self.ports.iter().map(|port| port.counters().rx_dropped)
    }

    /// Why a port stopped working, per port, if one did. The device goes on with the others.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.names
            .iter()
            .zip(&self.failed)
            .filter_map(|(name, failed)| Some((name.as_str(), failed.as_ref()?)))
    }
}

/// What each class dropped, on all members.
fn class_drops(members: &[Member]) -> Vec<u64> {
    let of = |member: &Member| -> Vec<u64> {
        let classes = member.classes.iter().flat_map(|classes| &classes.queues);
        classes.map(|class| class.drops).collect()
    };
    let mut all = of(&members[0]);
    for member in &members[1..] {
        all.iter_mut().zip(of(member)).for_each(|(sum, drops)| *sum += drops);
    }
    all
}

/// What left by each subinterface, on all members.
fn vlans(members: &[Member]) -> Vec<DeviceVlanCounters> {
    let Some(first) = &members[0].shapers else {
        return Vec::new();
    };
    let stacks = first.tags().stacks().iter().map(|stack| stack.to_spec());
    let mut all: Vec<_> = stacks
        .map(|tags| DeviceVlanCounters {
            tags,
            ..DeviceVlanCounters::default()
        })
        .collect();
    for shapers in members.iter().filter_map(|member| member.shapers.as_ref()) {
        for (sum, shaper) in all.iter_mut().zip(shapers.each()) {
            sum.sent += shaper.sent;
            sum.dropped += shaper.dropped;
        }
    }
    all
}
