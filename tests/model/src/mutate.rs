//! A small deterministic fuzzer for call sequences.
//!
//! A tape of bytes decides every choice of a walk. Tapes that bring an answer not seen before (a
//! function with a code, that often in one tape) are kept and changed again. Every tape is a whole
//! walk with model and comparison, on one thread, ending with nothing left behind.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::source::Source;
use crate::walk::World;

/// Longest tape in bytes.
const LONGEST: usize = 6_000;

/// Plays tapes until `steps` steps are done. Returns the steps and what was seen.
pub(crate) fn play(config: &Config, seed: u64, steps: u64, trace: bool) -> (u64, usize) {
    let mut source = Source::seeded(seed);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut done = 0;
    while done < steps {
        let tape = next_tape(&mut source, &kept);
        let mut world = World::new(config.clone(), Source::tape(tape.clone()), 1, trace);
        while !world.source.is_over() {
            world.step(0);
        }
        world.finish(0);
        done += world.steps;
        let mut new = false;
        for ((function, code), times) in &world.seen {
            new |= seen.insert((*function, *code, times.ilog2()));
        }
        if new {
            kept.push(tape);
        }
    }
    (done, seen.len())
}

fn next_tape(source: &mut Source, kept: &[Vec<u8>]) -> Vec<u8> {
    if kept.is_empty() || source.once_in(10) {
        let len = source.size(LONGEST as u64);
        return (0..len).map(|_| source.below(256) as u8).collect();
    }
    let mut tape = kept[source.below(kept.len() as u64) as usize].clone();
    for _ in 0..1 + source.below(6) {
        let at = source.below(tape.len() as u64) as usize;
        let len = (source.size(64) as usize).min(tape.len() - at);
        match source.below(6) {
            0 => tape[at] ^= 1 << source.below(8),
            1 => tape[at] = source.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => {
                for byte in &mut tape[at..at + len] {
                    *byte = source.below(256) as u8;
                }
            }
            3 => {
                let part = tape[at..at + len].to_vec();
                let to = source.below(tape.len() as u64) as usize;
                tape.splice(to..to, part);
            }
            4 if tape.len() > len + 1 => {
                tape.drain(at..at + len);
            }
            _ => {
                let other = &kept[source.below(kept.len() as u64) as usize];
                let from = source.below(other.len() as u64) as usize;
                tape.truncate(at + 1);
                tape.extend_from_slice(&other[from..]);
            }
        }
    }
    tape.truncate(LONGEST);
    tape
}
