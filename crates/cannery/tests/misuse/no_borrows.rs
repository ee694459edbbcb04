// Misuse that the borrow checker refuses. One module each; every function in it is refused.
#![allow(unused)]

use cannery::{DeviceBuffer, PinnedBuffer, Result, Stream};

mod no_use_while_owned_by_a_copy {
    use super::*;

    fn touch(
        stream: &Stream,
        mut sent: PinnedBuffer<u32>,
        device: DeviceBuffer<u32>,
    ) -> Result<()> {
        let flight = stream.copy(sent, device)?;
        sent[0] = 1;
        drop(device);
        flight.wait()?;
        Ok(())
    }
}

mod no_drop_in_a_scope {
    use super::*;

    fn dropped(
        stream: &Stream,
        sent: PinnedBuffer<u32>,
        mut device: DeviceBuffer<u32>,
    ) -> Result<()> {
        stream.scope(|s| {
            s.copy(&sent, &mut device)?;
            drop(sent);
            Ok(())
        })
    }

    fn shorter(
        stream: &Stream,
        mut device: DeviceBuffer<u32>,
        make: fn() -> PinnedBuffer<u32>,
    ) -> Result<()> {
        stream.scope(|s| {
            let inside = make();
            s.copy(&inside, &mut device)?;
            Ok(())
        })
    }
}

mod no_look_at_a_target_in_a_scope {
    use super::*;

    fn look(
        stream: &Stream,
        device: DeviceBuffer<u32>,
        mut received: PinnedBuffer<u32>,
    ) -> Result<u32> {
        stream.scope(|s| {
            s.copy(&device, &mut received)?;
            Ok(received[0])
        })
    }
}

mod no_escape_from_a_scope {
    use super::*;

    fn frozen<'a>(
        stream: &Stream,
        sent: &PinnedBuffer<u32>,
        device: &'a mut DeviceBuffer<u32>,
    ) -> Result<cannery::DevSlice<'a, u32>> {
        stream.scope(|s| s.copy(sent, device))
    }

    fn two_targets(
        stream: &Stream,
        sent: &PinnedBuffer<u32>,
        device: &mut DeviceBuffer<u32>,
    ) -> Result<()> {
        stream.scope(|s| {
            let first = s.copy(sent, device.slice_mut(..2)?)?;
            s.copy(sent, device.slice_mut(..2)?)?;
            drop(first);
            Ok(())
        })
    }
}

mod no_host_access_while_part_of_it_is_borrowed {
    use super::*;

    fn part(pinned: &mut PinnedBuffer<u32>) -> Result<u32> {
        let part = pinned.slice_mut(..2)?;
        let seen = pinned[3];
        drop(part);
        Ok(seen)
    }

    fn view_outlives(buffer: DeviceBuffer<u32>) -> Result<Vec<u32>> {
        let view = buffer.view();
        drop(buffer);
        view.to_vec()
    }
}

mod no_two_writers {
    use super::*;

    fn twice(buffer: &mut DeviceBuffer<u32>) -> Result<()> {
        let first = buffer.slice_mut(..2)?;
        let mut second = buffer.slice_mut(1..)?;
        second.zero()?;
        drop(first);
        Ok(())
    }

    fn outlive() -> cannery::DevSlice<'static, u32> {
        let buffer: DeviceBuffer<u32> = make();
        buffer.view()
    }

    fn make() -> DeviceBuffer<u32> {
        panic!("this file must not compile, so nothing runs it")
    }
}

fn main() {}
