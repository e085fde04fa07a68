//! What a stream's frames look like, as plain values: the header stack as the plan gives it.
//!
//! JSON shape (one header a map, `type` first):
//!
//! ```json
//! [{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
//!  {"type": "vlan", "tpid": 33024, "vid": 10, "pcp": 0},
//!  {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1", "dscp": 0, "ttl": 64},
//!  {"type": "udp", "sport": {"step": {"start": 1025, "step": 1, "count": 64}}, "dport": {"list": [12, 13]}, "checksum": true}]
//! ```

pub use crate::content::Content;
pub use crate::field::{Bytes, Field, Mac, SlowList, Vary};
pub use crate::headers::*;
pub use crate::write::Write;
