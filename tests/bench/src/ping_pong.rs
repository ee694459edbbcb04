//! Another thread answers: what any hand-over between threads costs on this machine.
//!
//! Both threads look for a while whether the other has spoken, then sleep on a futex, as a patient
//! waiter does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

/// Looks before a thread sleeps.
const LOOKS: u32 = 2000;
const END: u32 = u32::MAX;
const WAKE: i32 = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
const WAIT: i32 = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;

/// A word that is waited for.
#[derive(Default)]
struct Bell {
    word: AtomicU32,
    asleep: AtomicU32,
    naps: AtomicU32,
}

impl Bell {
    fn ring(&self, value: u32) {
        self.word.store(value, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) != 0 {
            let word = self.word.as_ptr();
            // SAFETY: the word lives as long as the call.
            unsafe { libc::syscall(libc::SYS_futex, word, WAKE, 1) };
        }
    }

    /// The first value other than `old`.
    fn wait(&self, old: u32) -> u32 {
        for _ in 0..LOOKS {
            let value = self.word.load(Ordering::Acquire);
            if value != old {
                return value;
            }
            std::hint::spin_loop();
        }
        self.naps.fetch_add(1, Ordering::Relaxed);
        self.asleep.store(1, Ordering::SeqCst);
        let value = loop {
            let value = self.word.load(Ordering::SeqCst);
            if value != old {
                break value;
            }
            let (word, none) = (self.word.as_ptr(), std::ptr::null::<libc::timespec>());
            // SAFETY: the word lives as long as the call; no time limit.
            unsafe { libc::syscall(libc::SYS_futex, word, WAIT, old, none) };
        };
        self.asleep.store(0, Ordering::SeqCst);
        value
    }
}

/// A thread that answers every call.
pub(crate) struct PingPong {
    bells: Arc<(Bell, Bell)>,
    turn: u32,
    thread: Option<JoinHandle<()>>,
}

impl PingPong {
    pub(crate) fn new() -> PingPong {
        let bells = Arc::new((Bell::default(), Bell::default()));
        let shared = Arc::clone(&bells);
        let thread = thread::spawn(move || {
            let mut turn = 0;
            loop {
                turn = shared.0.wait(turn);
                if turn == END {
                    return;
                }
                shared.1.ring(turn);
            }
        });
        PingPong {
            bells,
            turn: 0,
            thread: Some(thread),
        }
    }

    /// Whether a thread has slept since the last time this was asked.
    pub(crate) fn slept(&self) -> bool {
        let naps = |bell: &Bell| bell.naps.swap(0, Ordering::Relaxed);
        naps(&self.bells.0) + naps(&self.bells.1) > 0
    }

    /// Calls and waits for the answer.
    pub(crate) fn play(&mut self) {
        let last = self.turn;
        self.turn = (last + 1) % END;
        self.bells.0.ring(self.turn);
        self.bells.1.wait(last);
    }
}

impl Drop for PingPong {
    fn drop(&mut self) {
        self.bells.0.ring(END);
        if let Some(thread) = self.thread.take() {
            // It only answers; a panic of it has been printed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_answered() {
        let mut table = PingPong::new();
        for round in 0..300 {
            table.play();
            if round % 100 == 0 {
                // Long enough for the other to fall asleep.
                thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        assert_eq!(table.turn, 300);
        assert!(table.slept() && !table.slept());
        assert_eq!(table.bells.1.word.load(Ordering::Acquire), 300);
    }
}
