//! The steps that a program consists of.

use std::ffi::c_void;

use cannery_abi::*;
use rand::{Rng, RngCore};

use super::block::Place;
use super::clock::Task;
use super::world::World;
use crate::api::*;
use crate::{make, trouble};

impl World {
    /// One step, chosen by the seed.
    pub(crate) fn random_step(&mut self) {
        match self.random.random_range(0..100) {
            0..=29 => self.copy(),
            30..=39 => self.fill(),
            40..=43 => self.copy_rows(),
            44..=47 => self.copy_batch(),
            48..=62 => self.function(),
            63..=65 => self.pageable(),
            66..=67 => self.buffered(),
            68..=70 => self.write_value(),
            71..=76 => self.some_edge(),
            77..=81 => self.stall(),
            82..=86 => self.touch_by_hand(),
            87..=90 => self.look_at_events(),
            91..=92 => self.reset_event(),
            93..=94 => self.new_event(),
            95 => self.replace_some_stream(),
            96 => self.wait_for_device(),
            _ => self.some_wait(),
        }
    }

    fn some_stream(&mut self) -> usize {
        self.random.random_range(0..self.streams.len())
    }

    fn some_block(&mut self, place: Option<Place>) -> usize {
        loop {
            let found = self.random.random_range(0..self.blocks.len());
            if place.is_none_or(|place| self.blocks[found].place == place) {
                return found;
            }
        }
    }

    /// Two different blocks that a queued copy may join.
    fn some_pair(&mut self) -> (usize, usize) {
        loop {
            let (to, from) = (self.some_block(None), self.some_block(None));
            let hosts = [to, from].map(|block| self.blocks[block].place == Place::Pinned);
            if to != from && hosts != [true, true] {
                return (to, from);
            }
        }
    }

    fn read_and_written(&mut self, from: usize, to: usize, task: Task) {
        self.blocks[from].read_by(task);
        self.blocks[to].written_by(task);
    }

    fn put_after_pair(&mut self, slot: usize, to: usize, from: usize) {
        let mut before = self.blocks[to].before_write();
        before.extend(self.blocks[from].before_read());
        self.put_after(slot, &before);
    }

    fn copy(&mut self) {
        let slot = self.some_stream();
        let (to, from) = self.some_pair();
        self.put_after_pair(slot, to, from);
        let part = self.blocks[from].part(&mut self.random, self.blocks[to].model.len());
        let room = self.blocks[to].model.len() - part.len();
        let at = self.random.random_range(0..=room);
        // Both ends are known to the runtime, which corrects whatever is said here.
        let kind = self
            .random
            .random_range(ACL_MEMCPY_HOST_TO_HOST..=ACL_MEMCPY_DEFAULT);
        let (target, source) = (
            self.blocks[to].address(at),
            self.blocks[from].address(part.start),
        );
        let task = self.submit(slot, "aclrtMemcpyAsync", |_, stream| {
            aclrtMemcpyAsync(target, part.len(), source, part.len(), kind, stream)
        });
        let bytes = self.blocks[from].model[part.clone()].to_vec();
        self.blocks[to].model[at..at + part.len()].copy_from_slice(&bytes);
        self.read_and_written(from, to, task);
    }

    fn fill(&mut self) {
        let slot = self.some_stream();
        let block = self.some_block(None);
        let before = self.blocks[block].before_write();
        self.put_after(slot, &before);
        let part = self.blocks[block].part(&mut self.random, usize::MAX);
        let words = part.len() / 4;
        let aligned = part.start.is_multiple_of(4) && words > 0;
        let task;
        if aligned && self.blocks[block].place == Place::Device && self.random.random_bool(0.6) {
            let value = self.random.next_u32();
            let at = self.blocks[block].address(part.start);
            task = self.submit(slot, "aclrtMemsetD32Async", |_, stream| {
                aclrtMemsetD32Async(at, words * 4, value, words, stream)
            });
            let range = part.start..part.start + words * 4;
            for word in self.blocks[block].model[range].chunks_mut(4) {
                word.copy_from_slice(&value.to_ne_bytes());
            }
        } else {
            let value = self.random.random_range(-300..300);
            let at = self.blocks[block].address(part.start);
            task = self.submit(slot, "aclrtMemsetAsync", |_, stream| {
                aclrtMemsetAsync(at, part.len(), value, part.len(), stream)
            });
            self.blocks[block].model[part].fill(value as u8);
        }
        self.blocks[block].written_by(task);
    }

