//! From a finished trial to its result: counts only.

use super::Trial;
use super::phases::phases;
use super::worker::Worker;
use crate::host::{Host, NextHop};
use crate::observe::First;
use crate::observe::Observer;
use crate::reason::Invalid;
use crate::receive::Arrivals;
use crate::result::{
    AdjacencyResult, CatchUp, ConflictResult, FlowCounts, Gap, Gaps, Health, HeardResult, HopChange, HopSilence, NextHopResult, PortResult,
    SaidResult, Silence, StreamResult, TrialResult,
};
use crate::send::{Lane, Sender};
use netdyno_frame::FCS_BYTES;
use netdyno_frame::hello::Change;
use netdyno_io::port::{PortCounters, WIRE_OVERHEAD_BYTES};

impl Trial {
    /// What the trial found, once it has finished.
    #[must_use]
    pub fn result(&mut self) -> TrialResult {
        self.worker.settle();
        self.hosts.iter_mut().for_each(|host| host.adjacent.end());
        result(self)
    }
}

fn result(trial: &Trial) -> TrialResult {
    let mut invalid = trial.invalid.clone();
    let mut streams: Vec<StreamResult> = (0..trial.spec.streams.len()).map(|index| stream(trial, index)).collect();
    let mut ports: Vec<PortResult> = (0..trial.hosts.len()).map(|index| port(trial, index)).collect();
    if trial.exact {
        cut_silence(trial, &mut streams, &mut ports);
    }
    for (stream, spec) in streams.iter().zip(&trial.spec.streams) {
        // What another host sent is not known here.
        if trial.spec.ports[spec.tx_port].remote {
            continue;
        }
        if stream.lost < 0 {
            let more = Invalid::TooManyReceived {
                stream: stream.name.clone(),
                received: stream.received + stream.corrupted,
                offered: stream.offered,
            };
            invalid.push(more.into());
        }
        let negative = stream.latency.as_ref().map(|latency| latency.negative);
        if let Some(frames) = negative.filter(|&frames| frames > 0) {
            let stream = stream.name.clone();
            invalid.push(Invalid::NegativeLatency { stream, frames }.into());
        }
    }
    TrialResult {
        health: health(trial, &streams),
        streams,
        ports,
        phases: phases(&trial.spec, trial.longest, &trial.times),
        sample_ns: trial.spec.sample_ns,
        resolved: trial
            .hosts
            .iter()
            .flat_map(|host| host.answered())
            .map(|(address, mac)| (address.to_string(), mac.to_string()))
            .collect(),
        next_hops: next_hops(trial),
        conflicts: conflicts(trial),
        said: said(trial),
        heard: heard(trial),
        heard_beyond: trial.hosts.iter().map(|host| host.post.beyond()).sum(),
        heard_damaged: trial.hosts.iter().map(|host| host.post.damaged()).sum(),
        adjacencies: adjacencies(trial),
        invalid,
        began_late_ns: trial.worker.began_late_ps().filter(|_| trial.spec.waits).map(|ps| ps / 1000),
    }
}

/// In virtual time nothing happens between the last frame and the end of the drain, which may be as long as ten thousands of
/// samples: ends all series with the sample of the last frame, or of the end of traffic if that is later.
fn cut_silence(trial: &Trial, streams: &mut [StreamResult], ports: &mut [PortResult]) {
    let of_streams = streams.iter_mut().flat_map(|one| [&mut one.tx, &mut one.rx, &mut one.arrived]);
    let of_ports = ports
        .iter_mut()
        .flat_map(|one| [&mut one.tx, &mut one.tx_bytes_series, &mut one.rx, &mut one.rx_bytes_series]);
    let mut all: Vec<&mut Vec<u64>> = of_streams.chain(of_ports).collect();
    let traffic = trial.duration_ps.div_ceil(1000 * trial.spec.sample_ns) as usize;
    let ends = all.iter().filter_map(|series| series.iter().rposition(|&count| count > 0));
    let kept = ends.map(|last| last + 1).max().unwrap_or(0).max(traffic);
    all.iter_mut().for_each(|series| series.truncate(kept));
    let lags = streams.iter_mut().filter_map(|one| one.lag.as_mut());
    lags.for_each(|lag| lag.by_sample.truncate(kept));
}

