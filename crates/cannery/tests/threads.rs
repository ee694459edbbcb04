//! Many threads: contexts are values, buffers and streams go anywhere.

#![allow(unsafe_code)] // the raw forms are tested, too
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::ptr;
use std::sync::Arc;

use cannery::{
    CachedBuffer, Context, DevSlice, DevSliceMut, Device, DeviceBuffer, Error, Event, InFlight,
    Library, Mapping, OnDevice, Physical, Pinned, PinnedBuffer, PinnedSlice, Pool, PoolBuffer,
    Reservation, Stream,
};
use common::{context, random};

const COUNT: usize = 300_007;

#[test]
fn types_are_send_and_sync() {
    fn both<T: Send + Sync>() {}
    both::<Library>();
    both::<Device>();
    both::<Arc<Context>>();
    both::<Stream>();
    both::<Event>();
    both::<Error>();
    both::<DeviceBuffer<u32>>();
    both::<CachedBuffer<u32>>();
    both::<PoolBuffer<u32>>();
    both::<PinnedBuffer<u32>>();
    both::<DevSlice<'_, u32>>();
    both::<DevSliceMut<'_, u32>>();
    both::<PinnedSlice<'_, u32>>();
    both::<InFlight<(PinnedBuffer<u32>, DeviceBuffer<u32>)>>();
    both::<Pool<OnDevice>>();
    both::<Pool<Pinned>>();
    both::<(Reservation, Physical, Mapping)>();
}

#[test]
fn threads_share_a_stream_and_its_source() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 1);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..10 {
                    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
                    let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
                    stream.copy_borrowed(&sent, &mut device).unwrap();
                    stream.copy_borrowed(&device, &mut received).unwrap();
                    assert_eq!(received[..], numbers[..]);
                }
            });
        }
    });
}

#[test]
fn halves_of_a_buffer_are_filled_by_threads_with_streams_of_their_own() {
    let context = context();
    let numbers = random(COUNT, 2);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    for round in 0..20 {
        let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
        let middle = COUNT / 2 + round;
        let (low, high) = device.view_mut().split_at(middle).unwrap();
        std::thread::scope(|threads| {
            for (view, from) in [(low, sent.slice(..middle)), (high, sent.slice(middle..))] {
                let (context, from) = (&context, from.unwrap());
                threads.spawn(move || {
                    Stream::new(context)
                        .unwrap()
                        .copy_borrowed(from, view)
                        .unwrap()
                });
            }
        });
        assert_eq!(device.to_vec().unwrap(), numbers);
    }
}

#[test]
fn a_buffer_ends_on_another_thread() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let sent = PinnedBuffer::from_slice(&context, &random(COUNT, 3)).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let flight = stream.copy(sent, device).unwrap();
    drop((context, stream));
    let sum = std::thread::spawn(move || {
        let (sent, device) = flight.wait().unwrap();
        assert_eq!(device.to_vec().unwrap(), sent[..]);
        sent.iter()
            .fold(0u32, |sum, number| sum.wrapping_add(*number))
    });
    let expected = random(COUNT, 3)
        .iter()
        .fold(0u32, |sum, number| sum.wrapping_add(*number));
    assert_eq!(sum.join().unwrap(), expected);
}

#[test]
fn contexts_of_one_thread_do_not_mix() {
    let (first, second) = (context(), context());
    let (one, two) = (Stream::new(&first).unwrap(), Stream::new(&second).unwrap());
    let numbers = random(COUNT, 4);
    let sent = PinnedBuffer::from_slice(&first, &numbers).unwrap();
    let mut a = DeviceBuffer::<u32>::zeroed(&first, COUNT).unwrap();
    let mut b = DeviceBuffer::<u32>::zeroed(&second, COUNT).unwrap();
    for _ in 0..10 {
        one.copy_borrowed(&sent, &mut a).unwrap();
        two.copy_borrowed(&a, &mut b).unwrap(); // behind a stream of another context
    }
    assert_eq!(b.to_vec().unwrap(), numbers);
}

#[test]
fn c_code_that_switches_contexts_is_survived() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 5);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let table = context.library().table();
    let mut foreign = ptr::null_mut();
    // SAFETY: the place is valid. The new context is current afterwards, and this crate does not know.
    let code = unsafe { (table.aclrtCreateContext)(&raw mut foreign, 0) };
    assert_eq!(code, 0);
    stream.copy_borrowed(&sent, &mut device).unwrap();
    // SAFETY: the context was made above. The thread has none, or ours, afterwards.
    let code = unsafe { (table.aclrtDestroyContext)(foreign) };
    assert_eq!(code, 0);
    stream.synchronize().unwrap();
    assert_eq!(device.to_vec().unwrap(), numbers);
}