    fn copy_rows(&mut self) {
        let slot = self.some_stream();
        let (to, from) = self.some_pair();
        self.put_after_pair(slot, to, from);
        let least = self.blocks[to]
            .model
            .len()
            .min(self.blocks[from].model.len());
        let height = self.random.random_range(1..=least.min(20));
        let width = self.random.random_range(1..=least / height);
        let mut pitch = |block: usize| {
            let most = self.blocks[block].model.len() / height;
            self.random.random_range(width..=most)
        };
        let (to_pitch, from_pitch) = (pitch(to), pitch(from));
        let kind = match (self.blocks[to].place, self.blocks[from].place) {
            (Place::Pinned, _) => ACL_MEMCPY_DEVICE_TO_HOST,
            (_, Place::Pinned) => ACL_MEMCPY_HOST_TO_DEVICE,
            _ => ACL_MEMCPY_DEVICE_TO_DEVICE,
        };
        let (target, source) = (self.blocks[to].at, self.blocks[from].at);
        let task = self.submit(slot, "aclrtMemcpy2dAsync", |_, stream| {
            aclrtMemcpy2dAsync(
                target, to_pitch, source, from_pitch, width, height, kind, stream,
            )
        });
        for row in 0..height {
            let start = row * from_pitch;
            let bytes = self.blocks[from].model[start..start + width].to_vec();
            let start = row * to_pitch;
            self.blocks[to].model[start..start + width].copy_from_slice(&bytes);
        }
        self.read_and_written(from, to, task);
    }

    fn copy_batch(&mut self) {
        let slot = self.some_stream();
        let up = self.random.random_bool(0.5);
        let places = |place| {
            let of = |block: &usize| self.blocks[*block].place == place;
            (0..self.blocks.len()).filter(of).collect::<Vec<_>>()
        };
        let (device, host) = (places(Place::Device), places(Place::Pinned));
        // Each block at most once: copies inside a batch have no order.
        let pairs: Vec<(usize, usize)> = device
            .into_iter()
            .zip(host)
            .map(|(device, host)| if up { (device, host) } else { (host, device) })
            .collect();
        for (to, from) in &pairs {
            self.put_after_pair(slot, *to, *from);
        }
        let sizes: Vec<usize> = pairs
            .iter()
            .map(|(to, from)| {
                let most = self.blocks[*to]
                    .model
                    .len()
                    .min(self.blocks[*from].model.len());
                self.random.random_range(1..=most)
            })
            .collect();
        let address = |block: usize| self.blocks[block].at;
        let targets: Vec<_> = pairs.iter().map(|(to, _)| address(*to)).collect();
        let sources: Vec<_> = pairs.iter().map(|(_, from)| address(*from)).collect();
        let task = self.submit(slot, "aclrtMemcpyBatchAsync", |_, stream| {
            batch(targets, sources, sizes.clone(), up, stream)
        });
        for ((to, from), bytes) in pairs.into_iter().zip(sizes) {
            let source = self.blocks[from].model[..bytes].to_vec();
            self.blocks[to].model[..bytes].copy_from_slice(&source);
            self.read_and_written(from, to, task);
        }
    }

    fn function(&mut self) {
        let slot = self.some_stream();
        if self.random.random_bool(0.1) {
            self.call(slot, None, "a function");
            return;
        }
        let block = self.some_block(Some(Place::Pinned));
        let before = self.blocks[block].before_write();
        self.put_after(slot, &before);
        let task = self.call(slot, Some(block), "a function on a block");
        self.blocks[block].written_by(task);
    }

