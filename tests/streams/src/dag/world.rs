//! A world: its objects, how tasks are submitted, how it ends.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use cannery_abi::*;
use rand::Rng;
use rand::rngs::SmallRng;

use super::Options;
use super::block::{Block, Place};
use super::clock::{Clock, Task};
use super::functions::{self, Call, Counter};
use super::marks::{Event, Notify, Stall};
use crate::api::*;
use crate::{make, progress, trouble};

/// A stream of the world.
pub(crate) struct Stream {
    /// NULL for the default stream.
    pub(crate) handle: aclrtStream,
    pub(crate) context: usize,
    /// What is over before its next task begins.
    pub(crate) clock: Clock,
    /// Callbacks on the other thread; no host functions.
    pub(crate) callbacks: bool,
    pub(crate) counter: &'static Counter,
    pub(crate) calls: u64,
    /// Eight bytes of device memory that only this stream writes, and the last value.
    pub(crate) cell: *mut c_void,
    pub(crate) value: u64,
}

/// See the module.
pub(crate) struct World {
    pub(crate) random: SmallRng,
    pub(crate) step: u32,
    pub(crate) streams: Vec<Stream>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) events: Vec<Event>,
    pub(crate) notifies: Vec<Notify>,
    pub(crate) stalls: Vec<Stall>,
    /// What the program itself knows to be over.
    pub(crate) known: Clock,
    /// Calls whose functions may still have to run.
    #[allow(clippy::vec_box)] // Queued work holds the addresses.
    pub(crate) calls: Vec<Box<Call>>,
    contexts: Vec<aclrtContext>,
    current: usize,
    own_contexts: bool,
    reporter: Option<Reporter>,
}

/// The thread that runs callbacks.
struct Reporter {
    thread: u64,
    stop: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl Reporter {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, receive) = mpsc::channel();
        let ends = stop.clone();
        let handle = std::thread::spawn(move || {
            // SAFETY: no arguments, cannot fail.
            let me = unsafe { libc::pthread_self() };
            // The receiver waits right below.
            let _ = send.send(me);
            while !ends.load(Ordering::SeqCst) {
                // Nothing in time, or not subscribed yet: again.
                if aclrtProcessReport(20) != 0 {
                    let _ = said();
                    std::thread::yield_now();
                }
            }
        });
        let thread = receive.recv().expect("the thread says its id");
        Self {
            thread,
            stop,
            handle,
        }
    }
}

impl World {
    /// Streams, blocks, events and notifies, in numbers that the seed decides.
    pub(crate) fn new(mut random: SmallRng, options: Options) -> Self {
        let mut contexts = Vec::new();
        let mut count = random.random_range(1..3);
        if options.own_contexts {
            count += 1;
        } else {
            let mut primary = null_mut();
            ok(aclrtSetDevice(0), "aclrtSetDevice");
            let code = aclrtGetCurrentContext(&raw mut primary);
            ok(code, "aclrtGetCurrentContext");
            contexts.push(primary);
        }
        while contexts.len() < count {
            let mut context = null_mut();
            let code = aclrtCreateContext(&raw mut context, 0);
            ok(code, "aclrtCreateContext");
            contexts.push(context);
        }
        let reporter = options.callbacks.then(Reporter::start);
        let streams = random.random_range(2..9);
        let mut world = Self {
            step: 0,
            streams: Vec::new(),
            blocks: Vec::new(),
            events: Vec::new(),
            notifies: Vec::new(),
            stalls: Vec::new(),
            known: Clock::new(streams),
            calls: Vec::new(),
            current: contexts.len(),
            contexts,
            own_contexts: options.own_contexts,
            reporter,
            random,
        };
        for slot in 0..streams {
            let context = world.random.random_range(0..world.contexts.len());
            world.make_current(context);
            // The first one is a default stream.
            let handle = if slot == 0 {
                null_mut()
            } else {
                make::stream()
            };
            let callbacks = world.reporter.is_some() && world.random.random_bool(0.4);
            let cell = make::device(8);
            make::upload(cell, &[0; 8]);
            world.streams.push(Stream {
                handle,
                context,
                clock: Clock::new(streams),
                callbacks,
                counter: Box::leak(Box::default()),
                calls: 0,
                cell,
                value: 0,
            });
            world.subscribe(slot);
        }
        for place in [Place::Device, Place::Pinned] {
            for _ in 0..world.random.random_range(2..7) {
                world.blocks.push(Block::new(place, &mut world.random));
            }
        }
        for _ in 0..world.random.random_range(2..8) {
            let ex = world.random.random_bool(0.5);
            world.events.push(Event::new(ex));
        }
        world
    }

    fn subscribe(&mut self, slot: usize) {
        let stream = &self.streams[slot];
        if let (true, Some(reporter)) = (stream.callbacks, &self.reporter) {
            let code = aclrtSubscribeReport(reporter.thread, stream.handle);
            ok(code, "aclrtSubscribeReport");
        }
    }

    fn unsubscribe(&mut self, slot: usize) {
        let stream = &self.streams[slot];
        if let (true, Some(reporter)) = (stream.callbacks, &self.reporter) {
            let code = aclrtUnSubscribeReport(reporter.thread, stream.handle);
            ok(code, "aclrtUnSubscribeReport");
        }
    }

    /// A name for failures.
    pub(crate) fn here(&self, what: &str) -> String {
        format!("step {}: {what}", self.step)
    }

