//! What is wrong with a header stack or a size.

use std::fmt;

/// Why no frame can be built: where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// Index of the write, if it is about one.
    pub write: Option<usize>,
    /// Index of the header in the stack, outermost first; `None` if it is not about one header.
    pub header: Option<usize>,
    /// What the header is called in the plan, `ipv4`; empty if it is not about one header.
    pub name: &'static str,
    /// The field, `src`, `vid`; `None` if it is about the whole header. Of a write `at`, `value`.
    pub field: Option<&'static str>,
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub hint: String,
}

impl FrameError {
    /// About the whole stack, the sizes or the flows.
    pub(crate) fn stack(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            write: None,
            header: None,
            name: "",
            field: None,
            why: why.into(),
            hint: hint.into(),
        }
    }

    /// About one header.
    pub(crate) fn header(header: usize, name: &'static str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            header: Some(header),
            name,
            ..Self::stack(why, hint)
        }
    }

    /// About one field of a write.
    pub(crate) fn write(write: usize, field: &'static str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            write: Some(write),
            field: Some(field),
            ..Self::stack(why, hint)
        }
    }

    /// About one field of a header.
    pub(crate) fn field(header: usize, name: &'static str, field: &'static str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            field: Some(field),
            ..Self::header(header, name, why, hint)
        }
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(header) = self.header {
            write!(f, "headers[{header}] ({}", self.name)?;
            if let Some(field) = self.field {
                write!(f, ".{field}")?;
            }
            f.write_str("): ")?;
        } else if let (Some(write), Some(field)) = (self.write, self.field) {
            write!(f, "writes[{write}].{field}: ")?;
        }
        write!(f, "{}", self.why)?;
        if self.hint.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.hint)
        }
    }
}

impl std::error::Error for FrameError {}