    /// Copies with memory of the program, which are over when the call comes back.
    fn pageable(&mut self) {
        let slot = self.some_stream();
        let block = self.some_block(Some(Place::Device));
        let up = self.random.random_bool(0.5);
        let before = if up {
            self.blocks[block].before_write()
        } else {
            self.blocks[block].before_read()
        };
        self.put_after(slot, &before);
        self.flush_stalls();
        let part = self.blocks[block].part(&mut self.random, usize::MAX);
        let at = self.blocks[block].address(part.start);
        let bytes = part.len();
        let mut heap = vec![0; bytes];
        self.random.fill_bytes(&mut heap);
        let host: *mut c_void = heap.as_mut_ptr().cast();
        let task = self.submit(slot, "a copy with pageable memory", |_, stream| {
            if up {
                aclrtMemcpyAsync(at, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream)
            } else {
                aclrtMemcpyAsync(host, bytes, at, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream)
            }
        });
        self.learn_of(slot);
        if up {
            self.blocks[block].model[part].copy_from_slice(&heap);
            self.blocks[block].written_by(task);
        } else {
            if let Some(text) = make::difference(&heap, &self.blocks[block].model[part]) {
                trouble::note(self.here(&format!("copy to pageable memory: {text}")));
            }
            self.blocks[block].read_by(task);
        }
    }

    /// A copy whose source may be overwritten right after the call.
    fn buffered(&mut self) {
        let slot = self.some_stream();
        let (to, from) = (
            self.some_block(Some(Place::Device)),
            self.some_block(Some(Place::Pinned)),
        );
        let before = self.blocks[from].before_write();
        self.wait_for(&before);
        self.put_after_pair(slot, to, from);
        self.flush_stalls();
        let bytes = self.blocks[to]
            .model
            .len()
            .min(self.blocks[from].model.len());
        let (target, source) = (self.blocks[to].at, self.blocks[from].at);
        let kind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
        let task = self.submit(slot, "a buffered copy", |_, stream| {
            aclrtMemcpyAsync(target, bytes, source, bytes, kind, stream)
        });
        let moved = self.blocks[from].model[..bytes].to_vec();
        self.blocks[to].model[..bytes].copy_from_slice(&moved);
        self.blocks[to].written_by(task);
        self.overwrite(from);
    }

