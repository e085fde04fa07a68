//! Which thread of a session runs on which core, in real time. Every one of them spins.

use crate::error::{Refusal, SessionError};
use crate::spec::{ClockKind, SessionSpec};
use netdyno_dut::Device;
use netdyno_engine::Trial;
use netdyno_io::backend::Placement;
use netdyno_io::drive::{Node, ThreadHealth, available_cores, pin_to_core, prefer_this_thread, run_real};
use netdyno_io::machine::numa_node;
use netdyno_io::time::{Clock, Instant};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

/// The threads' cores; `None`: wherever the system puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Of the workers, the lead first.
    pub workers: Vec<Option<usize>>,
    /// Of the emulated devices, in the order of the spec.
    devices: Vec<Option<usize>>,
    /// How many cores all of them share.
    pub cores: usize,
}

impl Places {
    /// Where the threads of `spec` run on a machine that lets this process use the cores `available`.
    fn new(spec: &SessionSpec, available: &[usize]) -> Result<Self, SessionError> {
        let (workers, devices, cores) = (spec.workers, spec.devices.len(), &spec.cores[..]);
        let list = |cores: &[usize]| cores.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        if workers > 1 && workers > available.len() {
            let why = format!(
                "{workers} workers, but this process may use {} core{} ({})",
                available.len(),
                if available.len() == 1 { "" } else { "s" },
                list(available)
            );
            let hint = "each worker keeps a core busy: ask for fewer, or give the process more cores (taskset, cpuset)";
            return Err(SessionError::from(Refusal::Workers { why }).hint(hint));
        }
        let own: BTreeSet<usize> = cores.iter().take(workers).copied().collect();
        if !cores.is_empty() && own.len() < workers {
            let why = format!(
                "{workers} workers, but the cores named for them are {}",
                list(&cores[..workers.min(cores.len())])
            );
            return Err(SessionError::from(Refusal::Workers { why }).hint("name a core of its own for each worker, or none at all"));
        }
        let (of_workers, of_devices): (Vec<_>, Vec<_>) = if !cores.is_empty() {
            let at = |number: usize| Some(cores[number % cores.len()]);
            ((0..workers).map(at).collect(), (workers..workers + devices).map(at).collect())
        } else if workers == 1 {
            (vec![None], vec![None; devices])
        } else {
            // What the workers leave, if it is enough.
            let left = available.get(workers..workers + devices);
            let of_devices = left.map_or(vec![None; devices], |left| left.iter().copied().map(Some).collect());
            (available[..workers].iter().copied().map(Some).collect(), of_devices)
        };
        let kept: Option<BTreeSet<usize>> = of_workers.iter().chain(&of_devices).copied().collect();
        Ok(Self {
            cores: kept.map_or(available.len(), |kept| kept.len()),
            workers: of_workers,
            devices: of_devices,
        })
    }

    /// How many threads there are, all of them spinning.
    pub fn threads(&self) -> usize {
        self.workers.len() + self.devices.len()
    }
}

/// Where the threads of `spec` run; `None` in virtual time.
pub fn places(spec: &SessionSpec) -> Result<Option<Places>, SessionError> {
    if spec.workers == 0 {
        return Err(SessionError::from(Refusal::Workers {
            why: "0 workers".to_owned(),
        })
        .hint("1 is the least"));
    }
    match spec.clock {
        ClockKind::Real => Places::new(spec, &available_cores()?).map(Some),
        ClockKind::Virtual if spec.workers == 1 => Ok(None),
        ClockKind::Virtual => {
            let why = format!("{} workers in virtual time, where there is one", spec.workers);
            Err(SessionError::from(Refusal::Workers { why }).hint("leave `workers` out: virtual cases run side by side, one on each core"))
        }
    }
}

/// Where the workers run, for port backends that keep memory near them.
pub fn placement(places: Option<&Places>) -> Placement {
    let cores = places.map(|places| places.workers.clone()).unwrap_or_default();
    let known: Option<Vec<usize>> = cores.iter().copied().collect();
    Placement {
        numa_node: known.and_then(|cores| numa_node(&cores)),
        cores,
    }
}

/// Waits for a thread to end.
fn end<T>(thread: ScopedJoinHandle<'_, Result<T, SessionError>>, what: &str) -> Result<T, SessionError> {
    thread.join().unwrap_or_else(|panic| Err(SessionError::bug(what, &*panic)))
}

