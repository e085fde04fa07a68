//! From a trial's specification to what sends and receives it, with every mistake named.

mod hops;
mod limits;
mod streams;

pub use hops::learning_frames;
pub use streams::{frames, stream_seed};

use super::opening;
use super::script::Script;
use super::stage::Hop;
use super::worker::Worker;
use crate::error::SpecError;
use crate::host::Host;
use crate::spec::TrialSpec;
use hops::{gateways, hops};
use limits::{hosts, samples};
use netdyno_io::port::{Port, PortInfo};
use streams::{Sides, streams};

/// What a trial is made of: per port a host, the sides of each worker, hops to resolve.
pub struct Parts {
    pub hosts: Vec<Host>,
    lead: Sides,
    others: Vec<Sides>,
    pub hops: Vec<Hop>,
    pub script: Script,
}

impl Parts {
    /// The longest schedule.
    pub fn duration_ps(&self) -> u64 {
        let lanes = self.lead.0.iter().flat_map(|sender| &sender.lanes);
        lanes.map(|lane| lane.schedule().duration_ps()).max().unwrap_or(0)
    }

    /// The workers, the lead apart, each on its queue of every port of `ports`; and what else the trial is made of.
    pub fn workers(self, ports: Vec<Vec<Box<dyn Port>>>) -> (Worker, Vec<Worker>, Vec<Host>, Vec<Hop>, Script) {
        let is_alone = self.others.is_empty();
        let mut queues: Vec<_> = ports.into_iter().map(Vec::into_iter).collect();
        let mut worker = |(senders, receiver)| {
            let own = queues.iter_mut().filter_map(Iterator::next).collect();
            Worker::new(own, senders, receiver, is_alone)
        };
        let lead = worker(self.lead);
        let others = self.others.into_iter().map(worker).collect();
        (lead, others, self.hosts, self.hops, self.script)
    }
}

/// Makes everything a trial of so many workers is made of.
pub fn trial(spec: &TrialSpec, infos: &[PortInfo], workers: usize) -> Result<Parts, SpecError> {
    let mut hosts = hosts(spec, infos.len())?;
    opening::check(spec)?;
    let (lead, others) = streams(spec, infos, &hosts, workers)?;
    samples(spec, &lead.0)?;
    let hops = hops(spec, &lead.0, &mut hosts)?;
    gateways(spec, &lead.0, &mut hosts)?;
    let script = Script::new(spec, infos, &mut hosts)?;
    Ok(Parts {
        hosts,
        lead,
        others,
        hops,
        script,
    })
}
