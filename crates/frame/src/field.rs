//! A header field's values as a plan gives them, and MAC addresses as text.

use serde::{Deserialize, Serialize};

/// A header field: the same in every frame, or a function of the flow's index.
///
/// Flow `i` of a stream takes element `i / every` of the list, step or range, modulo its length, or draw `i` of the
/// seeded random sequence of this field. Random fields are independent of each other (RFC 4814 section 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field<T> {
    /// The same in every frame.
    Constant(T),
    /// Different from flow to flow.
    Vary(Vary<T>),
    /// A list whose values stay for several flows.
    Slow(SlowList<T>),
}

/// A list of which flow `i` takes element `i / every`, modulo its length: beside another field of `every` values it makes all
/// pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowList<T> {
    /// These values, over and over.
    pub list: Vec<T>,
    /// Flows that each of them stays for.
    pub every: u32,
}

const fn one() -> u32 {
    1
}

const fn is_one(every: &u32) -> bool {
    *every == 1
}

/// How a field differs from flow to flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vary<T> {
    /// These values, over and over.
    List(Vec<T>),
    /// `start`, `start + step`, ... `count` values, over and over.
    Step {
        /// First value.
        start: T,
        /// Distance from one to the next; negative downwards.
        step: i64,
        /// How many values.
        count: u64,
        /// Flows that each of them stays for.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        every: u32,
    },
    /// From `start` on, `step` on and on; behind `max` it goes on at `min`, and the other way round.
    Range {
        /// Smallest value.
        min: T,
        /// Largest value.
        max: T,
        /// Distance from one to the next; negative downwards.
        step: i64,
        /// First value.
        start: T,
        /// Flows that each of them stays for.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        every: u32,
    },
    /// Uniform in `min..=max`, from the stream's seed and the field's place (or `seed`, if given).
    Random {
        /// Smallest value.
        min: T,
        /// Largest value.
        max: T,
        /// A seed of its own, to draw the same numbers as another field or stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
}

/// A MAC address, in text `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::str::FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2 && !part.starts_with('+'));
            *byte = part
                .and_then(|part| u8::from_str_radix(part, 16).ok())
                .ok_or_else(|| format!("`{text}` is not a MAC address"))?;
        }
        if parts.next().is_some() {
            Err(format!("`{text}` is not a MAC address"))
        } else {
            Ok(Self(bytes))
        }
    }
}

impl Serialize for Mac {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Bytes, in text two hexadecimal digits each; spaces, colons and dots between them do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|character| !matches!(character, ' ' | ':' | '.'))
            .map(|character| character.to_digit(16).map(|digit| digit as u8))
            .collect();
        match digits {
            Some(digits) if digits.len() % 2 == 0 => Ok(Self(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())),
            _ => Err(format!("`{text}` is not pairs of hexadecimal digits")),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
