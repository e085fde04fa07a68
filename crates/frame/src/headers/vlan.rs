//! VLAN tags.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::ethertype;
use serde::{Deserialize, Serialize};

/// A VLAN tag: 802.1Q (`tpid` 0x8100), 802.1ad (0x88a8), or any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vlan {
    /// Tag protocol identifier.
    #[serde(default = "dot1q")]
    pub tpid: u16,
    /// VLAN, 0..4095.
    pub vid: Field<u16>,
    /// Priority, 0..7.
    #[serde(default)]
    pub pcp: u8,
    /// Drop eligible.
    #[serde(default)]
    pub dei: bool,
    /// The type, where raw bytes or the payload follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethertype: Option<u16>,
}

fn dot1q() -> u16 {
    ethertype::VLAN
}

impl Layer for Vlan {
    const NAME: &'static str = "vlan";

    fn bytes(&self) -> usize {
        4
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Type | Space::Raw).then_some(ethertype::VLAN.into())
    }

    fn number(&self, space: Space) -> Option<u32> {
        Self::usual_number(space).map(|_| self.tpid.into())
    }

    fn carries(&self) -> Space {
        self.ethertype.map_or(Space::Type, |_| Space::Given("ethertype"))
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let tpid = self.tpid;
        if tpid < 0x0600 || [ethertype::IPV4, ethertype::IPV6, ethertype::ARP, ethertype::MPLS, ethertype::PPPOE].contains(&tpid) {
            let why = format!("{tpid:#06x} is not a tag protocol identifier");
            return Err(builder.error("tpid", why, "0x8100 (802.1Q), 0x88a8 (802.1ad) or another type above 0x05ff"));
        }
        let pcp = builder.fit("pcp", self.pcp.into(), 7)?;
        builder.put(0, ((pcp as u16) << 13 | u16::from(self.dei) << 12).to_be_bytes());
        builder.field("vid", Kind::Number, &self.vid, u128::from, 0, 2, (12, 0))?;
        builder.put(2, builder.ethertype(self.ethertype)?.to_be_bytes());
        Ok(())
    }
}
