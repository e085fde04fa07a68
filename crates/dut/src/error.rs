//! Why a device cannot be built as specified.

use std::fmt;

/// A mistake in a [`crate::spec::DeviceSpec`]: which field, what is wrong with it, and what would help, if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// Where in the specification, `ports[0].both_fps`.
    pub field: String,
    /// What is wrong, the value at fault included.
    pub why: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl DeviceError {
    pub(crate) fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            why: why.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device: `{}`: {}", self.field, self.why)
    }
}

impl std::error::Error for DeviceError {}

/// Reads a MAC address, `02:00:00:00:00:01`.
pub(crate) fn mac(field: &str, text: &str) -> Result<u64, DeviceError> {
    let parts: Vec<&str> = text.split(':').collect();
    let byte = |part: &&str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten();
    match parts.iter().map(byte).collect::<Option<Vec<u8>>>() {
        Some(bytes) if bytes.len() == 6 && bytes[0] & 1 == 0 => Ok(bytes.iter().fold(0, |mac, byte| mac << 8 | u64::from(*byte))),
        Some(bytes) if bytes.len() == 6 => Err(DeviceError::new(field, format!("`{text}` is the MAC address of a group"))),
        _ => Err(DeviceError::new(
            field,
            format!("`{text}` is not a MAC address such as `02:00:00:00:00:01`"),
        )),
    }
}
