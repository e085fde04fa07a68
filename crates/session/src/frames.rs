//! The frames of a stream as they would be sent, without a port.

use crate::error::{Refusal, SessionError};
use netdyno_engine::spec::{Destination, TrialSpec};
use netdyno_engine::{Schedule, stream_seed};
use netdyno_frame::mix;
use netdyno_frame::spec::{Bytes, Mac};
use netdyno_frame::template::Template;
use serde::{Deserialize, Serialize};

/// A frame of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFrame {
    /// When its departure is due, ps from the begin of the traffic.
    pub at_ps: u64,
    /// The frame, without FCS.
    pub frame: Bytes,
}

/// Returns frames `first` to `first + count - 1` of a stream of `trial`, fewer if the stream ends before.
///
/// Arrivals are even and bursts of a port are not spaced. MAC addresses that a device would be asked for are zero.
///
/// # Errors
/// If there is no such stream, or no such frame can be built.
pub fn frames(trial: &TrialSpec, stream: usize, first: u64, count: u64) -> Result<Vec<SentFrame>, SessionError> {
    let refused = |place: String, why: String| SessionError::from(Refusal::TrialSpec { place, why });
    let Some(spec) = trial.streams.get(stream) else {
        let why = format!("there are {} streams", trial.streams.len());
        return Err(refused(format!("streams[{stream}]"), why));
    };
    let place = || format!("stream `{}`", spec.name);
    let sizes: Vec<u32> = spec.sizes.iter().map(|size| size.size).collect();
    let weights: Vec<u32> = spec.sizes.iter().map(|size| size.weight).collect();
    let order = mix::order(&weights);
    if order.is_empty() || spec.flows == 0 {
        return Err(refused(place(), "no sizes or no flows".into()));
    }
    let made = Template::of(spec.content(), &sizes, spec.flows, stream_seed(trial.seed, stream));
    let mut template = made.map_err(|error| refused(place(), error.to_string()))?;
    template.set_first_flow(trial.streams[..stream].iter().map(|before| before.flows).sum());
    if spec.destination == Destination::Peer
        && let Some(mac) = trial.ports.get(spec.rx_port).and_then(|port| port.mac.parse::<Mac>().ok())
    {
        template.set_destination(mac);
    }
    let schedule = Schedule::new(&spec.schedule, &spec.sizes, &order);
    let flows = u64::from(spec.flows);
    let found = (first..first.saturating_add(count)).map_while(|number| {
        let at_ps = schedule.departure_ps(number)?;
        let size = order[(number % order.len() as u64) as usize].into();
        let frame = template.frame((number % flows) as u32, number / flows, size, at_ps);
        Some(SentFrame {
            at_ps,
            frame: Bytes(frame),
        })
    });
    Ok(found.collect())
}
