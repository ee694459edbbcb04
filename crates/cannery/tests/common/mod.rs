//! What the tests share. They need a prefix: CANNERY_PREFIX names it (`make test` does).
#![allow(dead_code)] // each test program uses a part

use std::sync::Arc;

use cannery::{Context, Device, Library};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// The emulator's library.
pub(crate) fn library() -> Library {
    Library::find()
        .expect("CANNERY_PREFIX names a built prefix: run `make test`, or `make build` first")
}

/// Device 0.
pub(crate) fn device() -> Device {
    Device::new(library(), 0).expect("there is a device 0")
}

/// A context of its own.
pub(crate) fn context() -> Arc<Context> {
    device().new_context().expect("a context can be created")
}

/// Numbers that a seed gives.
pub(crate) fn random(count: usize, seed: u64) -> Vec<u32> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..count).map(|_| rng.random()).collect()
}
