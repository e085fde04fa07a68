//! Capacities that ports share: those of the box, its cards and the trunk between them.

use super::values::{bits, no_such_port, server};
use crate::error::DeviceError;
use crate::limits::{Boxed, Card, Limits, Trunk, TwoRateServer};
use crate::spec::{self, DeviceSpec};

/// The capacities of the box and its cards, if there are any beyond a plain `box_fps`.
pub(super) fn limits(spec: &DeviceSpec) -> Result<Option<Box<Limits>>, DeviceError> {
    if spec.box_haste.is_none() && spec.box_bits.is_none() && spec.cards.is_empty() && spec.trunk.is_none() {
        return Ok(None);
    }
    let mut card_of = vec![None; spec.ports.len()];
    for (index, card) in spec.cards.iter().enumerate() {
        let field = || format!("cards[{index}].ports");
        for &port in &card.ports {
            match card_of.get_mut(port) {
                None => return Err(no_such_port(field(), port, spec)),
                Some(Some(_)) => return Err(DeviceError::new(field(), format!("port {port} is on two cards"))),
                Some(place) => *place = Some(index),
            }
        }
    }
    let card = |(index, card): (usize, &spec::Card)| {
        Ok(Card {
            server: server(format!("cards[{index}].in_fps"), card.in_fps, card.in_queue)?,
            bits: bits(format!("cards[{index}].in_bits"), card.in_bits, card.in_queue)?,
        })
    };
    Ok(Some(Box::new(Limits {
        cards: spec.cards.iter().enumerate().map(card).collect::<Result<_, DeviceError>>()?,
        card_of,
        server: boxed(spec)?,
        bits: bits("box_bits".to_owned(), spec.box_bits, spec.box_queue)?,
        trunk: trunk(spec)?,
        card_drops: 0,
        box_drops: 0,
    })))
}

fn trunk(spec: &DeviceSpec) -> Result<Option<Trunk>, DeviceError> {
    let Some(trunk) = &spec.trunk else { return Ok(None) };
    if let Some(port) = trunk.near.iter().find(|port| **port >= spec.ports.len()) {
        return Err(no_such_port("trunk.near".to_owned(), *port, spec));
    }
    if let Some(resume) = trunk.resume.filter(|&resume| resume > trunk.queue) {
        let why = format!("{resume} frames; the queue holds {}", trunk.queue);
        return Err(DeviceError::new("trunk.resume", why));
    }
    let is_near = (0..spec.ports.len()).map(|port| trunk.near.contains(&port)).collect();
    let slow = || DeviceError::new("trunk.rate_bps", "0 bit/s: nothing would ever pass");
    Trunk::new(is_near, trunk).map(Some).ok_or_else(slow)
}

fn boxed(spec: &DeviceSpec) -> Result<Option<Boxed>, DeviceError> {
    let steady = server("box_fps".to_owned(), spec.box_fps, spec.box_queue)?;
    let Some(haste) = spec.box_haste else {
        return Ok(steady.map(Boxed::Steady));
    };
    let field = || "box_haste".to_owned();
    let Some(rate) = spec.box_fps else {
        return Err(DeviceError::new(field(), "without `box_fps` there is nothing to be quicker than"));
    };
    let two_rates = TwoRateServer::new(rate, haste, spec.box_queue);
    let bad =
        || DeviceError::new(field(), "two rates that have no common measure, or none at all").hint("give both in whole frames per second");
    two_rates.map(|server| Some(Boxed::TwoRates(server))).ok_or_else(bad)
}
