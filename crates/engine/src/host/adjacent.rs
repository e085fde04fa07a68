//! The OSPF neighbours of a port: it says hello to them, and notes when they go and come.

use super::own::{Own, same_vlans, tag};
use crate::spec::TesterPortSpec;
use netdyno_frame::hello::{Change, Hello, Neighbour, NeighbourSpec};
use netdyno_frame::parse::Tag;
use netdyno_frame::spec::Mac;
use std::net::Ipv4Addr;

/// The neighbours of a port.
#[derive(Clone, Debug)]
pub struct Adjacent {
    each: Vec<One>,
    /// When a hello is due next; `u64::MAX`: never.
    due_ps: u64,
    /// Nothing is said or noted from then on.
    until_ps: u64,
}

#[derive(Clone, Debug)]
struct One {
    tags: Vec<Tag>,
    address: Ipv4Addr,
    end: Neighbour,
}

impl Adjacent {
    /// The neighbours of the port that `spec` describes, whose addresses are `own`.
    ///
    /// # Errors
    /// If it has no IPv4 address to speak from: where.
    pub fn new(spec: &TesterPortSpec, own: &Own) -> Result<Self, String> {
        let plain = spec.ospf.iter().map(|ospf| (&[][..], ospf));
        let tagged = spec.vlans.iter().filter_map(|vlan| Some((&vlan.tags[..], vlan.ospf.as_ref()?)));
        let one = |(tags, ospf): (&[_], &NeighbourSpec)| {
            let tags = tags.iter().map(tag).collect::<Result<Vec<_>, _>>()?;
            let address = own.on(&tags).ipv4.ok_or("`ospf` needs an `ipv4` address")?;
            if !ospf.has_sound_times() {
                return Err(format!("hellos every {} ns, dead after {} ns", ospf.hello_ns, ospf.dead_ns));
            }
            Ok::<_, String>(One {
                tags,
                address,
                end: Neighbour::new(ospf.clone()),
            })
        };
        Ok(Self {
            each: plain.chain(tagged).map(one).collect::<Result<_, _>>()?,
            due_ps: u64::MAX,
            until_ps: u64::MAX,
        })
    }

    /// When the next hello is due; `u64::MAX`: never.
    pub fn due_ps(&self) -> u64 {
        self.due_ps
    }

    /// Traffic begins and ends then.
    pub fn begin(&mut self, at_ps: u64, until_ps: u64) {
        self.until_ps = until_ps;
        self.each.iter_mut().for_each(|one| one.end.begin(at_ps));
        self.plan();
    }

    /// A hello came on the VLAN of `tags`.
    pub fn hear(&mut self, tags: &[Tag], packet: &[u8], at_ps: u64) {
        let of = |one: &&mut One| same_vlans(&one.tags, tags);
        if let (Some(one), Some(hello)) = (self.each.iter_mut().find(of), Hello::read(packet)) {
            one.end.hear(at_ps, &hello);
        }
    }

    /// The hellos due by `now`, each with its time. They say what was known `answer_ps` before, which is what an answer takes: so they do
    /// not depend on the rounds.
    pub fn due(&mut self, now: u64, mac: Mac, answer_ps: u64) -> Vec<(u64, Vec<u8>)> {
        let mut found = Vec::new();
        for one in &mut self.each {
            while one.end.next_hello() <= now.min(self.until_ps - 1) {
                let at = one.end.next_hello();
                found.push((at, one.end.say(at.saturating_sub(answer_ps), &one.tags, mac, one.address)));
            }
        }
        found.sort_by_key(|(at, _)| *at);
        self.plan();
        found
    }

    fn plan(&mut self) {
        let due = self.each.iter().map(|one| one.end.next_hello()).min();
        self.due_ps = due.filter(|due| *due < self.until_ps).unwrap_or(u64::MAX);
    }

    /// Takes in what was heard until the end of traffic.
    pub fn end(&mut self) {
        self.each.iter_mut().for_each(|one| one.end.stop(self.until_ps));
        self.plan();
    }

    /// Returns the VLANs of each neighbour, and when it went and came.
    pub fn changes(&self) -> impl Iterator<Item = (Vec<u16>, &[Change])> {
        let vlans = |one: &One| one.tags.iter().map(|tag| tag.vid()).collect();
        self.each.iter().map(move |one| (vlans(one), one.end.changes()))
    }
}
