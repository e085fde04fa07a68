//! The next hops that a trial asks for, and the frames by which bridges learn where its ports are.

use crate::error::SpecError;
use crate::host::{self, Host};
use crate::send::{Lane, Sender};
use crate::spec::{Destination, StreamSpec, TagSpec, TesterPortSpec, TrialSpec, VlanSpec};
use crate::trial::stage::Hop;
use netdyno_frame::parse::Tag;
use std::collections::HashSet;
use std::net::IpAddr;

/// The most addresses of one stream that bridges are taught.
const MOST_LEARNED: u32 = 65_536;
/// VLANs that a stream to a next hop may be on.
const MOST_VLANS: usize = 256;

/// The next hops to resolve; tells the hosts to ask for them. Refuses tags that no frame can arrive with.
pub fn hops(spec: &TrialSpec, senders: &[Sender], hosts: &mut [Host]) -> Result<Vec<Hop>, SpecError> {
    for (number, stream) in spec.streams.iter().enumerate() {
        let place = || format!("streams[{number}] ({}): arrives_on", stream.name);
        arriving_tags(stream).map_err(|why| SpecError::new(place(), why, ""))?;
    }
    let mut hops = Vec::new();
    for (port, sender) in senders.iter().enumerate() {
        for (number, lane) in sender.lanes.iter().enumerate() {
            let stream = &spec.streams[lane.stream];
            let Destination::Gateway(text) = &stream.destination else {
                continue;
            };
            if lane.is_remote {
                continue;
            }
            let place = || format!("streams[{}] ({}): destination", lane.stream, stream.name);
            let address: IpAddr = text
                .parse()
                .map_err(|_| SpecError::new(place(), format!("`{text}` is not an IP address"), ""))?;
            for tags in vlans(lane).map_err(|why| {
                let hint = "fewer VLANs a stream, or write the MAC address";
                SpecError::new(place(), why, hint)
            })? {
                let address = next_hop_on(&spec.ports[port], &tags)?.unwrap_or(address);
                hosts[spec.head(port)].want(&tags, address).map_err(|why| {
                    let hint = format!("give ports[{port}] an address in the network of the next hop, or write the MAC address");
                    SpecError::new(place(), why, hint)
                })?;
                hops.push(Hop {
                    port,
                    lane: number,
                    tags,
                    address,
                });
            }
        }
    }
    Ok(hops)
}

/// The VLANs that the flows of a stream are on: the tags of a flow of each.
fn vlans(lane: &Lane) -> Result<Vec<Vec<Tag>>, String> {
    let found = lane.template.vlans(MOST_VLANS);
    found.ok_or_else(|| format!("its flows are on more than {MOST_VLANS} VLANs, on each of which its next hop is asked for"))
}

/// The next hop that a port has of its own on a VLAN.
fn next_hop_on(port: &TesterPortSpec, tags: &[Tag]) -> Result<Option<IpAddr>, SpecError> {
    let is_same = |(its, tag): (&TagSpec, &Tag)| its.tpid == tag.tpid && its.vid == tag.vid();
    let on = |vlan: &&VlanSpec| vlan.tags.len() == tags.len() && vlan.tags.iter().zip(tags).all(is_same);
    let text = port.vlans.iter().find(on).and_then(|vlan| vlan.gateway.as_deref());
    text.map(gateway)
        .transpose()
        .map_err(|why| SpecError::new("ports: vlans: gateway", why, ""))
}

fn gateway(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is not an IP address"))
}

/// Tells the hosts to ask for their gateways, where no stream does so already.
pub fn gateways(spec: &TrialSpec, senders: &[Sender], hosts: &mut [Host]) -> Result<(), SpecError> {
    for (port, host) in hosts.iter_mut().enumerate() {
        for (number, vlan) in spec.ports[port].vlans.iter().enumerate() {
            let Some(text) = &vlan.gateway else { continue };
            let place = || format!("ports[{port}]: vlans[{number}]: gateway");
            let tags: Result<Vec<_>, _> = vlan.tags.iter().map(host::tag).collect();
            let wanted = tags.and_then(|tags| host.want(&tags, gateway(text)?));
            wanted.map_err(|why| SpecError::new(place(), why, ""))?;
        }
        let Some(text) = &spec.ports[port].gateway else { continue };
        let place = || format!("ports[{port}]: gateway");
        let address = gateway(text).map_err(|why| SpecError::new(place(), why, ""))?;
        if host.unanswered().any(|wanted| wanted == address) {
            continue;
        }
        let lanes = senders.iter().flat_map(|sender| &sender.lanes);
        let received = lanes.filter(|lane| spec.streams[lane.stream].rx_port == port);
        let on = match received.min_by_key(|lane| lane.stream) {
            // Where its frames arrive with other tags, the gateway is on those.
            Some(lane) => match arriving_tags(&spec.streams[lane.stream]) {
                Ok(Some(tags)) => vec![tags],
                _ => vlans(lane).map_err(|why| SpecError::new(place(), why, ""))?,
            },
            None => vec![Vec::new()],
        };
        for tags in on {
            let address = next_hop_on(&spec.ports[port], &tags)?.unwrap_or(address);
            host.want(&tags, address).map_err(|why| {
                let hint = "give the port an address in the network of its gateway, or leave the gateway out";
                SpecError::new(place(), why, hint)
            })?;
        }
    }
    Ok(())
}

/// Per port, the frames by which bridges learn where each stream's destination is.
pub fn learning_frames(spec: &TrialSpec, senders: &[Sender], hosts: &[Host]) -> Vec<Vec<Vec<u8>>> {
    let mut known = HashSet::new();
    let mut frames: Vec<Vec<Vec<u8>>> = hosts.iter().map(|_| Vec::new()).collect();
    for (port, lane) in senders
        .iter()
        .enumerate()
        .flat_map(|(port, sender)| sender.lanes.iter().map(move |lane| (port, lane)))
    {
        let stream = &spec.streams[lane.stream];
        let (to, peer) = (stream.rx_port, hosts[port].mac());
        let found = match stream.destination {
            // Behind a router frames come to the port's own address.
            Destination::Gateway(_) => vec![(hosts[to].mac(), Vec::new())],
            _ => lane.template.destinations(MOST_LEARNED).collect(),
        };
        // Tags that cannot be were refused with the trial.
        let changed = arriving_tags(stream).ok().flatten();
        for (mac, tags) in found {
            let tags = changed.clone().unwrap_or(tags);
            // A group address is nobody's source.
            if mac.0[0] & 1 == 0 && known.insert((to, mac, tags.clone())) {
                frames[to].push(hosts[to].learning_frame(mac, &tags, peer));
            }
        }
    }
    frames
}

/// The tags of a stream's frames where they arrive, if those are others than it was sent with.
fn arriving_tags(stream: &StreamSpec) -> Result<Option<Vec<Tag>>, String> {
    let tags = stream.arrives_on.as_ref();
    tags.map(|tags| tags.iter().map(host::tag).collect()).transpose()
}
