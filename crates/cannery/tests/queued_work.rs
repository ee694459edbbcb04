//! What is forgotten, dropped, panicking or polled while copies are queued.

#![allow(unsafe_code)] // the raw forms are tested, too
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::ffi::c_void;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use cannery::{Code, DeviceBuffer, OnDevice, PinnedBuffer, Pool, Stream, drop_failures};
use common::{context, random};

const COUNT: usize = 300_007;

/// Holds a stream until it is opened.
struct Gate(Arc<AtomicBool>);

unsafe extern "C" fn until_open(gate: *mut c_void) {
    // SAFETY: the count that `close` gave away.
    let gate = unsafe { Arc::from_raw(gate.cast_const().cast::<AtomicBool>()) };
    let begun = Instant::now();
    while !gate.load(Ordering::Acquire) && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_micros(200));
    }
}

impl Gate {
    fn close(stream: &Stream) -> Gate {
        let open = Arc::new(AtomicBool::new(false));
        let given = Arc::into_raw(Arc::clone(&open)).cast_mut().cast();
        stream.context().make_current().unwrap();
        let table = stream.context().library().table();
        // SAFETY: the stream is alive; the function takes the count that is given to it.
        let code = unsafe { (table.aclrtLaunchHostFunc)(stream.as_raw(), Some(until_open), given) };
        assert_eq!(code, 0);
        Gate(open)
    }

    fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn open_soon(&self) -> std::thread::JoinHandle<()> {
        let gate = Arc::clone(&self.0);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            gate.store(true, Ordering::Release);
        })
    }
}

#[test]
fn host_access_waits_and_the_try_form_does_not() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 1);
    let device = DeviceBuffer::from_slice(&context, &numbers).unwrap();
    let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let gate = Gate::close(&stream);
    stream.copy_borrowed(&device, &mut received).unwrap();
    assert_eq!(received.try_host().unwrap_err().code(), Code::InFlight);
    assert_eq!(received.try_host_mut().unwrap_err().code(), Code::InFlight);
    let opener = gate.open_soon();
    assert_eq!(received.host().unwrap(), numbers);
    assert_eq!(received.try_host_mut().unwrap(), numbers);
    opener.join().unwrap();
}

#[test]
fn a_source_may_be_read_but_not_written_meanwhile() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 2);
    let mut sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let gate = Gate::close(&stream);
    stream.copy_borrowed(&sent, &mut device).unwrap();
    assert_eq!(sent.try_host().unwrap(), numbers);
    assert_eq!(sent.try_host_mut().unwrap_err().code(), Code::InFlight);
    let opener = gate.open_soon();
    sent.host_mut().unwrap().fill(0); // waits: the device gets what was sent
    assert_eq!(device.to_vec().unwrap(), numbers);
    opener.join().unwrap();
}

#[test]
fn dropped_guards_and_buffers_wait() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let sent = PinnedBuffer::from_slice(&context, &random(COUNT, 3)).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let gate = Gate::close(&stream);
    let flight = stream.copy(sent, device).unwrap();
    assert!(!flight.is_done().unwrap());
    let opener = gate.open_soon();
    drop(flight);
    assert!(stream.is_done().unwrap(), "the drop waited for the copy");
    opener.join().unwrap();
    assert_eq!(drop_failures::count(), 0, "{:?}", drop_failures::take());
}

#[test]
fn forgotten_guards_leak_and_nothing_is_reused() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 4);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let (address, gate) = (device.as_ptr().as_raw(), Gate::close(&stream));
    std::mem::forget(stream.copy(sent, device).unwrap());
    let others: Vec<_> = (0..32)
        .map(|_| DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap())
        .collect();
    assert!(
        others
            .iter()
            .all(|other| other.as_ptr().as_raw() != address)
    );
    gate.open();
    stream.synchronize().unwrap();
    // SAFETY: the block was leaked with its guard; nobody else has it.
    let found = unsafe { DeviceBuffer::<u32>::from_raw(&context, address, COUNT) };
    assert_eq!(found.to_vec().unwrap(), numbers);
    assert!(
        others
            .iter()
            .all(|other| other.to_vec().unwrap().iter().all(|&number| number == 0))
    );
}

