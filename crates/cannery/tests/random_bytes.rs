//! Random bytes through every way of copying, a MiB and more of them.

#![allow(unsafe_code)] // the raw forms are tested, too
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use cannery::{
    CachedBuffer, DeviceBuffer, OnDevice, Pages, Physical, PinnedBuffer, Pool, Reservation, Stream,
};
use common::{context, random};
use std::sync::Arc;

const COUNT: usize = 300_007; // 1.2 MB, and no round number

#[test]
fn synchronous_copies_keep_every_element() {
    let context = context();
    let sent = random(COUNT, 1);
    let buffer = DeviceBuffer::from_slice(&context, &sent).unwrap();
    let mut copy = DeviceBuffer::<u32>::uninit(&context, COUNT)
        .unwrap()
        .into_zeroed()
        .unwrap();
    assert!(copy.to_vec().unwrap().iter().all(|&number| number == 0));
    copy.view_mut().copy_from_device(buffer.view()).unwrap();
    assert_eq!(copy.to_vec().unwrap(), sent);
}

#[test]
fn views_touch_their_part_only() {
    let context = context();
    let mut expected = random(COUNT, 2);
    let part = random(1000, 3);
    let mut buffer = DeviceBuffer::from_slice(&context, &expected).unwrap();
    let (before, after) = buffer.view_mut().split_at(100_000).unwrap();
    assert_eq!((before.len(), after.len()), (100_000, COUNT - 100_000));
    after.slice(500..1500).unwrap().copy_from(&part).unwrap();
    before.slice(99_000..).unwrap().fill_bytes(0xA5).unwrap();
    expected[100_500..101_500].copy_from_slice(&part);
    expected[99_000..100_000].fill(0xA5A5_A5A5);
    assert_eq!(buffer.to_vec().unwrap(), expected);
    let mut host = vec![0; 1000];
    buffer
        .slice(100_500..=101_499)
        .unwrap()
        .copy_to(&mut host)
        .unwrap();
    assert_eq!(host, part);
}

#[test]
fn owned_copies_come_back_whole() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 4);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let (sent, device) = stream.copy(sent, device).unwrap().wait().unwrap();
    let second = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let (_, second) = stream.copy(device, second).unwrap().without_waiting();
    let received = PinnedBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let (_, received) = stream.copy(second, received).unwrap().wait().unwrap();
    assert_eq!(received[..], sent[..]);
    assert_eq!(sent[..], numbers[..]);
}

#[test]
fn borrowed_copies_of_two_streams_keep_their_order() {
    let context = context();
    let (first, second) = (
        Stream::new(&context).unwrap(),
        Stream::new(&context).unwrap(),
    );
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let mut sent = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    for round in 0..40 {
        let numbers = random(COUNT, 100 + round);
        sent.copy_from_slice(&numbers); // waits for the copy of the round before
        first.copy_borrowed(&sent, &mut device).unwrap();
        second.copy_borrowed(&device, &mut received).unwrap(); // behind the other stream
        assert_eq!(received[..], numbers[..], "round {round}");
    }
}

#[test]
fn a_scope_is_done_at_its_end() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 5);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let queued = stream.scope(|s| {
        let (low, high) = device.view_mut().split_at(1000)?;
        let low = s.copy(sent.slice(..1000)?, low)?;
        let high = s.copy(sent.slice(1000..)?, high)?;
        let (to_low, to_high) = received.slice_mut(..)?.split_at(1000)?;
        s.copy(low, to_low)?;
        s.copy(high, to_high)?;
        Ok(4)
    });
    assert_eq!(queued.unwrap(), 4);
    assert!(stream.is_done().unwrap());
    assert_eq!(received[..], numbers[..]);
}

