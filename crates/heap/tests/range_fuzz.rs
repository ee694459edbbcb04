//! The fuzzers' entry to the range heap. Under `cargo test` it plays a bounded
//! number of random inputs; under `cargo bolero test range_heap` (libFuzzer, AFL,
//! honggfuzz) the same harness is guided by coverage.

mod support;

use support::{Pair, Step};

#[test]
fn range_heap() {
    bolero::check!()
        .with_iterations(20_000)
        .with_max_len(1_024)
        .with_type::<(u16, Vec<Step>)>()
        .for_each(|(space, steps)| {
            let mut pair = Pair::<1>::new(u64::from(*space));
            for step in steps {
                pair.play(step);
            }
            pair.compare();
            pair.finish();
        });
}
