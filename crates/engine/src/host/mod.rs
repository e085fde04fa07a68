//! A tester port as a host on the network: it asks for next hops and keeps asking, answers for its own addresses,
//! announces and defends them, and lets bridges learn where it is.

mod adjacent;
mod hop;
mod own;
mod post;

use crate::reason::Invalid;
use crate::spec::TesterPortSpec;
use adjacent::Adjacent;
pub use hop::{NextHop, Question};
use netdyno_frame::arp::Arp;
use netdyno_frame::hello::is_to_routers;
use netdyno_frame::icmp;
use netdyno_frame::nd::{Message, Neighbour};
use netdyno_frame::parse::{Tag, ethertype, parse, protocol};
use netdyno_frame::spec::Mac;
use own::{Addresses, Own};
pub use own::{same_vlans, tag};
pub use post::{Network, Post};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An own address is defended at most this often (RFC 5227 section 1.1, DEFEND_INTERVAL: 10 s).
const DEFEND_PS: u64 = 10_000_000_000_000;
/// Conflicts kept of one port.
const MOST_CONFLICTS: usize = 32;

/// Another host claims an address of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub address: IpAddr,
    /// Whose it is as well.
    pub mac: Mac,
    /// When we said last that it is ours.
    defended_ps: u64,
}

/// Next hops that are named where many did not answer.
const MOST_EXAMPLES: usize = 3;

