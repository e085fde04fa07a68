//! Port backends, one file each, and the one table that names them.

use serde::{Deserialize, Serialize};

/// Which backend carries a port's frames, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackendSpec {
    /// Virtual time, exact serialization; joined by a link.
    Wire {},
    /// In process, real time; joined by a link.
    Ring {},
    /// Gives the slots back and counts.
    Null {},
    /// A kernel interface through packet sockets.
    AfPacket {
        /// Interface name.
        interface: String,
    },
}
