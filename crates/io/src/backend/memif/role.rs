//! Which end of a connection a port is.

use serde::{Deserialize, Serialize};

/// Which end makes the memory, and which the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Connects, and owns the memory.
    #[default]
    Client,
    /// Makes the socket, and uses the client's memory.
    Server,
}
