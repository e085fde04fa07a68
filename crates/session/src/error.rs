//! Why a session could not do what it was asked to.

use netdyno_dut::DeviceError;
use netdyno_engine::{Invalid, SpecError};
use netdyno_io::port::{PortError, PortReason};
use netdyno_io::reason::{Code, Reason};
use netdyno_io::reasons;
use std::fmt;
use std::io::ErrorKind;

reasons! {
    /// Why a session refused or failed, where it is not a port that did.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// The specification of a session is wrong.
        SessionSpec {
            /// Where and why.
            why: String,
        } = "session-spec", "{why}";
        /// The specification of a trial is wrong.
        TrialSpec {
            /// Part of the specification.
            place: String,
            /// What is wrong with it.
            why: String,
        } = "trial-spec", "trial: {place}: {why}";
        /// The specification of an emulated device is wrong.
        DeviceSpec {
            /// Field of the specification.
            field: String,
            /// What is wrong with it.
            why: String,
        } = "device-spec", "device: `{field}`: {why}";
        /// A specification cannot be read: it is no JSON, or a field is missing, unknown or of another type.
        Unreadable {
            /// Which specification.
            what: String,
            /// What is wrong, and where.
            why: String,
        } = "spec-unreadable", "cannot read the {what}: {why}";
        /// A trial has longer frames than its session was opened for.
        FrameTooLong {
            /// The longest frame of the trial, FCS counted.
            bytes: u64,
            /// The longest frame of the session, FCS counted.
            most_bytes: u64,
        } = "frame-too-long", "frames of {bytes} bytes, in a session that was opened for up to {most_bytes}";
        /// There are not enough cores for the workers, or a core is named twice.
        Workers {
            /// Why these workers cannot run.
            why: String,
        } = "workers", "{why}";
        /// A port of an emulated device failed in the trial.
        DevicePort {
            /// Emulated device.
            device: String,
            /// Port of the device.
            port: String,
            /// Code of what the port said.
            cause: String,
            /// What the port said.
            why: String,
        } = "device-port-failed", "device `{device}`: port `{port}` failed: {why}";
        /// An emulated device has no closed form for this trial.
        NoClosedForm {
            /// Why not.
            why: String,
        } = "no-closed-form", "{why}";
        /// The session is closed.
        Closed {} = "session-closed", "the session is closed";
        /// A trial is running in the session.
        Running {} = "trial-running", "a trial is running";
        /// No trial was started in the session.
        NoTrial {} = "no-trial", "no trial was started";
        /// A thread could not be started.
        NoThread {
            /// For what.
            what: String,
            /// Why not.
            why: String,
        } = "no-thread", "no thread for {what}: {why}";
        /// The engine failed in a way that is never the user's doing.
        Bug {
            /// Which part.
            what: String,
            /// What it said.
            why: String,
        } = "engine-bug", "a bug in netdyno: {what}: {why}";
    }
}

/// The codes of all that the engine says: of ports, of trials that do not count, of sessions.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    [PortReason::CODES, Invalid::CODES, Refusal::CODES].into_iter().flatten()
}

/// What went wrong: where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError {
    /// Where and why.
    pub reason: Reason,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SessionError {
    /// A mistake in the specification of the session.
    pub(crate) fn spec(why: impl Into<String>) -> Self {
        Refusal::SessionSpec { why: why.into() }.into()
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A panic, which is never the user's doing.
    #[must_use]
    pub fn bug(what: &str, panic: &(dyn std::any::Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let (what, why) = (what.to_owned(), format!("panicked: {said}"));
        Self::from(Refusal::Bug { what, why }).hint("please report it with the trial's specification")
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl std::error::Error for SessionError {}

impl From<Refusal> for SessionError {
    fn from(refusal: Refusal) -> Self {
        Self {
            reason: refusal.into(),
            hint: None,
        }
    }
}

impl From<SpecError> for SessionError {
    fn from(error: SpecError) -> Self {
        let SpecError { place, why, hint } = error;
        Self {
            hint: Some(hint).filter(|hint| !hint.is_empty()),
            ..Refusal::TrialSpec { place, why }.into()
        }
    }
}

impl From<DeviceError> for SessionError {
    fn from(error: DeviceError) -> Self {
        let DeviceError { field, why, hint } = error;
        Self {
            hint,
            ..Refusal::DeviceSpec { field, why }.into()
        }
    }
}

impl From<PortError> for SessionError {
    fn from(error: PortError) -> Self {
        let hint = match &error {
            PortError::System { hint, .. } => hint.clone(),
            PortError::NoTap { source, .. } if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                Some("TAP interfaces need /dev/net/tun and CAP_NET_ADMIN: `modprobe tun`, and run as root".to_owned())
            }
            _ => None,
        };
        Self {
            reason: Reason::from(&error),
            hint,
        }
    }
}
