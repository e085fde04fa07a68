//! Whether headers may stand in their order, and the stack of those that may.

use crate::headers::{Header, followers};
use crate::layout::{Builder, Space, Stack};
use crate::{FCS_BYTES, FrameError, MINIMUM_SIZE};

/// Headers a stack may have; none has more than one checksum. A power of two.
pub(crate) const MOST_HEADERS: usize = 16;

/// Returns the size (FCS counted) of the smallest frame with these headers and `behind` bytes behind them.
pub(crate) fn minimum_size(headers: &[Header], behind: usize) -> u32 {
    let bytes: usize = headers.iter().map(Header::bytes).sum();
    u32::try_from(bytes + behind)
        .unwrap_or(u32::MAX)
        .saturating_add(FCS_BYTES)
        .max(MINIMUM_SIZE)
}

/// Lays out `headers`, behind which there are `probe` bytes of a probe or none; random fields draw from `seed`.
pub(crate) fn lay_out(headers: &[Header], seed: u64, probe: usize) -> Result<Stack, FrameError> {
    let numbers = check_order(headers)?;
    let mut builder = Builder::new(headers.iter().map(Header::bytes).sum(), seed, probe);
    for (index, (header, next)) in headers.iter().zip(numbers).enumerate() {
        header.build(&mut builder, index, next, index + 1 == headers.len())?;
    }
    Ok(builder.finish())
}

/// Returns the number by which each header announces the next.
fn check_order(headers: &[Header]) -> Result<Vec<u32>, FrameError> {
    let Some(first) = headers.first() else {
        return Err(FrameError::stack("there are no headers", "start with an ethernet header"));
    };
    if !matches!(first, Header::Ethernet { .. }) {
        let why = format!("a frame cannot begin with {}", first.name());
        return Err(FrameError::header(0, first.name(), why, "put an ethernet header first"));
    }
    if headers.len() > MOST_HEADERS {
        return Err(FrameError::stack(
            format!("{} headers", headers.len()),
            format!("at most {MOST_HEADERS} are supported"),
        ));
    }
    let announce = |(index, header): (usize, &Header)| {
        let (space, next) = (header.carries(), headers.get(index + 1));
        let number = next.map_or_else(|| space.payload(), |next| next.number(space));
        number.ok_or_else(|| out_of_order(index, header, next))
    };
    headers.iter().enumerate().map(announce).collect()
}

fn out_of_order(index: usize, header: &Header, next: Option<&Header>) -> FrameError {
    let space = header.carries();
    let mut carried = followers(space);
    carried.extend(space.payload().map(|_| "nothing"));
    let given = if let Space::Given(field) = space {
        format!(" with `{field}`")
    } else {
        String::new()
    };
    let hint = format!("{}{given} may be followed by {}", header.name(), carried.join(", "));
    match next {
        None => FrameError::header(index, header.name(), "carries nothing", hint),
        Some(next) => FrameError::header(index + 1, next.name(), format!("cannot follow {}", header.name()), hint),
    }
}
