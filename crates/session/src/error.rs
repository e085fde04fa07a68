//! Why a session could not do what it was asked to.

use netdyno_dut::DeviceError;
use netdyno_engine::SpecError;
use netdyno_io::port::PortError;
use std::fmt;

/// What went wrong: where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError {
    /// Where and why, a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SessionError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A panic, which is never the user's doing.
    #[must_use]
    pub fn bug(what: &str, panic: &(dyn std::any::Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self::new(format!("a bug in netdyno: {what} panicked: {said}")).hint("please report it with the trial's specification")
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SessionError {}

impl From<SpecError> for SessionError {
    fn from(error: SpecError) -> Self {
        let message = format!("trial: {error}");
        Self {
            message,
            hint: Some(error.hint).filter(|hint| !hint.is_empty()),
        }
    }
}

impl From<DeviceError> for SessionError {
    fn from(error: DeviceError) -> Self {
        Self {
            message: error.to_string(),
            hint: error.hint,
        }
    }
}

impl From<PortError> for SessionError {
    fn from(error: PortError) -> Self {
        let hint = match &error {
            PortError::System { hint, .. } => hint.clone(),
            _ => None,
        };
        Self {
            message: error.to_string(),
            hint,
        }
    }
}
