//! The headers, one table: a header is a line here and a file in `headers/`.

use crate::FrameError;
use crate::layout::{Builder, Layer, Space};
use serde::{Deserialize, Serialize};

/// Declares the modules, the enum of all headers and what is asked of any.
macro_rules! headers {
    ($($module:ident: $($name:ident),+;)+) => {
        $(mod $module;
        pub use $module::{$($name),+};)+

        /// One header of a stack. Lengths, next-protocol numbers and checksums are computed.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Header {
            $($(
                #[doc = concat!("See [`", stringify!($name), "`].")]
                $name($name),
            )+)+
        }

        impl Header {
            /// What the plan calls it.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $($(Self::$name(_) => $name::NAME,)+)+ }
            }

            /// Returns its length in bytes.
            #[must_use]
            pub fn bytes(&self) -> usize {
                match self { $($(Self::$name(header) => header.bytes(),)+)+ }
            }

            pub(crate) fn number(&self, space: Space) -> Option<u32> {
                match self { $($(Self::$name(header) => header.number(space),)+)+ }
            }

            pub(crate) fn carries(&self) -> Space {
                match self { $($(Self::$name(header) => header.carries(),)+)+ }
            }

            pub(crate) fn build(&self, builder: &mut Builder, index: usize, next: u32, is_last: bool) -> Result<(), FrameError> {
                match self { $($(Self::$name(header) => builder.add(index, header, next, is_last),)+)+ }
            }
        }

        /// Returns the names of the headers that may stand in `space`.
        pub(crate) fn followers(space: Space) -> Vec<&'static str> {
            let mut names = Vec::new();
            $($(if $name::usual_number(space).is_some() { names.push($name::NAME); })+)+
            names
        }
    };
}

headers! {
    ethernet: Ethernet;
    vlan: Vlan;
    pppoe: Pppoe, Ppp;
    mpls: Mpls, ControlWord;
    ipv4: Ipv4;
    ipv6: Ipv6;
    options: HopByHop, DestinationOptions;
    routing: Routing, Srh;
    fragment: Fragment;
    udp: Udp;
    tcp: Tcp;
    echo: Echo;
    gre: Gre;
    vxlan: Vxlan;
    gtpu: Gtpu;
    raw: Raw;
}