/// The first of `hops`, each in words, and how many more there are.
fn examples(hops: &[&NextHop], in_words: impl Fn(&NextHop) -> String) -> String {
    let named: Vec<_> = hops.iter().take(MOST_EXAMPLES).map(|hop| in_words(hop)).collect();
    let more = hops.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Where: ` on VLAN 100.20`, or ` untagged`.
fn on(tags: &[Tag]) -> String {
    let vlans: Vec<_> = tags.iter().map(|tag| tag.vid().to_string()).collect();
    if vlans.is_empty() {
        return " untagged".to_owned();
    }
    format!(" on VLAN {}", vlans.join("."))
}

/// A tester port on the network.
#[derive(Clone, Debug)]
pub struct Host {
    mac: Mac,
    own: Own,
    hops: Vec<NextHop>,
    /// How often next hops are polled; 0 is never.
    poll_ps: u64,
    conflicts: Vec<Conflict>,
    /// Next hops (index) whose MAC address has changed since [`Self::take_changed`].
    changed: Vec<(usize, Mac)>,
    /// What was sent to it by UDP.
    pub post: Post,
    /// Its OSPF neighbours.
    pub adjacent: Adjacent,
}

impl Host {
    /// The port as `spec` describes it, which polls its next hops every `poll_ps`.
    ///
    /// # Errors
    /// If an address cannot be read: which one and why.
    pub fn new(spec: &TesterPortSpec, poll_ps: u64) -> Result<Self, String> {
        let mac = spec.mac.parse()?;
        let own = Own::new(mac, spec)?;
        Ok(Self {
            mac,
            adjacent: Adjacent::new(spec, &own)?,
            own,
            hops: Vec::new(),
            poll_ps,
            conflicts: Vec::new(),
            changed: Vec::new(),
            post: Post::new(&spec.listens, &spec.behind)?,
        })
    }

    /// Returns the host's MAC address.
    #[must_use]
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// The next hop `address`, on the VLAN of `tags`, is to be resolved.
    ///
    /// # Errors
    /// If this host has no address to ask from there.
    pub fn want(&mut self, tags: &[Tag], address: IpAddr) -> Result<(), String> {
        let own = self.own.on(tags);
        let (able, family) = match address {
            IpAddr::V4(_) => (own.ipv4.is_some(), "IPv4"),
            IpAddr::V6(target) => (own.asking_v6(target).is_some(), "IPv6"),
        };
        if !able {
            return Err(format!("next hop {address} cannot be asked for: the port has no {family} address"));
        }
        if self.find(tags, address).is_none() {
            self.hops.push(NextHop::new(tags, address));
        }
        Ok(())
    }

    fn find(&self, tags: &[Tag], address: IpAddr) -> Option<usize> {
        self.hops
            .iter()
            .position(|hop| hop.address == address && same_vlans(&hop.tags, tags))
    }

    /// The MAC address of next hop `address`, once it has answered.
    #[must_use]
    pub fn answer(&self, tags: &[Tag], address: IpAddr) -> Option<Mac> {
        self.hops[self.find(tags, address)?].mac
    }

    /// The next hops and what became of them.
    #[must_use]
    pub fn hops(&self) -> &[NextHop] {
        &self.hops
    }

    /// Returns the hosts that claim an address of this one.
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// Why no traffic can begin, of the next hops of this host on `port` that did not answer within `waited_ms`.
    #[must_use]
    pub fn silences(&self, port: &str, waited_ms: u64) -> Vec<Invalid> {
        let asked = self.hops.len() as u64;
        let unanswered = self.hops.iter().filter(|hop| hop.mac.is_none());
        let (elsewhere, silent): (Vec<_>, Vec<_>) = unanswered.partition(|hop| hop.elsewhere.is_some());
        let port = port.to_owned();
        let mut found = Vec::new();
        match &silent[..] {
            [] => {}
            [only] => found.push(Invalid::NextHopSilent {
                address: only.address.to_string(),
                port: port.clone(),
                waited_ms,
            }),
            several => found.push(Invalid::NextHopsSilent {
                port: port.clone(),
                count: several.len() as u64,
                asked,
                examples: examples(several, |hop| format!("{}{}", hop.address, on(&hop.tags))),
                waited_ms,
            }),
        }
        if !elsewhere.is_empty() {
            let answered = |hop: &NextHop| on(hop.elsewhere.as_deref().unwrap_or_default());
            found.push(Invalid::NextHopsElsewhere {
                port,
                count: elsewhere.len() as u64,
                asked,
                examples: examples(&elsewhere, |hop| {
                    format!("{} asked{}, answered{}", hop.address, on(&hop.tags), answered(hop))
                }),
            });
        }
        found
    }

    /// Returns the next hops that have not answered yet.
    pub fn unanswered(&self) -> impl Iterator<Item = IpAddr> {
        self.hops.iter().filter(|hop| hop.mac.is_none()).map(|hop| hop.address)
    }

    /// Returns the next hops that answered, with their MAC addresses.
    pub fn answered(&self) -> impl Iterator<Item = (IpAddr, Mac)> {
        self.hops.iter().filter_map(|hop| hop.mac.map(|mac| (hop.address, mac)))
    }

    /// A question to all for each next hop that has not answered yet.
    #[must_use]
    pub fn questions(&self) -> Vec<Vec<u8>> {
        let open = self.hops.iter().filter(|hop| hop.mac.is_none());
        open.map(|hop| self.ask(hop, Question::All)).collect()
    }

    /// Marks all next hops resolved; from `at_ps` on they are polled.
    pub fn poll_from(&mut self, at_ps: u64) {
        for hop in &mut self.hops {
            hop.poll_from(at_ps, self.poll_ps);
        }
    }

    /// When the next poll is due; `u64::MAX` is never.
    #[must_use]
    pub fn next_poll(&self) -> u64 {
        self.hops.iter().map(NextHop::next_poll).min().unwrap_or(u64::MAX)
    }

    /// The polls due at or before `now_ps`, each with its time.
    pub fn polls(&mut self, now_ps: u64) -> Vec<(u64, Vec<u8>)> {
        let mut frames = Vec::new();
        for index in 0..self.hops.len() {
            while let Some((at, question)) = self.hops[index].poll(now_ps) {
                frames.push((at, self.ask(&self.hops[index], question)));
            }
        }
        frames
    }

    fn ask(&self, hop: &NextHop, question: Question) -> Vec<u8> {
        let (tags, own) = (&hop.tags, self.own.on(&hop.tags));
        match hop.address {
            IpAddr::V4(target) => {
                let from = own.ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED);
                match question {
                    Question::All => Arp::request(tags, self.mac, from, target),
                    Question::One(mac) => Arp::poll(tags, self.mac, from, target, mac),
                }
                .build()
            }
            IpAddr::V6(target) => {
                let from = own.asking_v6(target).unwrap_or(Ipv6Addr::UNSPECIFIED);
                match question {
                    Question::All => Neighbour::solicitation(tags, self.mac, from, target),
                    Question::One(mac) => Neighbour::poll(tags, self.mac, from, target, mac),
                }
                .build()
            }
        }
    }

    /// What tells everybody whose the own addresses are (RFC 5227 section 2.3, RFC 4861 section 7.2.6): who has known
    /// them at another MAC address, of a lab before this one, corrects that. On each VLAN with addresses of its own and each
    /// with a next hop: between ports without routers addresses are unknown, and bridges are taught by learning frames.
    #[must_use]
    pub fn announcements(&self) -> Vec<Vec<u8>> {
        let mut vlans: Vec<&[Tag]> = Vec::new();
        for tags in self.own.vlans().chain(self.hops.iter().map(|hop| &hop.tags[..])) {
            if !vlans.iter().any(|known| same_vlans(known, tags)) {
                vlans.push(tags);
            }
        }
        let mut frames = Vec::new();
        for tags in vlans {
            let own = self.own.on(tags);
            frames.extend(own.ipv4.map(|address| self.announcement(tags, address.into())));
            frames.extend(own.ipv6.map(|address| self.announcement(tags, address.into())));
        }
        frames
    }

    fn announcement(&self, tags: &[Tag], address: IpAddr) -> Vec<u8> {
        match address {
            IpAddr::V4(address) => Arp::gratuitous(tags, self.mac, address).build(),
            IpAddr::V6(address) => Neighbour::announcement(tags, self.mac, address).build(),
        }
    }

    /// Takes in a frame that is no test frame and came at `at_ps`. `Some` is what to answer.
    pub fn hear(&mut self, frame: &[u8], at_ps: u64) -> Option<Vec<u8>> {
        let layers = parse(frame)?;
        if layers.ethertype == ethertype::ARP {
            return self.hear_arp(&Arp::parse(frame)?, at_ps);
        }
        if is_to_routers(frame) {
            let tags: Vec<Tag> = layers.tags(frame).collect();
            let packet = frame.get(layers.outer.l3 as usize..)?;
            self.adjacent.hear(&tags, packet, at_ps);
            return None;
        }
        if !matches!(layers.outer.protocol, protocol::ICMP | protocol::ICMPV6) {
            self.post.take(self.mac, &self.own, frame, &layers, at_ps);
            return None;
        }
        if let Some(message) = Neighbour::parse(frame) {
            return self.hear_discovery(&message, at_ps);
        }
        let asked = icmp::echo_target(frame)?;
        let tags: Vec<Tag> = layers.tags(frame).collect();
        if !self.own.on(&tags).holds(asked) || frame[..6] != self.mac.0 {
            return None;
        }
        let mut reply = frame.to_vec();
        icmp::echo_reply(&mut reply).then_some(reply)
    }

    fn hear_arp(&mut self, arp: &Arp, at_ps: u64) -> Option<Vec<u8>> {
        // Our own, come back, or of a group, which nobody is (RFC 1812 section 3.3.2).
        if arp.sender_mac == self.mac || is_multicast(arp.sender_mac) {
            return None;
        }
        let own = *self.own.on(&arp.tags);
        if own.ipv4 == Some(arp.sender_ip) {
            return self.defend(&arp.tags, arp.sender_ip.into(), arp.sender_mac, at_ps);
        }
        self.learn(&arp.tags, arp.sender_ip.into(), Some(arp.sender_mac), true, at_ps);
        (arp.is_request() && Some(arp.target_ip) == own.ipv4).then(|| arp.reply(self.mac).build())
    }

    fn hear_discovery(&mut self, message: &Neighbour, at_ps: u64) -> Option<Vec<u8>> {
        if message.source_mac == self.mac {
            return None;
        }
        let own: Addresses = *self.own.on(&message.tags);
        let said = message.link_layer.filter(|&mac| !is_multicast(mac));
        match message.message {
            Message::Solicitation => {
                // RFC 4861 section 7.2.3: a source address that says its MAC address is to be believed.
                self.learn(&message.tags, message.source.into(), said, true, at_ps);
                own.holds(message.target.into()).then(|| message.reply(self.mac, false).build())
            }
            Message::Advertisement { overrides, .. } => {
                let mac = said.unwrap_or(message.source_mac);
                if own.holds(message.target.into()) {
                    return self.defend(&message.tags, message.target.into(), mac, at_ps);
                }
                // Section 7.2.5: without the override flag it does not replace what is known.
                self.learn(&message.tags, message.target.into(), Some(mac), overrides && said.is_some(), at_ps);
                None
            }
        }
    }

    /// `mac` claims our `address` on the VLAN of `tags`: that is noted, and contradicted now and then.
    fn defend(&mut self, tags: &[Tag], address: IpAddr, mac: Mac, at_ps: u64) -> Option<Vec<u8>> {
        let full = self.conflicts.len() >= MOST_CONFLICTS;
        let known = self.conflicts.iter_mut().find(|known| known.address == address && known.mac == mac);
        match known {
            Some(known) if at_ps < known.defended_ps.saturating_add(DEFEND_PS) => return None,
            Some(known) => known.defended_ps = at_ps,
            None if full => return None,
            None => self.conflicts.push(Conflict {
                address,
                mac,
                defended_ps: at_ps,
            }),
        }
        Some(self.announcement(tags, address))
    }

    /// Next hop `address` spoke. `replaces`: its MAC address stands above one known already.
    fn learn(&mut self, tags: &[Tag], address: IpAddr, mac: Option<Mac>, replaces: bool, at_ps: u64) {
        let Some(index) = self.find(tags, address) else {
            return self.note_elsewhere(tags, address);
        };
        let hop = &mut self.hops[index];
        let believed = mac.filter(|&mac| !is_multicast(mac) && (replaces || hop.mac.is_none()));
        if let Some(changed) = hop.hear(believed, at_ps, self.poll_ps) {
            self.changed.push((index, changed));
        }
    }

    /// `address` spoke on the VLAN of `tags`, where it was not asked for: next hops of that address that are silent where they
    /// were, on VLANs that are tagged otherwise, or not at all.
    fn note_elsewhere(&mut self, tags: &[Tag], address: IpAddr) {
        let silent = self.hops.iter_mut().filter(|hop| hop.address == address && hop.mac.is_none());
        silent.for_each(|hop| hop.elsewhere = Some(tags.to_vec()));
    }

    /// Returns the next hops whose MAC address changed since the last call: VLAN, address, new MAC address.
    pub fn take_changed(&mut self) -> impl Iterator<Item = (&[Tag], IpAddr, Mac)> {
        let hops = &self.hops;
        self.changed
            .drain(..)
            .map(|(index, mac)| (&hops[index].tags[..], hops[index].address, mac))
    }

    /// A frame by which a bridge learns that `source` is behind this port, on the VLAN of `tags`: a
    /// gratuitous ARP for an own address, else one of the type for local experiments (IEEE 802) to `peer`.
    #[must_use]
    pub fn learning_frame(&self, source: Mac, tags: &[Tag], peer: Mac) -> Vec<u8> {
        if let (Some(address), true) = (self.own.on(tags).ipv4, source == self.mac) {
            return Arp::gratuitous(tags, source, address).build();
        }
        let mut frame = [peer.0, source.0].concat();
        for tag in tags {
            frame.extend_from_slice(&tag.tpid.to_be_bytes());
            frame.extend_from_slice(&tag.tci.to_be_bytes());
        }
        frame.extend_from_slice(&ethertype::EXPERIMENTAL.to_be_bytes());
        frame.extend_from_slice(b"netdyno learning");
        frame
    }
}

fn is_multicast(Mac(mac): Mac) -> bool {
    mac[0] & 1 != 0
}
