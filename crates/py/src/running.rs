//! A session and the thread its trial runs in.

use netdyno_session::spec::{Event, SessionSpec};
use netdyno_session::{Begin, Clock, Outcome, Progress, Refusal, Session, SessionError, TrialSpec};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest a wait can last: about 30 years, what a clock can add.
const LONGEST_WAIT_S: f64 = 1e9;

/// Set when the trial's thread is done.
#[derive(Debug, Default)]
pub struct Done {
    done: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    /// Waits until it is set or `timeout_s` seconds are over. Whether it is set.
    pub fn wait(&self, timeout_s: f64) -> bool {
        let timeout = Duration::from_secs_f64(if timeout_s.is_nan() {
            0.0
        } else {
            timeout_s.clamp(0.0, LONGEST_WAIT_S)
        });
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(done, timeout, |done| !*done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn set(&self) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

type Thread = JoinHandle<(Option<Session>, Result<Outcome, SessionError>)>;

/// A session, at rest or with a trial running in its thread.
pub struct Running {
    clock: Option<Clock>,
    /// At rest it is here, else in the thread.
    session: Option<Session>,
    thread: Option<Thread>,
    progress: Option<Arc<Progress>>,
    done: Arc<Done>,
    outcome: Option<Result<Outcome, SessionError>>,
}

impl Running {
    /// Opens a session.
    pub fn open(spec: SessionSpec) -> Result<Self, SessionError> {
        let session = Session::open(spec)?;
        Ok(Self {
            clock: session.clock(),
            session: Some(session),
            thread: None,
            progress: None,
            done: Arc::new(Done::default()),
            outcome: None,
        })
    }

    /// Starts a trial in a thread.
    pub fn start(&mut self, trial: TrialSpec, events: Vec<Event>) -> Result<(), SessionError> {
        if self.thread.is_some() && !self.done.wait(0.0) {
            return Err(error(Refusal::Running {}, "wait for it or cancel it first"));
        }
        self.join();
        let Some(mut session) = self.session.take() else {
            return Err(error(Refusal::Closed {}, "open another one"));
        };
        let prepared = session.prepare(trial);
        let progress = match prepared.and_then(|progress| session.expect(events).map(|()| progress)) {
            Ok(progress) => progress,
            Err(refused) => {
                self.session = Some(session);
                return Err(refused);
            }
        };
        let done = Arc::new(Done::default());
        let signal = Arc::clone(&done);
        let run = move || {
            // A panic must neither hang the caller nor take a half-run session along.
            let ran = catch_unwind(AssertUnwindSafe(move || {
                let outcome = session.run();
                (session, outcome)
            }));
            let answer = match ran {
                Ok((session, outcome)) => (Some(session), outcome),
                Err(panic) => (None, Err(SessionError::bug("the trial", &*panic))),
            };
            signal.set();
            answer
        };
        let spawned = std::thread::Builder::new().name("netdyno-trial".to_owned()).spawn(run);
        self.thread = Some(spawned.map_err(|why| {
            let (what, why) = ("the trial".to_owned(), why.to_string());
            error(Refusal::NoThread { what, why }, "raise the limit on threads")
        })?);
        (self.progress, self.done, self.outcome) = (Some(progress), done, None);
        Ok(())
    }

    /// Takes the session back from a thread that is done, or waits for it.
    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let (session, outcome) = match thread.join() {
                Ok(answer) => answer,
                Err(panic) => (None, Err(SessionError::bug("the trial's thread", &*panic))),
            };
            self.session = session;
            self.outcome = Some(outcome);
        }
    }

    /// Returns the opened ports, as JSON.
    pub fn ports(&self) -> Result<String, SessionError> {
        let Some(session) = &self.session else {
            let refused = if self.thread.is_some() {
                Refusal::Running {}
            } else {
                Refusal::Closed {}
            };
            return Err(error(refused, "ask before the first trial"));
        };
        json(&session.ports())
    }

    /// Where the trial stands, as JSON.
    pub fn snapshot(&self) -> Result<String, SessionError> {
        let Some(progress) = &self.progress else {
            return Err(error(Refusal::NoTrial {}, "call start first"));
        };
        json(&progress.snapshot())
    }

    /// What the session's clock reads, ps; an error in virtual time.
    pub fn clock_ps(&self) -> Result<u64, SessionError> {
        let virtual_time = || Refusal::SessionSpec {
            why: "in virtual time there is no clock to read".to_owned(),
        };
        Ok(self.clock.ok_or_else(virtual_time)?.now().ps)
    }

    /// Tells a trial that waits when its traffic begins.
    pub fn begin(&self, begin: Begin) -> Result<(), SessionError> {
        let Some(progress) = &self.progress else {
            return Err(error(Refusal::NoTrial {}, "call start first"));
        };
        progress.begin(begin);
        Ok(())
    }

    /// To wait for the trial with; set already if none runs.
    pub fn done(&self) -> Arc<Done> {
        if self.thread.is_none() {
            self.done.set();
        }
        Arc::clone(&self.done)
    }

    /// Asks the trial to end in order.
    pub fn cancel(&self) {
        if let Some(progress) = &self.progress {
            progress.cancel();
        }
    }

    /// Returns the result of the last trial, as JSON.
    pub fn result(&mut self) -> Result<String, SessionError> {
        self.join();
        match &self.outcome {
            Some(Ok(outcome)) => json(outcome),
            Some(Err(failed)) => Err(failed.clone()),
            None => Err(error(Refusal::NoTrial {}, "call start first")),
        }
    }

    /// Stops what runs and closes the ports.
    pub fn close(&mut self) {
        self.cancel();
        self.join();
        self.session = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.close();
    }
}

fn error(refusal: Refusal, hint: &str) -> SessionError {
    SessionError::from(refusal).hint(hint)
}

/// Renders `value` as JSON text for Python.
pub fn json(value: &impl serde::Serialize) -> Result<String, SessionError> {
    serde_json::to_string(value).map_err(|why| {
        let (what, why) = ("the result cannot be written".to_owned(), why.to_string());
        error(Refusal::Bug { what, why }, "please report it")
    })
}
