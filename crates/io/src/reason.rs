//! Reasons: why a port failed, a trial does not count or a specification was refused. A program reads the code and the
//! fields; the sentence is their rendering. Each crate lists its reasons with [`reasons!`], and so has a table of its codes.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A name, an address or a text from elsewhere.
    Text(String),
}

impl From<bool> for Field {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i32> for Field {
    fn from(number: i32) -> Self {
        Self::Number(i64::from(number))
    }
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A reason as it leaves the engine: `{"code": ..., "fields": {...}, "text": ...}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What kind of reason it is: one of a table of [`Code`]s.
    pub code: Cow<'static, str>,
    /// What it is about, by name.
    pub fields: BTreeMap<Cow<'static, str>, Field>,
    /// The same as a sentence for people.
    pub text: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A line of a table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The code.
    pub code: &'static str,
    /// The names of its fields.
    pub fields: &'static [&'static str],
    /// What it means.
    pub meaning: &'static str,
}

/// Defines an enum of reasons: each with its meaning, its fields, its code and its sentence, in which `{field}` stands for a
/// field. The enum has `Display` for the sentence, `From` into a [`Reason`] and a table `CODES`.
#[macro_export]
macro_rules! reasons {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident {
            $(
                #[doc = $meaning:literal]
                $variant:ident { $( $(#[doc = $what:literal])* $field:ident: $kind:ty, )* } = $code:literal, $sentence:literal;
            )+
        }
    ) => {
        $(#[$about])*
        $visible enum $name {
            $(
                #[doc = $meaning]
                $variant { $( $(#[doc = $what])* $field: $kind, )* },
            )+
        }

        impl $name {
            /// The codes of these reasons.
            pub const CODES: &'static [$crate::reason::Code] = &[
                $( $crate::reason::Code {
                    code: $code,
                    fields: &[$( stringify!($field) ),*],
                    meaning: $meaning.trim_ascii(),
                }, )+
            ];

            /// Returns the reason's code.
            #[must_use]
            pub const fn code(&self) -> &'static str {
                match self {
                    $( Self::$variant { .. } => $code, )+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            // A field may be in no sentence.
            #[allow(unused_variables)]
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $( Self::$variant { $( $field ),* } => write!(f, $sentence), )+
                }
            }
        }

        impl From<$name> for $crate::reason::Reason {
            fn from(reason: $name) -> Self {
                let text = reason.to_string();
                let code = reason.code().into();
                let fields = match reason {
                    $( $name::$variant { $( $field ),* } => [
                        $( (stringify!($field).into(), $crate::reason::Field::from($field)), )*
                    ].into(), )+
                };
                Self { code, fields, text }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    reasons! {
        /// For the tests.
        #[derive(Debug)]
        enum Sample {
            /// Nobody is at home.
            Away { port: String, waited_ms: u64, } = "away", "port `{port}`: nobody within {waited_ms} ms";
            /// It is over.
            Over {} = "over", "over";
        }
    }

    #[test]
    fn reason_is_written_as_code_fields_and_text() {
        let away = Sample::Away {
            port: "west".to_owned(),
            waited_ms: 5000,
        };
        let reason = Reason::from(away);
        let json = serde_json::to_string(&reason).expect("is written");
        assert_eq!(
            json,
            r#"{"code":"away","fields":{"port":"west","waited_ms":5000},"text":"port `west`: nobody within 5000 ms"}"#
        );
        assert_eq!(serde_json::from_str::<Reason>(&json).expect("is read"), reason);
        let over = serde_json::to_string(&Reason::from(Sample::Over {})).expect("is written");
        assert_eq!(over, r#"{"code":"over","fields":{},"text":"over"}"#);
    }

    #[test]
    fn codes_table_has_meaning_and_fields_of_each() {
        let table: Vec<_> = Sample::CODES.iter().map(|it| (it.code, it.fields, it.meaning)).collect();
        let right: [(&str, &[&str], &str); 2] = [("away", &["port", "waited_ms"], "Nobody is at home."), ("over", &[], "It is over.")];
        assert_eq!(table, right);
    }
}
