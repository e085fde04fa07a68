//! The door between Rust and Python: conversion, the trial's thread, and the exception map.
//!
//! No Python is called from Rust: Python starts a trial, looks at it and waits for it without holding the
//! interpreter's lock.

mod running;

use netdyno_session::{Field, Refusal, SessionError, codes, machine};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use running::Running;
use std::sync::{Mutex, PoisonError};

pyo3::create_exception!(
    netdyno._engine,
    EngineError,
    PyException,
    "The engine could not do what it was asked to: `code` and `fields` say why. `hint` says what to do about it, or is None."
);

fn raise(py: Python<'_>, error: &SessionError) -> PyErr {
    let raised = EngineError::new_err(error.reason.text.clone());
    let told = || {
        let (value, fields) = (raised.value(py), PyDict::new(py));
        for (name, field) in &error.reason.fields {
            match field {
                Field::Flag(flag) => fields.set_item(name, flag)?,
                Field::Number(number) => fields.set_item(name, number)?,
                Field::Text(text) => fields.set_item(name, text)?,
            }
        }
        value.setattr("code", &*error.reason.code)?;
        value.setattr("fields", fields)?;
        value.setattr("hint", error.hint.as_deref())
    };
    // Setting an attribute on a fresh exception does not fail; if it did, that error would be raised instead.
    match told() {
        Ok(()) => raised,
        Err(other) => other,
    }
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> Result<T, SessionError> {
    let unreadable = |why: serde_json::Error| Refusal::Unreadable {
        what: what.to_owned(),
        why: why.to_string(),
    };
    serde_json::from_str(json).map_err(|why| unreadable(why).into())
}

/// A lab with its ports open. Runs one trial at a time, in a thread of its own.
#[pyclass(module = "netdyno._engine")]
struct Session {
    running: Mutex<Running>,
}

impl Session {
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Running) -> Result<T, SessionError> + Send) -> PyResult<T> {
        let done = py.detach(|| work(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner)));
        done.map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl Session {
    /// Opens the ports and builds the emulated devices of a session.
    #[new]
    fn new(py: Python<'_>, session_json: &str) -> PyResult<Self> {
        let opened = py.detach(|| parse("session", session_json).and_then(Running::open));
        match opened {
            Ok(running) => Ok(Self {
                running: Mutex::new(running),
            }),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// What the ports turned out to be, as JSON. Not while a trial runs.
    fn ports(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |running| running.ports())
    }

    /// Starts a trial, in which these events happen to emulated devices, and returns at once.
    #[pyo3(signature = (trial_json, events_json = None))]
    fn start(&self, py: Python<'_>, trial_json: &str, events_json: Option<&str>) -> PyResult<()> {
        self.with(py, |running| {
            let events = events_json.map_or(Ok(Vec::new()), |json| parse("list of events", json))?;
            running.start(parse("trial", trial_json)?, events)
        })
    }

    /// Where the trial stands, as JSON.
    fn snapshot(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |running| running.snapshot())
    }

    /// What the session's clock reads, picoseconds. In real time only.
    fn clock_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |running| running.clock_ps())
    }

    /// Tells a trial that waits when its traffic begins, a Begin.
    fn begin(&self, py: Python<'_>, begin_json: &str) -> PyResult<()> {
        self.with(py, |running| running.begin(parse("begin of a trial", begin_json)?))
    }

    /// Waits until the trial is done or `timeout_s` seconds are over. Whether it is done.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let done = self.with(py, |running| Ok(running.done()))?;
        Ok(py.detach(|| done.wait(timeout_s)))
    }

    /// Ends the trial in order: stop, drain, read.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |running| {
            running.cancel();
            Ok(())
        })
    }

    /// What the trial found, as JSON. Waits for it.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        // Not under the lock, so that another thread can cancel meanwhile.
        let done = self.with(py, |running| Ok(running.done()))?;
        py.detach(|| done.wait(f64::INFINITY));
        self.with(py, Running::result)
    }

    /// Stops what runs and closes the ports. Safe to call twice.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |running| {
            running.close();
            Ok(())
        })
    }
}

/// An emulated device in real time on ports that lead out of this process.
#[pyclass(module = "netdyno._engine")]
struct Server {
    server: Mutex<netdyno_session::Server>,
}

