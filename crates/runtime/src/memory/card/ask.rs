//! Questions to the other processes, and the thread that answers theirs.
//!
//! A question is a number: the asker raises the bell of a slot and waits until the answer of the
//! slot is as high. Between them the other process has given back all slack, so its claims are what
//! it has charged.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use super::machine::{Machine, Slot};
use super::member::Member;
use crate::os::futex;

/// How long processes that run are waited for, all together: far more than an answer takes, so that
/// the numbers stay exact on a machine whose cores are taken.
const LIMIT: Duration = Duration::from_secs(1);
/// The same for one that did not answer the last time.
const LIMIT_OF_THE_DEAF: Duration = Duration::from_millis(2);
/// How often it is looked whether the other one is still there, and not stopped.
const ROUND: Duration = Duration::from_millis(10);

/// How often the listening thread looks whether the program is still there.
const WATCH: Duration = Duration::from_secs(1);

/// Who the listening thread works for.
static MEMBER: AtomicPtr<Member> = AtomicPtr::new(std::ptr::null_mut());

/// Asks every process in the machine but the one in the slot `but`. False: there is no other.
///
/// A process that is stopped is not waited for: its claims count as they are.
pub(super) fn ask(machine: &Machine, but: Option<usize>) -> bool {
    let mut asked: Vec<(Slot<'_>, u64, u64)> = Vec::new();
    let mut any = false;
    for (at, slot) in machine.slots() {
        if Some(at) == but || slot.owner().load(Ordering::SeqCst) == 0 {
            continue;
        }
        // One that turns out to be gone has left its bytes to us.
        any = true;
        if let Some((owner, seen)) = slot.inhabitant() {
            let question = slot.bell().fetch_add(1, Ordering::SeqCst) + 1;
            futex::wake_all_shared(slot.bell());
            if !seen.stopped {
                asked.push((slot, owner, question));
            }
        }
    }
    let begin = Instant::now();
    for (slot, owner, question) in asked {
        wait(slot, owner, question, begin);
    }
    any
}

fn wait(slot: Slot<'_>, owner: u64, question: u64, begin: Instant) {
    let limit = if slot.deaf().load(Ordering::Relaxed) == 0 {
        LIMIT
    } else {
        LIMIT_OF_THE_DEAF
    };
    loop {
        let answer = slot.answer().load(Ordering::SeqCst);
        if answer >= question {
            return;
        }
        let passed = begin.elapsed();
        if passed >= limit {
            slot.deaf().store(1, Ordering::Relaxed);
            return;
        }
        futex::wait_shared(slot.answer(), answer, Some(ROUND.min(limit - passed)));
        if slot.answer().load(Ordering::SeqCst) == answer {
            match slot.inhabitant() {
                Some((now, seen)) if now == owner && !seen.stopped => {}
                _ => return,
            }
        }
    }
}

/// Starts the thread that answers.
pub(super) fn listen(member: &'static Member) {
    let place = std::ptr::from_ref(member).cast_mut();
    MEMBER.store(place, Ordering::Release);
    if !crate::os::thread::spawn_quiet("cannery-card", 128 << 10, answer_all) {
        crate::log::warn(format_args!(
            "no thread to be had: other processes on the card may see more of its memory in use than \
             is"
        ));
    }
}

fn answer_all() {
    let Some(member) = crate::os::published(&MEMBER) else {
        return;
    };
    let slot = member.machine.slot(member.slot);
    let mut answered = 0;
    while slot.owner().load(Ordering::SeqCst) == member.owner {
        let question = slot.bell().load(Ordering::SeqCst);
        if question == answered {
            futex::wait_shared(slot.bell(), question, Some(WATCH));
            // A program whose main thread left with pthread_exit ends with its last thread, which
            // must not be this one.
            let idle = slot.bell().load(Ordering::SeqCst) == question;
            if idle && crate::os::thread::program_is_over() {
                return;
            }
            continue;
        }
        if let Some(runtime) = crate::process::running() {
            for device in &runtime.devices {
                if let Some(store) = device.store() {
                    store.give_back_slack();
                }
            }
        }
        answered = question;
        slot.answer().store(question, Ordering::SeqCst);
        slot.deaf().store(0, Ordering::Relaxed);
        futex::wake_all_shared(slot.answer());
    }
}
