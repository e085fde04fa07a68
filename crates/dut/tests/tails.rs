//! What is known of a frame without looking at it saves work, and changes nothing.

use crate::common::{HEAD, Rig};
use crate::invariants::{devices, frames, timed};
use proptest::prelude::*;

proptest! {
    /// Beside the same frames written whole: devices of any kind, faults that flip bits and double frames, routers and LAGs. And
    /// whatever comes out is what it is known to be ([`Rig::run`]).
    #[test]
    fn frames_whose_tails_are_known_are_what_they_are_written_whole(
        spec in devices(true),
        frames in frames(),
        quantum in prop_oneof![Just(1_000_000u64), Just(30_000_000)],
    ) {
        let mut frames = timed(&frames, &spec);
        for frame in &mut frames {
            let tail = frame.bytes.iter_mut().skip(HEAD);
            tail.zip((0..=255).cycle()).for_each(|(byte, number)| *byte = number);
        }
        let until = frames.iter().map(|frame| frame.at).max().unwrap_or(0) + 100_000_000_000;
        let run = |heads| {
            let mut rig = Rig::new(spec.clone());
            rig.heads = heads;
            rig.run(&frames, quantum, until)
        };
        prop_assert_eq!(run(true), run(false));
    }
}
