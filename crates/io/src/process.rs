//! What another process had of its cores while a trial ran: the process at the other end of a port, which only the kernel can
//! tell of. Read before and after; nothing here is on the path of a frame.

use crate::time::Clock;
use crate::time::Instant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};

/// Threads of a process that are looked at.
const MOST_THREADS: usize = 4096;
/// A thread that ran less than this part of the time does not poll: where it ran says nothing.
const POLLS: u64 = 100;

/// What a process had of its cores between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// Its number.
    pub pid: u32,
    /// The time between the readings, ns.
    pub elapsed_ns: u64,
    /// Time its threads ran, together, ns.
    pub ran_ns: u64,
    /// Time they were ready to run and waited for a core, together, ns (`schedstat`); not every kernel counts it.
    pub waited_ns: Option<u64>,
    /// Time that this process, netdyno, ran on the cores of its busy threads, ns.
    pub ours_ns: u64,
    /// Time that the hypervisor took from these cores, ns, in steps of the kernel's tick.
    pub stolen_ns: Option<u64>,
    /// Time that interrupts took from them, ns, likewise.
    pub interrupts_ns: Option<u64>,
}

/// A process that is being watched.
#[derive(Debug)]
pub struct ProcessWatch {
    pid: u32,
    clock: Clock,
    its: Vec<ThreadTime>,
    ours: Vec<ThreadTime>,
    cores: Vec<CoreTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThreadTime {
    id: u32,
    core: usize,
    ran_ns: u64,
    waited_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CoreTime {
    core: usize,
    stolen_ns: u64,
    interrupts_ns: u64,
}

impl ProcessWatch {
    /// Begins to watch a process; `None` if the kernel does not tell of it, or it is this one.
    #[must_use]
    pub fn begin(pid: u32) -> Option<Self> {
        if pid == std::process::id() {
            return None;
        }
        Some(Self {
            pid,
            clock: Clock::start(),
            its: threads(pid)?,
            ours: threads(std::process::id())?,
            cores: cores(),
        })
    }

    /// What it had since; `None` if it has ended.
    #[must_use]
    pub fn end(self) -> Option<ProcessShare> {
        let (its, ours) = (threads(self.pid)?, threads(std::process::id())?);
        let elapsed_ns = self.clock.now().saturating_since(Instant::ZERO).ps / 1000;
        let busy = |ran_ns: u64| ran_ns >= elapsed_ns / POLLS;
        let on: BTreeSet<usize> = since(&self.its, &its)
            .filter(|one| busy(one.ran_ns))
            .flat_map(|one| cores_of(&self.its, &its, one.id))
            .collect();
        let taken = |of: fn(&CoreTime) -> u64, now: &[CoreTime]| {
            let each = now.iter().filter(|one| on.contains(&one.core)).map(|one| {
                let before = self.cores.iter().find(|before| before.core == one.core)?;
                Some(of(one).saturating_sub(of(before)))
            });
            // Of no core nothing is known.
            each.sum::<Option<u64>>().filter(|_| !on.is_empty() && !now.is_empty())
        };
        let now = cores();
        Some(ProcessShare {
            pid: self.pid,
            elapsed_ns,
            ran_ns: since(&self.its, &its).map(|one| one.ran_ns).sum(),
            waited_ns: since(&self.its, &its)
                .map(|one| one.waited_ns)
                .sum::<Option<u64>>()
                .filter(|_| !its.is_empty()),
            ours_ns: since(&self.ours, &ours)
                .filter(|one| cores_of(&self.ours, &ours, one.id).any(|core| on.contains(&core)))
                .map(|one| one.ran_ns)
                .sum(),
            stolen_ns: taken(|one| one.stolen_ns, &now),
            interrupts_ns: taken(|one| one.interrupts_ns, &now),
        })
    }
}

/// The cores a thread was on at both readings.
fn cores_of<'a>(before: &'a [ThreadTime], after: &'a [ThreadTime], id: u32) -> impl Iterator<Item = usize> + 'a {
    let of = move |one: &&ThreadTime| one.id == id;
    before.iter().filter(of).chain(after.iter().filter(of)).map(|one| one.core)
}

/// What each thread of the second reading had since the first.
fn since<'a>(before: &'a [ThreadTime], after: &'a [ThreadTime]) -> impl Iterator<Item = ThreadTime> + 'a {
    after.iter().map(|now| {
        let then = before.iter().find(|then| then.id == now.id);
        ThreadTime {
            ran_ns: now.ran_ns.saturating_sub(then.map_or(0, |then| then.ran_ns)),
            waited_ns: now
                .waited_ns
                .map(|ns| ns.saturating_sub(then.and_then(|then| then.waited_ns).unwrap_or(0))),
            ..*now
        }
    })
}

/// The threads of a process; `None` if there are none to be seen.
fn threads(pid: u32) -> Option<Vec<ThreadTime>> {
    let (place, tick_ns) = (format!("/proc/{pid}/task"), tick_ns());
    let names = read_dir(&place)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // One that ends meanwhile has no files any more.
    let found: Vec<_> = names
        .take(MOST_THREADS)
        .filter_map(|id| {
            let read = |file: &str| read_to_string(format!("{place}/{id}/{file}")).ok();
            thread(id.parse().ok()?, read("schedstat").as_deref(), &read("stat")?, tick_ns)
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

/// A thread from its `schedstat` (ran, waited, times) and its `stat`: the 14th and 15th field are the ticks it ran, the 39th
/// is its core.
fn thread(id: u32, schedstat: Option<&str>, stat: &str, tick_ns: u64) -> Option<ThreadTime> {
    // The second field is the program's name, in which anything may be; the third follows its bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let mut times = schedstat.unwrap_or_default().split_whitespace().map_while(|word| word.parse().ok());
    // A kernel that does not count them says 0.
    let (ran, waited) = (times.next().filter(|&ran| ran > 0), times.next());
    Some(ThreadTime {
        id,
        core: field(39)? as usize,
        ran_ns: ran.unwrap_or((field(14)? + field(15)?) * tick_ns),
        waited_ns: ran.and(waited),
    })
}

/// The kernel's tick as it counts time for others to read, ns.
fn tick_ns() -> u64 {
    // SAFETY: no memory is passed.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1)
}

/// Time taken from each core; empty if the kernel does not say.
fn cores() -> Vec<CoreTime> {
    let (text, tick_ns) = (read_to_string("/proc/stat").unwrap_or_default(), tick_ns());
    text.lines().filter_map(|line| core(line, tick_ns)).collect()
}

/// A core from its line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
fn core(line: &str, tick_ns: u64) -> Option<CoreTime> {
    let mut words = line.split_whitespace();
    // The line of all cores is of `cpu` alone.
    let core = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let counted: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [_, _, _, _, _, irq, softirq, steal, ..] = counted[..] else {
        return None;
    };
    Some(CoreTime {
        core,
        stolen_ns: steal * tick_ns,
        interrupts_ns: (irq + softirq) * tick_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Duration, sleep};
    use std::process::{Command, Stdio};

    #[test]
    fn a_thread_is_read_with_brackets_in_the_name_of_its_program() {
        let fields: Vec<_> = (3..=52).map(|number| number.to_string()).collect();
        let stat = format!("17 (a) 1 (b) {}", fields.join(" "));
        let found = thread(17, Some("1000 20 3\n"), &stat, 10).expect("is read");
        assert_eq!((found.core, found.ran_ns, found.waited_ns), (39, 1000, Some(20)));
        // Without `schedstat`, or with one that is not kept, by ticks.
        for none in [None, Some(""), Some("0 0 0")] {
            let found = thread(17, none, &stat, 10).expect("is read");
            assert_eq!((found.core, found.ran_ns, found.waited_ns), (39, 10 * (14 + 15), None));
        }
        assert_eq!(thread(17, Some("1000 20 3"), "17 (a) R 1", 10), None);
    }

    #[test]
    fn a_core_is_read_and_the_line_of_all_is_none() {
        let found = core("cpu3 1 2 3 4 5 6 7 8 9 10", 10_000_000).expect("is read");
        assert_eq!((found.core, found.stolen_ns, found.interrupts_ns), (3, 80_000_000, 130_000_000));
        assert_eq!(core("cpu  1 2 3 4 5 6 7 8 9 10", 1), None);
        assert_eq!(core("cpu0 1 2 3", 1), None);
        assert_eq!(core("intr 1 2 3", 1), None);
    }

    #[test]
    fn this_process_and_one_that_is_not_there_are_not_watched() {
        assert!(ProcessWatch::begin(std::process::id()).is_none());
        assert!(ProcessWatch::begin(u32::MAX).is_none());
    }

    /// A process that spins runs; one that sleeps does not. Both without a share of anything being asserted.
    #[test]
    fn a_process_that_spins_has_run_longer_than_one_that_sleeps() {
        let run = |words: &[&str]| {
            let mut child = Command::new(words[0])
                .args(&words[1..])
                .stdout(Stdio::null())
                .spawn()
                .expect("starts");
            sleep(Duration::from_ms(100));
            let watch = ProcessWatch::begin(child.id());
            sleep(Duration::from_ms(300));
            let found = watch.and_then(ProcessWatch::end);
            child.kill().expect("ends");
            child.wait().expect("ended");
            found
        };
        let spins = run(&["sh", "-c", "while :; do :; done"]);
        let sleeps = run(&["sleep", "10"]);
        let (Some(spins), Some(sleeps)) = (spins, sleeps) else { return };
        assert!(spins.ran_ns > sleeps.ran_ns, "{spins:?} {sleeps:?}");
        assert!(spins.elapsed_ns >= 300_000_000);
    }
}
