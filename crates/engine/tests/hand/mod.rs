//! What every port of a test does: lends slots to be written, and hands over frames to be read.

use netdyno_io::port::{Burst, Slot};
use netdyno_io::time::Instant;

/// Lends `count` slots of `room` bytes: the frames that were written into them.
pub fn lend(now: Instant, count: usize, room: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Vec<Vec<u8>> {
    let mut memory = vec![0; room * count];
    let slot = |index: usize| Slot {
        offset: (index * room) as u32,
        len: room as u32,
        at: now,
    };
    let mut slots: Vec<Slot> = (0..count).map(slot).collect();
    let wrote = fill(&mut Burst::new(&mut memory, &mut slots));
    let frame = |slot: &Slot| memory[slot.offset as usize..][..slot.len as usize].to_vec();
    slots[..wrote].iter().map(frame).collect()
}

/// Hands over frames that all came at one time, in one burst: how many there were.
pub fn hand(at: Instant, frames: &[Vec<u8>], read: &mut dyn FnMut(&mut Burst<'_>)) -> usize {
    let (mut memory, mut offset) = (frames.concat(), 0);
    let slot = |frame: &Vec<u8>| {
        let len = frame.len() as u32;
        offset += len;
        Slot {
            offset: offset - len,
            len,
            at,
        }
    };
    let mut slots: Vec<Slot> = frames.iter().map(slot).collect();
    if !slots.is_empty() {
        read(&mut Burst::new(&mut memory, &mut slots));
    }
    slots.len()
}