impl Server {
    /// What `look` finds, as JSON.
    fn with(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&mut netdyno_session::Server) -> Result<netdyno_session::Served, SessionError> + Send,
    ) -> PyResult<String> {
        let found = py.detach(|| running::json(&look(&mut self.server.lock().unwrap_or_else(PoisonError::into_inner))?));
        found.map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl Server {
    /// Opens the ports of a ServeSpec and begins.
    #[new]
    fn new(py: Python<'_>, serve_json: &str) -> PyResult<Self> {
        let started = py.detach(|| parse("device to serve", serve_json).and_then(netdyno_session::Server::start));
        match started {
            Ok(server) => Ok(Self {
                server: Mutex::new(server),
            }),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// How the device fares, as JSON.
    fn served(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |server| Ok(server.served()))
    }

    /// Ends it in order and closes its ports; how it fared, as JSON. Safe to call twice.
    fn stop(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, netdyno_session::Server::stop)
    }
}

/// TAP interfaces on the VLANs of an interface, whose control frames a thread carries to and fro.
#[pyclass(module = "netdyno._engine")]
struct Taps {
    taps: Mutex<netdyno_session::Taps>,
}

#[pymethods]
impl Taps {
    /// Makes the TAPs of a TapsSpec and begins.
    #[new]
    fn new(py: Python<'_>, taps_json: &str) -> PyResult<Self> {
        let started = py.detach(|| parse::<netdyno_session::TapsSpec>("TAP interfaces", taps_json)?.start());
        match started {
            Ok(taps) => Ok(Self { taps: Mutex::new(taps) }),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// What was carried so far, as JSON.
    fn carried(&self, py: Python<'_>) -> PyResult<String> {
        let carried = py.detach(|| self.taps.lock().unwrap_or_else(PoisonError::into_inner).carried());
        running::json(&carried).map_err(|error| raise(py, &error))
    }

    /// Ends: the TAPs are gone. Safe to call twice.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.taps.lock().unwrap_or_else(PoisonError::into_inner).close());
    }
}

/// What a perfect tester finds when it runs a trial on an emulated device, as JSON.
#[pyfunction]
fn truth(py: Python<'_>, device_json: &str, session_json: &str, trial_json: &str) -> PyResult<String> {
    let found = py.detach(|| {
        let (device, session, trial) = (
            parse("device", device_json)?,
            parse("session", session_json)?,
            parse("trial", trial_json)?,
        );
        running::json(&netdyno_session::truth(&device, &session, &trial)?)
    });
    found.map_err(|error| raise(py, &error))
}

/// Frames `first` to `first + count - 1` of a stream of a trial as they would be sent, as JSON.
#[pyfunction]
fn frames(py: Python<'_>, trial_json: &str, stream: usize, first: u64, count: u64) -> PyResult<String> {
    let found = py.detach(|| running::json(&netdyno_session::frames(&parse("trial", trial_json)?, stream, first, count)?));
    found.map_err(|error| raise(py, &error))
}

/// What a core is like to a loop that only reads the clock for `seconds`, as JSON: pauses, and facts of the clock.
#[pyfunction]
fn watch(py: Python<'_>, core: usize, seconds: f64) -> PyResult<String> {
    let seen = py.detach(|| running::json(&machine::watch(core, seconds)?));
    seen.map_err(|error| raise(py, &error))
}

/// What lies between two cores, by a cache line that goes to and fro, as JSON.
#[pyfunction]
fn bounce(py: Python<'_>, first: usize, second: usize, rounds: u32) -> PyResult<String> {
    let seen = py.detach(|| running::json(&machine::bounce([first, second], rounds)?));
    seen.map_err(|error| raise(py, &error))
}

/// The codes of reasons, as JSON: what each means, and the names of its fields.
#[pyfunction]
fn reasons(py: Python<'_>) -> PyResult<String> {
    running::json(&codes().collect::<Vec<_>>()).map_err(|error| raise(py, &error))
}

/// The engine's version.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The processor it was built for: the highest level of the x86-64 psABI all of whose instructions it may use, or the
/// architecture.
#[pyfunction]
fn level() -> &'static str {
    if !cfg!(target_arch = "x86_64") {
        std::env::consts::ARCH
    } else if cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512vl"
    )) {
        "x86-64-v4"
    } else if cfg!(all(target_feature = "avx2", target_feature = "bmi2", target_feature = "fma")) {
        "x86-64-v3"
    } else if cfg!(all(target_feature = "sse4.2", target_feature = "popcnt")) {
        "x86-64-v2"
    } else {
        "x86-64"
    }
}

/// The native part of netdyno.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let error = module.py().get_type::<EngineError>();
    for name in ["code", "fields", "hint"] {
        error.setattr(name, module.py().None())?;
    }
    module.add("EngineError", error)?;
    module.add_class::<Session>()?;
    module.add_class::<Server>()?;
    module.add_class::<Taps>()?;
    module.add_function(wrap_pyfunction!(truth, module)?)?;
    module.add_function(wrap_pyfunction!(frames, module)?)?;
    module.add_function(wrap_pyfunction!(watch, module)?)?;
    module.add_function(wrap_pyfunction!(bounce, module)?)?;
    module.add_function(wrap_pyfunction!(reasons, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(level, module)?)
}
