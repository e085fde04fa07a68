//! TAP interfaces on the VLANs of a port, for a routing speaker: the specification, and which frames come up.

use crate::error::SessionError;
use netdyno_engine::spec::TagSpec;
use netdyno_frame::control;
use netdyno_frame::spec::Mac;
use netdyno_io::taps::{Tap, Taps};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;

/// The TAP interfaces of one interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TapsSpec {
    /// The interface whose frames have the tags, in the caller's network namespace.
    pub interface: String,
    /// The network namespace of the TAPs, `/proc/PID/ns/net`.
    pub namespace: PathBuf,
    /// Of all TAPs.
    pub mac: Mac,
    /// A TAP for each VLAN.
    pub taps: Vec<TapSpec>,
}

/// A VLAN as an interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TapSpec {
    /// Its name.
    pub name: String,
    /// The tags of its frames, outermost first.
    pub tags: Vec<TagSpec>,
    /// The speaker's addresses, which pings and ICMP errors come to.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
}

impl TapsSpec {
    /// Makes the TAPs and begins to carry frames.
    ///
    /// # Errors
    /// If the interface is missing or down, or the system gives no TAP interfaces there.
    pub fn start(&self) -> Result<Taps, SessionError> {
        let tags = |tap: &TapSpec| tap.tags.iter().map(|tag| (tag.tpid, tag.vid)).collect::<Vec<_>>();
        let taps: Vec<Tap> = self
            .taps
            .iter()
            .map(|tap| Tap {
                name: tap.name.clone(),
                tags: tags(tap),
            })
            .collect();
        let mut tpids: Vec<u16> = self.taps.iter().flat_map(|tap| &tap.tags).map(|tag| tag.tpid).collect();
        tpids.sort_unstable();
        tpids.dedup();
        let depth = taps.iter().map(|tap| tap.tags.len()).max().unwrap_or(0);
        let addresses: Vec<IpAddr> = self.taps.iter().flat_map(|tap| tap.addresses.iter().copied()).collect();
        let filter = control::filter(&tpids, depth, &addresses);
        Ok(Taps::start(&self.interface, &self.namespace, self.mac.0, &taps, &filter)?)
    }
}
