//! Which of the engines in a wheel this processor can run.
//!
//! Built for any x86-64, as the standard library is, so that it can say so on a processor that runs none of them.

#![forbid(unsafe_code)]

use pyo3::prelude::*;

/// The highest level of the x86-64 psABI (1 to 4) that the processor has and the kernel lets programs use, by CPUID and XGETBV.
#[cfg(target_arch = "x86_64")]
#[pyfunction]
fn highest() -> u8 {
    macro_rules! has {
        ($($feature:tt),+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
    }
    if !has!("cmpxchg16b", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2") {
        return 1;
    }
    if !has!("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe") {
        return 2;
    }
    if !has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl") {
        return 3;
    }
    4
}

/// Other processors have no levels.
#[cfg(not(target_arch = "x86_64"))]
#[pyfunction]
fn highest() -> u8 {
    0
}

/// What the wheel asks before it loads an engine.
#[pymodule]
fn _level(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(highest, module)?)
}