/// `ps` from the start of traffic, ns.
fn since_traffic(trial: &Trial, ps: u64) -> i64 {
    (ps as i64 - trial.times.traffic as i64) / 1000
}

fn said(trial: &Trial) -> Vec<SaidResult> {
    let said = trial.worker.senders.iter().flat_map(|sender| &sender.said);
    said.map(|&(which, at_ps)| SaidResult {
        message: which.message,
        number: which.number,
        at_ns: since_traffic(trial, at_ps),
    })
    .collect()
}

fn adjacencies(trial: &Trial) -> Vec<AdjacencyResult> {
    let since = |change: &Change| Change {
        at_ps: change.at_ps.saturating_sub(trial.times.traffic),
        ..*change
    };
    let of_port = |(port, host): (usize, &Host)| -> Vec<_> {
        let of = |(vlans, changes): (Vec<u16>, &[Change])| AdjacencyResult {
            port,
            vlans,
            changes: changes.iter().map(since).collect(),
        };
        host.adjacent.changes().map(of).collect()
    };
    trial.hosts.iter().enumerate().flat_map(of_port).collect()
}

fn heard(trial: &Trial) -> Vec<HeardResult> {
    let kept = trial.hosts.iter().enumerate();
    kept.flat_map(|(port, host)| host.post.datagrams().iter().map(move |datagram| (port, datagram)))
        .map(|(port, datagram)| HeardResult {
            port,
            at_ns: since_traffic(trial, datagram.at_ps),
            from: datagram.from.to_string(),
            from_port: datagram.from_port,
            to_port: datagram.to_port,
            payload: datagram.payload.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
        .collect()
}

fn next_hops(trial: &Trial) -> Vec<NextHopResult> {
    let ns = |ps: u64| since_traffic(trial, ps);
    let result = |port: &str, hop: &NextHop| NextHopResult {
        port: port.to_owned(),
        vlans: hop.tags.iter().map(|tag| tag.vid()).collect(),
        address: hop.address.to_string(),
        mac: hop.mac.map(|mac| mac.to_string()),
        polls: hop.polls,
        heard: hop.heard,
        changes: hop
            .changes
            .iter()
            .map(|change| HopChange {
                at_ns: ns(change.at_ps),
                before: change.from.to_string(),
                after: change.to.to_string(),
            })
            .collect(),
        further_changes: hop.further_changes,
        silences: hop
            .silences
            .iter()
            .map(|&(from, until)| HopSilence {
                from_ns: ns(from),
                until_ns: until.map(ns),
            })
            .collect(),
    };
    let ports = trial.worker.ports.iter().zip(&trial.hosts);
    ports
        .flat_map(|(port, host)| host.hops().iter().map(|hop| result(&port.info().name, hop)))
        .collect()
}

fn conflicts(trial: &Trial) -> Vec<ConflictResult> {
    let ports = trial.worker.ports.iter().zip(&trial.hosts);
    ports
        .flat_map(|(port, host)| {
            host.conflicts().iter().map(|conflict| ConflictResult {
                port: port.info().name.clone(),
                address: conflict.address.to_string(),
                mac: conflict.mac.to_string(),
            })
        })
        .collect()
}

fn stream(trial: &Trial, index: usize) -> StreamResult {
    let lanes = &trial.worker.senders[trial.spec.streams[index].tx_port].lanes;
    // Lanes are in the order of their streams.
    let Ok(lane) = lanes.binary_search_by_key(&index, |lane| lane.stream).map(|place| &lanes[place]) else {
        return StreamResult::default();
    };
    let intended = match (trial.took_place && !lane.is_remote, trial.cancelled) {
        (false, _) => 0,
        (true, true) => lane
            .schedule()
            .frames_before(trial.times.stopped.saturating_sub(trial.times.traffic)),
        (true, false) => lane.schedule().frames(),
    };
    let arrivals = &trial.worker.receiver.streams[index];
    // Without a probe a copy is a frame like others. So many there were at least: what came is no more than what was sent.
    let copies = if arrivals.is_bare && !lane.is_remote {
        let came = arrivals.received + arrivals.corrupted;
        came.saturating_sub(lane.offered).min(arrivals.received)
    } else {
        0
    };
    let received = arrivals.received - copies;
    let lost = lane.offered as i64 - received as i64 - arrivals.corrupted as i64;
    let gaps = if arrivals.is_bare { None } else { gaps(arrivals, lane) };
    let intended = intended.max(lane.offered);
    StreamResult {
        name: trial.spec.streams[index].name.clone(),
        intended,
        offered: lane.offered,
        refused: refused(trial, index, lane, intended),
        offered_bytes: lane.offered_bytes,
        received,
        received_bytes: arrivals.received_bytes,
        duplicates: arrivals.duplicates + copies,
        elsewhere: arrivals.elsewhere,
        out_of_order: arrivals.out_of_order,
        translated: trial.openings.translated(index),
        retranslated: arrivals.retranslated,
        corrupted: arrivals.corrupted,
        lost,
        beyond_window: arrivals.beyond_window,
        flows_received: trial.worker.receiver.flows_received(index),
        latency: arrivals.timing.finish(),
        lag: lane.lag.finish(trial.times.traffic),
        tx: lane.tx.bins().to_vec(),
        rx: arrivals.rx.bins().to_vec(),
        arrived: arrivals.arrived.bins().to_vec(),
        silence: arrivals.observer.as_ref().and_then(|observer| silence(trial, observer)),
        order: arrivals.observer.as_ref().and_then(|observer| observer.order()),
        variation: arrivals.observer.as_ref().and_then(|observer| observer.variation()),
        spacing: arrivals.observer.as_ref().and_then(|observer| observer.spacing()),
        first_loss_ns: match &gaps {
            // The first gap is among them unless there is room for the last only.
            Some(gaps) if trial.spec.observe.gaps > 1 => gaps.gaps.first().map(|gap| gap.first_ns),
            _ if arrivals.is_bare || lane.is_remote => None,
            _ => (lost > 0 || arrivals.corrupted > 0).then(|| first_loss_ns(trial, lane)).flatten(),
        },
        gaps,
        by_flow: if arrivals.is_bare { None } else { by_flow(trial, arrivals, lane) },
        is_bare: arrivals.is_bare,
        altered: arrivals.altered,
        // What several workers found has no percentiles in common.
        intervals: if trial.spec.observe.interval_ns > 0 && trial.is_alone {
            arrivals.intervals.finish(&arrivals.timing)
        } else {
            Vec::new()
        },
    }
}

/// What became of each flow of a stream, if that was asked.
fn by_flow(trial: &Trial, arrivals: &Arrivals, lane: &Lane) -> Option<FlowCounts> {
    let observer = arrivals.observer.as_ref()?;
    observer.by_flow(trial.times.traffic, |flow| lane.sent(flow))
}

/// Frames of a stream that were not sent because the peer's ring was full. Nobody is further behind its schedule for that
/// than the ring was full; of several workers each has a ring of its own.
fn refused(trial: &Trial, index: usize, lane: &Lane, intended: u64) -> u64 {
    let Some(pressed) = counted(trial, trial.spec.streams[index].tx_port).back_pressure else {
        return 0;
    };
    let stopped_ps = if trial.cancelled {
        trial.times.stopped.saturating_sub(trial.times.traffic)
    } else {
        lane.schedule().duration_ps()
    };
    let first_ps = lane.schedule().departure_ps(lane.offered).unwrap_or(stopped_ps);
    let behind_ns = stopped_ps.saturating_sub(first_ps) / 1000;
    let is_explained = pressed.full_ns > 0 && pressed.full_ns >= behind_ns * trial.workers().count() as u64;
    if is_explained { intended - lane.offered } else { 0 }
}

/// When frames of a stream that did not arrive intact were due to depart, if that was asked.
fn gaps(arrivals: &Arrivals, lane: &Lane) -> Option<Gaps> {
    let flows = u64::from(lane.template.flows());
    // Of what another host sends only the schedule is known: who joins the results drops this where that was not met.
    let whole = lane.is_remote.then(|| lane.schedule().frames());
    let (low, high) = whole.map_or_else(|| lane.sent_between(), |frames| (frames, frames));
    let is_sent = |number: u64| whole.map_or_else(|| number / flows < lane.sent((number % flows) as u32), |frames| number < frames);
    let losses = arrivals.observer.as_ref()?.losses(low, high, is_sent)?;
    let departure_ns = |number| lane.schedule().departure_ps(number).map_or(0, |ps| ps / 1000);
    let gap = |gap: &crate::observe::Gap| Gap {
        first: gap.first,
        last: gap.last,
        frames: gap.frames,
        first_ns: departure_ns(gap.first),
        last_ns: departure_ns(gap.last),
    };
    let (further, further_frames) = losses.further();
    Some(Gaps {
        gaps: losses.gaps().map(gap).collect(),
        further,
        further_frames,
    })
}

/// The longest silence of a stream, if it is known.
fn silence(trial: &Trial, observer: &Observer) -> Option<Silence> {
    let (from, until) = observer.silence()?;
    let ns = |ps: u64| ps.saturating_sub(trial.times.traffic) / 1000;
    Some(Silence {
        from_ns: ns(from),
        until_ns: ns(until),
    })
}

/// When the first frame that did not arrive intact, lost or corrupted, was due to depart: exactly, if each flow's
/// first gap is still in its window, else the start of the first sample in which fewer arrived than departed. The two
/// are not told apart here, for a frame whose probe is broken leaves a gap like one that is lost.
fn first_loss_ns(trial: &Trial, lane: &Lane) -> Option<u64> {
    let arrivals = &trial.worker.receiver.streams[lane.stream];
    let receiver = &trial.worker.receiver;
    let first = match receiver.flows.first_lost(receiver.flow_range(lane.stream), |flow| lane.sent(flow)) {
        First::None => arrivals.first_corrupted,
        First::Frame(number) => number.min(arrivals.first_corrupted),
        First::Unknown => {
            let (tx, arrived) = (lane.tx.bins(), arrivals.arrived.bins());
            let sample = tx.iter().zip(arrived).position(|(tx, arrived)| tx > arrived)?;
            return Some(sample as u64 * trial.spec.sample_ns);
        }
    };
    lane.schedule().departure_ps(first).map(|ps| ps / 1000)
}

fn port(trial: &Trial, index: usize) -> PortResult {
    let (sender, arrivals) = (&trial.worker.senders[index], &trial.worker.receiver.ports[index]);
    PortResult {
        name: trial.worker.ports[index].info().name.clone(),
        tx_frames: sender.frames,
        tx_bytes: sender.bytes,
        rx_frames: arrivals.frames,
        rx_bytes: arrivals.bytes,
        own_frames: sender.own_frames,
        foreign: arrivals.foreign + counted(trial, index).rx_cut - cut_and_missing(trial, index),
        others: arrivals.others,
        others_bytes: arrivals.others_bytes,
        stale: arrivals.stale,
        back_pressure: counted(trial, index).back_pressure,
        tx: sender.tx.bins().to_vec(),
        tx_bytes_series: sender.tx_bytes.bins().to_vec(),
        rx: arrivals.rx.bins().to_vec(),
        rx_bytes_series: arrivals.rx_bytes.bins().to_vec(),
        rx_full_spans: rx_full_spans(trial, index),
    }
}

/// When a ring of port `index` may have been full, ns from the start of traffic.
fn rx_full_spans(trial: &Trial, index: usize) -> Vec<[u64; 2]> {
    let begin = trial.times.traffic;
    let spans = trial.workers().flat_map(|worker| worker.ports[index].full_spans());
    let dated = spans.filter(|span| span.until.ps > begin);
    dated
        .map(|span| [span.from.ps.saturating_sub(begin) / 1000, (span.until.ps - begin).div_ceil(1000)])
        .collect()
}

fn health(trial: &Trial, streams: &[StreamResult]) -> Health {
    let (mut all, mut cut, mut tx_ahead_ns) = (PortCounters::default(), 0, None);
    for index in 0..trial.hosts.len() {
        let counted = counted(trial, index);
        cut += cut_and_missing(trial, index);
        all += counted;
        tx_ahead_ns = tx_ahead_ns.max(ahead_ns(trial, index, counted.tx_ahead));
    }
    Health {
        unsent: streams.iter().map(|stream| stream.intended - stream.offered).sum(),
        latest_departure_ns: trial.worker.senders.iter().map(|sender| sender.latest_ps).max().unwrap_or(0) / 1000,
        longest_gap_ns: trial.workers().map(Worker::longest_gap_ps).max().unwrap_or(0) / 1000,
        rx_dropped: all.rx_dropped,
        rx_too_long: cut,
        tx_full: all.tx_full,
        tx_no_peer: all.tx_no_peer,
        tx_dropped: all.tx_dropped,
        rx_full: all.rx_full,
        rx_full_ns: Some(all.rx_full_ns),
        tx_ahead: all.tx_ahead,
        tx_ahead_ns,
        unheard: trial.unheard(),
        catch_up: catch_up(trial),
        core_share_ppm: None,
        split_flows: trial.split_flows,
        workers: trial.workers().filter_map(Worker::health).collect(),
        threads: 0,
        cores: 0,
        peers: Vec::new(),
    }
}

/// How long the longest frames that port `index` sends, so many of them, take on its line, ns.
fn ahead_ns(trial: &Trial, index: usize, frames: u64) -> Option<u64> {
    let rate_bps = trial.worker.ports[index].info().rate_bps;
    let sent = trial.spec.streams.iter().filter(|stream| stream.tx_port == index);
    let longest = sent.flat_map(|stream| &stream.sizes).map(|size| u64::from(size.size)).max();
    let bits = frames * 8 * (longest? - u64::from(FCS_BYTES) + WIRE_OVERHEAD_BYTES);
    (frames > 0).then_some(())?;
    (bits * 1_000_000_000).checked_div(rate_bps)
}

/// How all that send made up for pauses; `None` in virtual time, where nobody keeps them from sending.
fn catch_up(trial: &Trial) -> Option<CatchUp> {
    let senders = trial.worker.senders.iter().filter(|sender| !sender.lanes.is_empty());
    let mut found = senders.filter_map(Sender::catch_up);
    let mut sum = found.next()?.clone();
    found.for_each(|other| sum.absorb(other));
    Some(sum)
}

/// What port `index` itself, all its queues together, has counted since traffic began.
fn counted(trial: &Trial, index: usize) -> PortCounters {
    let mut sum = PortCounters::default();
    trial.workers().for_each(|worker| sum += worker.counted(index));
    sum
}

/// Frames that were too long for port `index` and may be some of those missing there: a device can have made test
/// frames longer. What is beyond that was nobody's test frame, and says nothing of the tester.
fn cut_and_missing(trial: &Trial, index: usize) -> u64 {
    let lanes = trial.worker.senders.iter().flat_map(|sender| &sender.lanes);
    let missing = lanes.map(|lane| {
        let arrivals = &trial.worker.receiver.streams[lane.stream];
        let here = trial.spec.home_of(trial.spec.streams[lane.stream].rx_port) == trial.spec.home_of(index);
        u64::from(here) * lane.offered.saturating_sub(arrivals.received + arrivals.corrupted)
    });
    counted(trial, index).rx_cut.min(missing.sum())
}
