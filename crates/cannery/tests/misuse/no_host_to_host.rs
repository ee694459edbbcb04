use cannery::{PinnedBuffer, Result, Stream};

fn main() {
    let _ = host_to_host;
}

fn host_to_host(stream: &Stream, from: PinnedBuffer<u32>, to: PinnedBuffer<u32>) -> Result<()> {
    stream.copy(from, to)?.wait()?;
    Ok(())
}
