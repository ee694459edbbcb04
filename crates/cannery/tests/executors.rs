//! `.await` on executors of other crates.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use cannery::{DeviceBuffer, PinnedBuffer, Result, Stream, drop_failures};
use common::{context, random};
use futures::executor::{ThreadPool, block_on};
use futures::future::{Either, join_all, select};
use futures::task::SpawnExt;

const COUNT: usize = 300_007; // 1.2 MB, and no round number

/// There, within the device, and back.
async fn round_trip(stream: Stream, seed: u64) -> Result<()> {
    let context = stream.context().clone();
    let numbers = random(COUNT, seed);
    let sent = PinnedBuffer::from_slice(&context, &numbers)?;
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT)?;
    let (_, device) = stream.copy(sent, device)?.await?;
    let second = DeviceBuffer::<u32>::uninit(&context, COUNT)?;
    let (_, second) = stream.copy(device, second)?.await?;
    let received = PinnedBuffer::<u32>::uninit(&context, COUNT)?;
    let (_, received) = stream.copy(second, received)?.await?;
    assert_eq!(received.host()?, numbers);
    Ok(())
}

#[test]
fn one_thread_drives_many_copies() {
    let context = context();
    let streams: Vec<_> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
    let trips = (0..24).map(|seed| round_trip(streams[seed as usize % 3].clone(), seed));
    for outcome in block_on(join_all(trips)) {
        outcome.unwrap();
    }
}

#[test]
fn a_pool_of_threads_drives_many_copies() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let pool = ThreadPool::builder().pool_size(3).create().unwrap();
    let trips: Vec<_> = (0..24)
        .map(|seed| {
            pool.spawn_with_handle(round_trip(stream.clone(), 100 + seed))
                .unwrap()
        })
        .collect();
    for outcome in block_on(join_all(trips)) {
        outcome.unwrap();
    }
}

#[test]
fn a_future_that_loses_a_race_is_dropped_safely() {
    let context = context();
    let (one, two) = (
        Stream::new(&context).unwrap(),
        Stream::new(&context).unwrap(),
    );
    for seed in 0..20 {
        let numbers = random(COUNT, 200 + seed);
        let copy = |stream: &Stream| {
            let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
            let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
            stream.copy(sent, device).unwrap()
        };
        let won = match block_on(select(copy(&one), copy(&two))) {
            Either::Left((won, lost)) | Either::Right((won, lost)) => {
                drop(lost); // polled once, its waker given away
                won
            }
        };
        let (_, device) = won.unwrap();
        assert_eq!(device.to_vec().unwrap(), numbers);
    }
    assert_eq!(drop_failures::count(), 0, "{:?}", drop_failures::take());
}