#[test]
fn a_pool_block_is_dropped_without_waiting() {
    let context = context();
    let (home, other) = (
        Stream::new(&context).unwrap(),
        Stream::new(&context).unwrap(),
    );
    let pool = Pool::<OnDevice>::new(&context, 64 << 20).unwrap();
    let numbers = random(COUNT, 5);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let mut block = pool
        .alloc::<u32>(&home, COUNT)
        .unwrap()
        .into_zeroed()
        .unwrap();
    let gate = Gate::close(&other);
    other.copy_borrowed(&sent, &mut block).unwrap();
    other.copy_borrowed(&block, &mut received).unwrap();
    drop(block); // the free is queued behind the other stream
    assert!(!other.is_done().unwrap(), "the drop did not wait");
    // The same memory for somebody else, who cannot spoil the copy above.
    let next = pool.alloc::<u32>(&home, COUNT).unwrap();
    let zeros = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let (_zeros, next) = home.copy(zeros, next).unwrap().without_waiting();
    assert!(!other.is_done().unwrap(), "nothing waited");
    gate.open();
    assert_eq!(received[..], numbers[..]);
    assert!(next.to_vec().unwrap().iter().all(|&number| number == 0));
}

#[test]
fn a_scope_is_joined_when_it_panics() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 6);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let gate = Gate::close(&stream);
    let opener = gate.open_soon();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        stream.scope::<()>(|s| {
            s.copy(&sent, &mut device)?;
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    assert!(stream.is_done().unwrap(), "the scope waited");
    assert_eq!(device.to_vec().unwrap(), numbers);
    opener.join().unwrap();
}

/// An executor of one task: parks until it is woken.
#[derive(Default)]
struct Parked {
    woken: Mutex<bool>,
    wakes: AtomicUsize,
    signal: Condvar,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        *self.woken.lock().unwrap() = true;
        self.signal.notify_one();
    }
}

fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let parked = Arc::new(Parked::default());
    let waker = Waker::from(Arc::clone(&parked));
    let mut task = Task::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return (output, parked.wakes.load(Ordering::Relaxed));
        }
        let woken = parked.woken.lock().unwrap();
        let limit = Duration::from_secs(20);
        let (mut woken, late) = parked
            .signal
            .wait_timeout_while(woken, limit, |woken| !*woken)
            .unwrap();
        assert!(!late.timed_out(), "nobody woke the task");
        *woken = false;
    }
}

#[test]
fn futures_are_woken_by_the_stream() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 7);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let gate = Gate::close(&stream);
    let opener = gate.open_soon();
    let (outcome, wakes) = block_on(async {
        let (_, device) = stream.copy(sent, device)?.await?;
        let received = PinnedBuffer::<u32>::uninit(&context, COUNT)?;
        let (_, received) = stream.copy(device, received)?.await?;
        Ok::<_, cannery::Error>(received)
    });
    assert_eq!(outcome.unwrap()[..], numbers[..]);
    assert!(
        (1..=6).contains(&wakes),
        "woken {wakes} times, not asked again and again"
    );
    opener.join().unwrap();
}

#[test]
fn copies_that_are_refused_give_the_buffers_back() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let sent = PinnedBuffer::from_slice(&context, &random(COUNT, 8)).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT - 1).unwrap();
    let (error, (sent, device)) = stream.copy(sent, device).unwrap_err().into_parts();
    assert_eq!(error.code(), Code::InvalidParam);
    assert_eq!(error.api(), "aclrtMemcpyAsync");
    for number in [COUNT, COUNT - 1] {
        assert!(error.message().contains(&number.to_string()), "{error}");
    }
    assert!(error.location().file().ends_with("queued_work.rs"));
    assert_eq!((sent.len(), device.len()), (COUNT, COUNT - 1));
}