/// Runs the trial to its end, each worker and each device on a thread of its own. The healths are those of the workers.
pub fn run(trial: &mut Trial, devices: &mut [Device], clock: Clock, places: &Places) -> Result<Vec<ThreadHealth>, SessionError> {
    let (stop_devices, stop_followers, never) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let run = |node: &mut dyn Node, core: Option<usize>, stop: &AtomicBool| -> Result<ThreadHealth, SessionError> {
        if let Some(core) = core {
            pin_to_core(core)?;
        }
        prefer_this_thread();
        Ok(run_real(node, &clock, stop, Instant::NEVER))
    };
    let run = &run;
    let followers = trial.followers();
    let (healths, followers) = std::thread::scope(|scope| {
        let stop = &stop_devices;
        let beside: Vec<_> = devices
            .iter_mut()
            .zip(&places.devices)
            .map(|(device, &core)| scope.spawn(move || run(device, core, stop)))
            .collect();
        let stop = &stop_followers;
        let following: Vec<_> = followers
            .into_iter()
            .zip(&places.workers[1..])
            .map(|(mut follower, &core)| scope.spawn(move || run(&mut follower, core, stop).map(|health| (follower, health))))
            .collect();
        let lead = scope.spawn({
            let (trial, never, core) = (&mut *trial, &never, places.workers[0]);
            move || run(trial, core, never)
        });
        let lead = end(lead, "the thread of the trial");
        // Followers end by themselves when the lead has ended in order.
        stop_followers.store(lead.is_err(), Ordering::Relaxed);
        let followed: Vec<_> = following.into_iter().map(|it| end(it, "the thread of a worker")).collect();
        stop_devices.store(true, Ordering::Relaxed);
        let devices: Vec<_> = beside.into_iter().map(|it| end(it, "the thread of an emulated device")).collect();
        let mut healths = vec![lead?];
        let (followers, more): (Vec<_>, Vec<_>) = followed.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        devices.into_iter().collect::<Result<Vec<_>, _>>()?;
        healths.extend(more);
        Ok::<_, SessionError>((healths, followers))
    })?;
    trial.rejoin(followers);
    Ok(healths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(workers: usize, devices: usize, cores: &[usize]) -> SessionSpec {
        let device = |number| serde_json::json!({"name": format!("dut{number}"), "ports": [], "forwarding": {"kind": "bridge"}});
        serde_json::from_value(serde_json::json!({
            "clock": "real", "ports": [], "workers": workers, "cores": cores,
            "devices": (0..devices).map(device).collect::<Vec<_>>(),
        }))
        .expect("a session")
    }

    /// Cores of the workers, of the devices, and how many there are for so many threads.
    fn found(workers: usize, devices: usize, cores: &[usize], available: &[usize]) -> (Vec<Option<usize>>, Vec<Option<usize>>, [usize; 2]) {
        let places = Places::new(&spec(workers, devices, cores), available).expect("fits");
        let counts = [places.threads(), places.cores];
        (places.workers, places.devices, counts)
    }

    #[test]
    fn threads_have_cores_of_their_own_where_there_are_enough() {
        assert_eq!(found(1, 1, &[], &[0, 1]), (vec![None], vec![None], [2, 2]));
        assert_eq!(found(1, 1, &[3, 4], &[3, 4, 5]), (vec![Some(3)], vec![Some(4)], [2, 2]));
        assert_eq!(found(2, 1, &[], &[2, 3, 4]), (vec![Some(2), Some(3)], vec![Some(4)], [3, 3]));
    }

    #[test]
    fn threads_that_share_cores_are_counted() {
        assert_eq!(found(1, 1, &[3], &[3, 4]), (vec![Some(3)], vec![Some(3)], [2, 1]));
        assert_eq!(found(2, 1, &[], &[0, 1]), (vec![Some(0), Some(1)], vec![None], [3, 2]));
        assert_eq!(found(1, 2, &[], &[0, 1]), (vec![None], vec![None, None], [3, 2]));
        let (_, devices, counts) = found(2, 2, &[0, 1], &[0, 1]);
        assert_eq!((devices, counts), (vec![Some(0), Some(1)], [4, 2]));
    }

    #[test]
    fn more_workers_than_cores_are_refused() {
        let refused = |workers, cores: &[usize], available: &[usize]| {
            let error = Places::new(&spec(workers, 0, cores), available).expect_err("refused");
            assert!(error.hint.is_some());
            assert_eq!(error.reason.code, "workers");
            error.reason.text
        };
        assert_eq!(refused(3, &[], &[0, 1]), "3 workers, but this process may use 2 cores (0, 1)");
        assert_eq!(refused(2, &[1], &[0, 1]), "2 workers, but the cores named for them are 1");
        assert_eq!(refused(2, &[1, 1], &[0, 1]), "2 workers, but the cores named for them are 1, 1");
    }
}
