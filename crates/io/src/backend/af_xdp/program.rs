//! The program that the kernel runs on every frame that comes in: ours go to our sockets, all others their usual way.
//!
//! Written as BPF instructions (Linux' Documentation/bpf/standardization/instruction-set.rst), so no compiler and no
//! library is needed. No loop, and every access behind a comparison with the frame's end: what Linux 5.10 accepts.

use crate::claim::{Claim, TAGS, TPIDS};
use std::collections::BTreeMap;

/// `struct bpf_insn` of linux/bpf.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

const TAG_BYTES: i32 = 4;
/// Two addresses.
const ADDRESSES_BYTES: i32 = 12;
const TYPE_BYTES: i16 = 2;
/// Jumps span at most 2^15 instructions.
const MOST_INSTRUCTIONS: usize = 30_000;

// Operation codes: a class, a source, an operation or a size.
const LOAD_IMMEDIATE_64: u8 = 0x18;
const LOAD_WORD: u8 = 0x61;
const LOAD_HALF: u8 = 0x69;
const LOAD_BYTE: u8 = 0x71;
const ADD_IMMEDIATE: u8 = 0x07;
const ADD: u8 = 0x0f;
const MODULO_IMMEDIATE: u8 = 0x97;
const MOVE_IMMEDIATE: u8 = 0xb7;
const MOVE: u8 = 0xbf;
const AND_IMMEDIATE_32: u8 = 0x54;
const JUMP: u8 = 0x05;
const JUMP_IF_EQUAL: u8 = 0x15;
const JUMP_IF_NOT_EQUAL_32: u8 = 0x56;
const JUMP_IF_GREATER: u8 = 0x2d;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The source of a 64-bit immediate that is the descriptor of a map.
const IS_MAP: u8 = 1;
/// `bpf_redirect_map` of linux/bpf.h.
const REDIRECT_MAP: i32 = 51;
const XDP_PASS: i32 = 2;

// Registers. 0 is the result, 1 to 5 are the arguments of a call.
const RESULT: u8 = 0;
const SCRATCH: u8 = 1;
const SUM: u8 = 2;
const END: u8 = 3;
const TYPE: u8 = 5;
const CONTEXT: u8 = 6;
/// Where the type is; layer 3 is behind it.
const HERE: u8 = 7;

// `struct xdp_md` of linux/bpf.h.
const CONTEXT_DATA: i16 = 0;
const CONTEXT_DATA_END: i16 = 4;
const CONTEXT_QUEUE: i16 = 16;

/// The program that hands what is claimed to the sockets in `map`, by the queue it came in by. `None` if it would be too
/// long.
pub(super) fn assemble(map: i32, claims: &[Claim]) -> Option<Vec<Instruction>> {
    let mut code = Assembler::default();
    let (pass, ours) = (code.label(), code.label());
    code.put(MOVE, CONTEXT, SCRATCH, 0, 0);
    code.put(LOAD_WORD, HERE, CONTEXT, CONTEXT_DATA, 0);
    code.put(LOAD_WORD, END, CONTEXT, CONTEXT_DATA_END, 0);
    code.put(ADD_IMMEDIATE, HERE, 0, 0, ADDRESSES_BYTES);
    code.reach(TYPE_BYTES, pass);
    code.put(LOAD_HALF, TYPE, HERE, 0, 0);
    let walked = code.label();
    for _ in 0..TAGS {
        let tag = code.label();
        for tpid in TPIDS {
            code.jump(JUMP_IF_EQUAL, TYPE, 0, network_order(tpid), tag);
        }
        code.jump(JUMP, 0, 0, 0, walked);
        code.here(tag);
        code.put(ADD_IMMEDIATE, HERE, 0, 0, TAG_BYTES);
        code.reach(TYPE_BYTES, pass);
        code.put(LOAD_HALF, TYPE, HERE, 0, 0);
    }
    code.here(walked);
    // Claims of one type stand together: it is compared once, and the verifier then forgets about it.
    let mut groups: BTreeMap<Option<u16>, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        groups.entry(claim.ethertype).or_default().push(claim);
    }
    for (ethertype, claims) in groups {
        let next_group = code.label();
        if let Some(ethertype) = ethertype {
            code.jump(JUMP_IF_NOT_EQUAL_32, TYPE, 0, network_order(ethertype), next_group);
        }
        // The kernel takes no instruction that nothing leads to: what always holds is all there is to say.
        if claims.iter().any(|claim| claim.reach() == 0) {
            code.jump(JUMP, 0, 0, 0, ours);
            if ethertype.is_none() {
                break;
            }
        } else {
            // Nearly every frame is known by a sum, so those are first.
            let (mut sums, mut others): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.sum.is_some());
            code.claims(&mut sums, ours);
            code.claims(&mut others, ours);
            if ethertype.is_some() {
                code.jump(JUMP, 0, 0, 0, pass);
            }
        }
        code.here(next_group);
    }
    code.here(pass);
    code.put(MOVE_IMMEDIATE, RESULT, 0, 0, XDP_PASS);
    code.put(EXIT, 0, 0, 0, 0);
    if !claims.is_empty() {
        // A queue without a socket passes its frames on: the last argument.
        code.here(ours);
        code.put(LOAD_IMMEDIATE_64, 1, IS_MAP, 0, map);
        code.put(0, 0, 0, 0, 0);
        code.put(LOAD_WORD, 2, CONTEXT, CONTEXT_QUEUE, 0);
        code.put(MOVE_IMMEDIATE, 3, 0, 0, XDP_PASS);
        code.put(CALL, 0, 0, 0, REDIRECT_MAP);
        code.put(EXIT, 0, 0, 0, 0);
    }
    code.finish()
}

