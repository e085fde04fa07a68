//! The options of an AF_XDP port.

use serde::{Deserialize, Serialize};

/// A kernel interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AfXdp {
    /// Interface name.
    pub interface: String,
    /// Where in the receive path frames are taken.
    #[serde(default)]
    pub attach: Attach,
    /// Whether the driver shares its frames with us or copies them.
    #[serde(default)]
    pub mode: Mode,
}

/// Where in the receive path the program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attach {
    /// Native, or generic on a veth with one queue and where the driver knows no XDP.
    #[default]
    Auto,
    /// Behind the driver, where frames are the kernel's own packets already: any interface.
    Generic,
    /// In the driver.
    Native,
}

/// How frames come between the driver and the memory we share with the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Not copied, if the driver can do without.
    #[default]
    Auto,
    /// Copied: any interface.
    Copy,
    /// Not copied.
    ZeroCopy,
}
