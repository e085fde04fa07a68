//! What is wrong with a trial's specification.

use std::fmt;

/// A trial that cannot be: where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// Which part of the specification, `streams[0] (west-east)`.
    pub place: String,
    /// What is wrong with it.
    pub why: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl SpecError {
    pub(crate) fn new(place: impl Into<String>, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl std::error::Error for SpecError {}