    fn make_current(&mut self, context: usize) {
        if self.current == context {
            return;
        }
        self.current = context;
        let code = aclrtSetCurrentContext(self.contexts[context]);
        ok(code, "aclrtSetCurrentContext");
    }

    /// Submits one task to a stream; `call` gets its handle.
    pub(crate) fn submit(
        &mut self,
        slot: usize,
        what: &'static str,
        call: impl FnOnce(&mut Self, aclrtStream) -> aclError,
    ) -> Task {
        progress::begin(self.step, what);
        self.make_current(self.streams[slot].context);
        let handle = self.streams[slot].handle;
        if progress::is_traced() {
            eprintln!("  on stream {slot} ({handle:p})");
        }
        let code = call(self, handle);
        if code != 0 {
            panic!("{}: {}", self.here(what), answer(code));
        }
        let known = self.known.clone();
        let clock = &mut self.streams[slot].clock;
        clock.join(&known);
        clock.tick(slot)
    }

    /// Queues a function on a stream that looks at a block and changes it (`None`: does neither).
    pub(crate) fn call(&mut self, slot: usize, block: Option<usize>, name: &'static str) -> Task {
        let work = block.map(|block| {
            let block = &mut self.blocks[block];
            let before = block.model.clone();
            // Something that keeps every bit of what was there.
            for (i, byte) in block.model.iter_mut().enumerate() {
                *byte = byte.rotate_left(3) ^ (i as u8).wrapping_mul(37) ^ 0x5a;
            }
            (block.at.expose_provenance(), before, block.model.clone())
        });
        let stream = &mut self.streams[slot];
        let call = Box::new(Call {
            work,
            place: stream.calls,
            counter: stream.counter,
            name: format!("step {}: {name} on stream {slot}", self.step),
            ran: AtomicU32::new(0),
        });
        stream.calls += 1;
        let callbacks = stream.callbacks;
        let data = call.data();
        self.calls.push(call);
        self.submit(slot, name, |_, stream| {
            if callbacks {
                let block = ACL_CALLBACK_BLOCK;
                aclrtLaunchCallback(Some(functions::run), data, block, stream)
            } else {
                aclrtLaunchHostFunc(stream, Some(functions::run), data)
            }
        })
    }

    /// Destroys a stream and makes another one in its place.
    pub(crate) fn replace_stream(&mut self, slot: usize) {
        self.flush_stalls();
        if self.streams[slot].handle.is_null() {
            return;
        }
        self.make_current(self.streams[slot].context);
        if self.streams[slot].callbacks {
            // Its callbacks run on the other thread, which needs the subscription until then.
            self.wait_for_stream(slot);
            self.unsubscribe(slot);
        }
        let code = aclrtDestroyStream(self.streams[slot].handle);
        ok(code, &self.here("aclrtDestroyStream"));
        self.learn_of(slot);
        self.streams[slot].handle = make::stream();
        self.subscribe(slot);
    }

    /// Waits for everything, compares all bytes, and gives everything back.
    pub(crate) fn finish(mut self) {
        self.flush_stalls();
        ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
        for slot in 0..self.streams.len() {
            self.make_current(self.streams[slot].context);
            let mut status = -77;
            let code = aclrtStreamQuery(self.streams[slot].handle, &raw mut status);
            ok(code, "aclrtStreamQuery at the end");
            trouble::unless(status == ACL_STREAM_STATUS_COMPLETE, || {
                format!("stream {slot}: status {status} after the device was waited for")
            });
            self.learn_of(slot);
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let bytes = block.model.len();
            let got = match block.place {
                Place::Device => make::download(block.at, bytes),
                Place::Pinned => make::read(block.at, bytes),
            };
            if let Some(text) = make::difference(&got, &block.model) {
                trouble::note(format!("block {i} ({:?}) at the end: {text}", block.place));
            }
        }
        for call in &self.calls {
            let ran = call.ran.load(Ordering::SeqCst);
            trouble::unless(ran == 1, || format!("{}: ran {ran} times", call.name));
        }
        for i in 0..self.events.len() {
            self.check_status(i);
        }
        self.give_back();
    }

    fn give_back(mut self) {
        for slot in 0..self.streams.len() {
            self.make_current(self.streams[slot].context);
            self.unsubscribe(slot);
            let stream = &self.streams[slot];
            if !stream.handle.is_null() {
                ok(aclrtDestroyStream(stream.handle), "aclrtDestroyStream");
            }
            ok(aclrtFree(stream.cell), "aclrtFree");
        }
        for block in &self.blocks {
            let code = match block.place {
                Place::Device => aclrtFree(block.at),
                Place::Pinned => aclrtFreeHost(block.at),
            };
            ok(code, "releasing a block");
        }
        self.events.drain(..).for_each(Event::destroy);
        for notify in &self.notifies {
            ok(aclrtDestroyNotify(notify.handle), "aclrtDestroyNotify");
        }
        // The primary one goes with the device.
        let own = usize::from(!self.own_contexts);
        for context in &self.contexts[own..] {
            ok(aclrtDestroyContext(*context), "aclrtDestroyContext");
        }
        if let Some(reporter) = self.reporter.take() {
            reporter.stop.store(true, Ordering::SeqCst);
            trouble::unless(reporter.handle.join().is_ok(), || {
                "the thread of the callbacks panicked".to_owned()
            });
        }
        if !self.own_contexts {
            ok(aclrtResetDevice(0), "aclrtResetDevice");
        }
    }
}

/// A code with the text that came with it.
fn answer(code: aclError) -> String {
    format!("{code}: {}", said())
}