/// A number as a load of two bytes from the wire finds it.
fn network_order(number: u16) -> i32 {
    i32::from(u16::from_ne_bytes(number.to_be_bytes()))
}

/// A place in the program, to jump to.
#[derive(Clone, Copy)]
struct Label(usize);

#[derive(Default)]
struct Assembler {
    code: Vec<Instruction>,
    labels: Vec<Option<usize>>,
    /// Instructions whose offset is that of a label.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    fn put(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) {
        // Two bit fields, which lie as the machine's byte order has it.
        let registers = if cfg!(target_endian = "little") {
            from << 4 | to
        } else {
            to << 4 | from
        };
        self.code.push(Instruction {
            code,
            registers,
            offset,
            immediate,
        });
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    fn jump(&mut self, code: u8, left: u8, right: u8, immediate: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.put(code, left, right, 0, immediate);
    }

    /// Jumps to `short` unless the frame has `bytes` from the type on.
    fn reach(&mut self, bytes: i16, short: Label) {
        self.put(MOVE, SCRATCH, HERE, 0, 0);
        self.put(ADD_IMMEDIATE, SCRATCH, 0, 0, bytes.into());
        self.jump(JUMP_IF_GREATER, SCRATCH, END, 0, short);
    }

    /// Jumps to `yes` if one of `claims` holds for a frame, whose type has been compared.
    ///
    /// In order of their reach, so that a frame too short for one is too short for all that follow: the verifier then goes
    /// each way once, and not once more for each length that a frame may have been found to have.
    fn claims(&mut self, claims: &mut [&Claim], yes: Label) {
        claims.sort_by_key(|claim| claim.reach());
        let short = self.label();
        let mut reached = 0;
        for claim in claims {
            if claim.reach() > reached {
                reached = claim.reach();
                self.reach(reached as i16 + TYPE_BYTES, short);
            }
            let next = self.label();
            self.claim(claim, next);
            self.jump(JUMP, 0, 0, 0, yes);
            self.here(next);
        }
        self.here(short);
    }

    /// Jumps to `no` if `claim` does not hold for a frame that is long enough.
    fn claim(&mut self, claim: &Claim, no: Label) {
        let mut bytes = claim.bytes.as_slice();
        while let Some(first) = bytes.first() {
            // As many bytes at once as stand side by side; never one that the claim does not reach.
            let beside = |count: usize| bytes.get(count - 1).is_some_and(|last| last.at == first.at + count as u16 - 1);
            let (load, count) = match () {
                () if beside(4) => (LOAD_WORD, 4),
                () if beside(2) => (LOAD_HALF, 2),
                () => (LOAD_BYTE, 1),
            };
            let (mut mask, mut value) = ([0; 4], [0; 4]);
            for (place, byte) in bytes[..count].iter().enumerate() {
                (mask[place], value[place]) = (byte.mask, byte.value);
            }
            let number = |bytes: [u8; 4]| match count {
                4 => i32::from_ne_bytes(bytes),
                2 => i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])),
                _ => i32::from(bytes[0]),
            };
            self.put(load, SCRATCH, HERE, first.at as i16 + TYPE_BYTES, 0);
            self.put(AND_IMMEDIATE_32, SCRATCH, 0, 0, number(mask));
            self.jump(JUMP_IF_NOT_EQUAL_32, SCRATCH, 0, number(value), no);
            bytes = &bytes[count..];
        }
        if let Some(sum) = claim.sum {
            // The sum of longer words is that of the 16-bit words in them, modulo 65535, and what the byte order does to
            // the words it does to their sum (RFC 1071 section 2).
            self.put(MOVE_IMMEDIATE, SUM, 0, 0, 0);
            let (mut at, mut left) = (sum.at as i16 + TYPE_BYTES, sum.words);
            while left > 0 {
                let (load, words) = if left > 1 { (LOAD_WORD, 2) } else { (LOAD_HALF, 1) };
                self.put(load, SCRATCH, HERE, at, 0);
                self.put(ADD, SUM, SCRATCH, 0, 0);
                at += 2 * words as i16;
                left -= words;
            }
            self.put(MODULO_IMMEDIATE, SUM, 0, 0, 0xffff);
            self.jump(JUMP_IF_NOT_EQUAL_32, SUM, 0, network_order(sum.sum) % 0xffff, no);
        }
    }

    fn finish(mut self) -> Option<Vec<Instruction>> {
        if self.code.len() > MOST_INSTRUCTIONS {
            return None;
        }
        for (at, label) in self.jumps {
            let to = self.labels[label.0].expect("every label has its place");
            self.code[at].offset = (to - at - 1) as i16;
        }
        Some(self.code)
    }
}
