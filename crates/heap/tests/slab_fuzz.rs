//! The fuzzers' entry to the slabs. Under `cargo test` it plays a bounded number of random inputs;
//! under `cargo bolero test slabs` (libFuzzer, AFL, honggfuzz) the same harness is guided by
//! coverage.

mod slab_support;

use slab_support::{Pair, Step, Storage};

#[test]
fn slabs() {
    bolero::check!()
        .with_iterations(4_000)
        .with_max_len(1_024)
        .with_type::<(u8, Vec<Step>)>()
        .for_each(|(slices, steps)| {
            let storage = Storage::new(usize::from(*slices % 64) + 1);
            let mut pair = Pair::new(&storage);
            for step in steps {
                pair.play(step);
            }
            pair.compare();
            pair.finish();
        });
}