    fn write_value(&mut self) {
        let slot = self.some_stream();
        let block = self.some_block(Some(Place::Device));
        let before = self.blocks[block].before_write();
        self.put_after(slot, &before);
        let cells = self.blocks[block].model.len() / 8;
        let at = self.random.random_range(0..cells) * 8;
        let value = self.random.next_u64();
        let address = self.blocks[block].address(at);
        let task = self.submit(slot, "aclrtValueWrite", |_, stream| {
            aclrtValueWrite(address, value, 0, stream)
        });
        self.blocks[block].model[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self.blocks[block].written_by(task);
    }

    /// Joins two streams without need, or makes one wait for an old record.
    fn some_edge(&mut self) {
        let (first, then) = (self.some_stream(), self.some_stream());
        if self.random.random_bool(0.3) {
            let event = self.random.random_range(0..self.events.len());
            self.wait_on_stream(then, event);
        } else if first != then {
            self.join_streams(first, then);
        }
    }

    fn overwrite(&mut self, block: usize) {
        let mut bytes = vec![0; self.blocks[block].model.len()];
        self.random.fill_bytes(&mut bytes);
        make::write(self.blocks[block].at, &bytes);
        self.blocks[block].model = bytes;
    }

    /// The program reads or writes a block itself, when it knows that nobody else does.
    fn touch_by_hand(&mut self) {
        let block = self.some_block(None);
        let write = self.random.random_bool(0.5);
        let before = if write {
            self.blocks[block].before_write()
        } else {
            self.blocks[block].before_read()
        };
        self.wait_for(&before);
        let place = self.blocks[block].place;
        match (place, write) {
            (Place::Pinned, true) => self.overwrite(block),
            (Place::Device, true) => {
                let part = self.blocks[block].part(&mut self.random, usize::MAX);
                let mut bytes = vec![0; part.len()];
                self.random.fill_bytes(&mut bytes);
                make::upload(self.blocks[block].address(part.start), &bytes);
                self.blocks[block].model[part].copy_from_slice(&bytes);
            }
            (_, false) => {
                let block = &self.blocks[block];
                let got = match place {
                    Place::Device => make::download(block.at, block.model.len()),
                    Place::Pinned => make::read(block.at, block.model.len()),
                };
                if let Some(text) = make::difference(&got, &block.model) {
                    trouble::note(self.here(&format!("bytes of a block ({place:?}): {text}")));
                }
            }
        }
    }

    fn look_at_events(&mut self) {
        let count = self.events.len();
        let (a, b) = (
            self.random.random_range(0..count),
            self.random.random_range(0..count),
        );
        self.check_status(a);
        let (Some((first, _)), Some((then, clock))) =
            (&self.events[a].record, &self.events[b].record)
        else {
            return;
        };
        if self.known.covers(*first) && self.known.covers(*then) && clock.covers(*first) {
            let mut ms = f32::NAN;
            let (start, end) = (self.events[a].handle, self.events[b].handle);
            let code = aclrtEventElapsedTime(&raw mut ms, start, end);
            ok(code, &self.here("aclrtEventElapsedTime"));
            trouble::unless(ms >= 0.0, || {
                self.here(&format!(
                    "{ms} ms from event {a} to event {b}, which is later"
                ))
            });
        }
    }

    /// Resets an event that nobody waits for any more.
    fn reset_event(&mut self) {
        let slot = self.some_stream();
        let clock = self.clock_of(slot);
        let event = self.random.random_range(0..self.events.len());
        if self.events[event].ex || !self.events[event].is_unused_after(&clock) {
            return;
        }
        let handle = self.events[event].handle;
        let task = self.submit(slot, "aclrtResetEvent", |_, stream| {
            aclrtResetEvent(handle, stream)
        });
        let event = &mut self.events[event];
        event.record = None;
        event.reset = Some(task);
        event.users.push(task);
    }

    fn new_event(&mut self) {
        let event = self.random.random_range(0..self.events.len());
        let ex = self.random.random_bool(0.5);
        let new = super::marks::Event::new(ex);
        std::mem::replace(&mut self.events[event], new).destroy();
    }

    fn replace_some_stream(&mut self) {
        let slot = self.some_stream();
        self.replace_stream(slot);
    }

    fn some_wait(&mut self) {
        let slot = self.some_stream();
        match self.random.random_range(0..3) {
            0 => self.ask_until_idle(slot),
            1 => {
                let event = self.record_some_event(slot);
                self.wait_for_event(event);
            }
            _ => self.wait_for_stream(slot),
        }
    }
}

/// aclrtMemcpyBatchAsync between the host and the device.
fn batch(
    mut targets: Vec<*mut c_void>,
    mut sources: Vec<*mut c_void>,
    mut sizes: Vec<usize>,
    up: bool,
    stream: aclrtStream,
) -> aclError {
    let location = |device| aclrtMemLocation {
        id: 0,
        r#type: if device {
            ACL_MEM_LOCATION_TYPE_DEVICE
        } else {
            ACL_MEM_LOCATION_TYPE_HOST
        },
    };
    let mut attributes = [aclrtMemcpyBatchAttr {
        dstLoc: location(up),
        srcLoc: location(!up),
        rsv: [0; 16],
    }];
    let mut rooms = sizes.clone();
    let mut indexes = [0];
    let mut fail = 0;
    aclrtMemcpyBatchAsync(
        targets.as_mut_ptr(),
        rooms.as_mut_ptr(),
        sources.as_mut_ptr(),
        sizes.as_mut_ptr(),
        sizes.len(),
        attributes.as_mut_ptr(),
        indexes.as_mut_ptr(),
        1,
        &raw mut fail,
        stream,
    )
}