#[test]
fn cached_memory_is_flushed_and_invalidated_by_range() {
    let context = context();
    let numbers = random(COUNT, 6);
    let buffer = CachedBuffer::<u32>::uninit_cached(&context, COUNT)
        .unwrap()
        .write(&numbers)
        .unwrap();
    buffer.flush(..).unwrap();
    buffer.flush(17..4711).unwrap();
    buffer.invalidate(COUNT - 1..).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), numbers);
    let error = buffer.flush(..COUNT + 1).unwrap_err();
    assert!(error.message().contains(&COUNT.to_string()), "{error}");
    assert_eq!(error.api(), "aclrtMemFlush");
    // An empty range is the library's to refuse.
    assert_eq!(
        buffer.invalidate(5..5).unwrap_err().api(),
        "aclrtMemInvalidate"
    );
}

#[test]
fn a_pool_keeps_the_order_of_the_stream() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let pool = Pool::<OnDevice>::new(&context, 64 << 20).unwrap();
    let numbers = random(COUNT, 7);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    for _ in 0..20 {
        let block = pool.alloc::<u32>(&stream, COUNT).unwrap();
        let mut received = PinnedBuffer::<u32>::zeroed(&context, COUNT).unwrap();
        let mut block = block.into_zeroed().unwrap();
        stream.copy_borrowed(&sent, &mut block).unwrap();
        stream.copy_borrowed(&block, &mut received).unwrap();
        pool.free(block).unwrap(); // behind both copies
        assert_eq!(received[..], numbers[..]);
    }
    assert_eq!(pool.used().unwrap(), 0);
    assert!(
        pool.reserved().unwrap() <= 2 << 20,
        "one block served all rounds"
    );
    stream.synchronize().unwrap();
    pool.trim_to(0).unwrap();
    assert_eq!(pool.reserved().unwrap(), 0);
}

#[test]
fn pinned_blocks_are_used_again_when_nothing_reads_them() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let pool = Pool::pinned(&context);
    let mut device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    for round in 0..20 {
        let numbers = random(COUNT, 200 + round);
        let flight = stream.copy_staged(&pool, &numbers, device).unwrap();
        let (staged, target) = flight.without_waiting();
        drop(staged); // back to the pool, though the copy may still read it
        device = target;
        assert_eq!(device.to_vec().unwrap(), numbers, "round {round}");
    }
    stream.synchronize().unwrap();
    assert!(pool.idle() >= COUNT * 4);
    assert!(
        pool.idle() <= 4 * (2 << 20),
        "blocks are used again: {} bytes",
        pool.idle()
    );
}

#[test]
fn mappings_show_the_memory_that_they_map() {
    let context = context();
    let step = Physical::granularity(&context, Pages::Huge).unwrap();
    let range = Arc::new(Reservation::new(&context, 4 * step).unwrap());
    let memory = Arc::new(Physical::new(&context, step, Pages::Huge).unwrap());
    let numbers = random(step / 4, 8);
    let mut first = range.map(0, &memory).unwrap();
    first.uninit::<u32>().write(&numbers).unwrap();
    drop(first);
    // The same memory, elsewhere.
    let mut second = range.map(3 * step, &memory).unwrap();
    // SAFETY: all of the memory was written above.
    let view = unsafe { second.init::<u32>() };
    assert_eq!(view.freeze().to_vec().unwrap(), numbers);
    let error = range.map(4 * step, &memory).unwrap_err();
    assert_eq!(error.api(), "aclrtMapMem");
}

#[test]
fn raw_parts_go_out_and_come_back() {
    let context = context();
    let numbers = random(COUNT, 9);
    let buffer = DeviceBuffer::from_slice(&context, &numbers).unwrap();
    let (address, len) = buffer.into_raw().unwrap();
    // SAFETY: the block that was given away just now.
    let buffer = unsafe { DeviceBuffer::<u32>::from_raw(&context, address.as_raw(), len) };
    assert_eq!(buffer.to_vec().unwrap(), numbers);
}

#[test]
fn the_raw_form_is_the_c_function() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, 10);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let device = DeviceBuffer::<u32>::zeroed(&context, COUNT).unwrap();
    let to = device.as_ptr().as_raw();
    // SAFETY: both buffers live until the synchronisation below.
    unsafe { stream.memcpy_raw(to, COUNT * 4, sent.as_ptr().cast(), COUNT * 4, 1) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(device.to_vec().unwrap(), numbers);
}
