//! A vector's round trip with the crate `cannery`: queued copies from and to pinned memory, on two streams,
//! with ownership that goes into the copy and comes back; then with `.await`; then what an error tells.
//!
//! cannery run -- round_trip
//! cannery run --schedule lazy -- round_trip
//! cannery run --schedule random:7 -- round_trip

#![allow(clippy::print_stdout)] // a program that shows what it did

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::Thread;

use cannery::{
    Context, Device, DeviceBuffer, Library, OnDevice, PinnedBuffer, Pool, Result, Stream,
};

const COUNT: usize = 1 << 20;

/// Numbers that do not repeat soon.
fn random_numbers(mut state: u64) -> Vec<f32> {
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 256.0
    };
    std::iter::repeat_with(next).take(COUNT).collect()
}

/// There and back: each copy owns its buffers until it is done.
fn round_trip(context: &Arc<Context>, numbers: &[f32]) -> Result<()> {
    let (there, back) = (Stream::new(context)?, Stream::new(context)?);
    let sent = PinnedBuffer::from_slice(context, numbers)?;
    let device = DeviceBuffer::uninit(context, COUNT)?;
    // The second copy is queued behind the first, though on another stream: the buffer knows.
    let (sent, device) = there.copy(sent, device)?.without_waiting();
    let received = PinnedBuffer::uninit(context, COUNT)?;
    let (_, received) = back.copy(device, received)?.wait()?;
    assert!(received[..] == sent[..], "the numbers came back changed");
    println!("round trip   {COUNT} numbers over two streams");
    Ok(())
}

/// The same with a pool, `.await`ing each copy.
async fn awaited(context: &Arc<Context>, numbers: &[f32]) -> Result<()> {
    let stream = Stream::new(context)?;
    let pool = Pool::<OnDevice>::new(context, 64 << 20)?;
    let sent = PinnedBuffer::from_slice(context, numbers)?;
    let block = pool.alloc(&stream, COUNT)?;
    let (_, block) = stream.copy(sent, block)?.await?;
    let received = PinnedBuffer::uninit(context, COUNT)?;
    let (_, received) = stream.copy(block, received)?.await?;
    assert!(received[..] == numbers[..], "the numbers came back changed");
    println!("awaited      {COUNT} numbers through a block of a pool");
    Ok(())
}

fn run() -> Result<()> {
    let library = Library::find()?;
    let context = Device::new(library, 0)?.context()?;
    println!("{} with {}", library.soc_name()?, library.path().display());
    let numbers = random_numbers(1);
    round_trip(&context, &numbers)?;
    block_on(awaited(&context, &numbers))?;

    let before = context.memory()?;
    let Err(error) = DeviceBuffer::<u8>::uninit(&context, before.total + 1) else {
        panic!("a device gave more than it has");
    };
    let shortage = error.shortage().expect("a refused allocation has numbers");
    println!(
        "refused      {} bytes of {} free: {}",
        shortage.requested,
        shortage.free,
        error.code().name()
    );
    assert_eq!(shortage.requested, before.total + 1);
    assert_eq!(cannery::drop_failures::count(), 0);
    Ok(())
}

/// The smallest executor: any other does as well.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Task::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn main() -> Result<()> {
    run()
}
