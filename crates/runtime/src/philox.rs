//! Philox-4x32-10: random words from a key and a counter, without a state. The generator of Salmon,
//! Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011).

const ROUNDS: u32 = 10;
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The four words of one block. The least significant words of key and counter come first.
#[inline]
pub(crate) fn block(key: u64, counter: u128) -> [u32; 4] {
    let mut key = [key as u32, (key >> 32) as u32];
    let mut words: [u32; 4] = std::array::from_fn(|i| (counter >> (32 * i)) as u32);
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
        }
        let first = u64::from(MULTIPLIERS[0]) * u64::from(words[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(words[2]);
        words = [
            (second >> 32) as u32 ^ words[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ words[3] ^ key[1],
            first as u32,
        ];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::block;

    /// The known answers that the authors publish with their generator.
    #[test]
    fn known_answers() {
        assert_eq!(
            block(0, 0),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            block(u64::MAX, u128::MAX),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            block(
                0x299f_31d0_a409_3822,
                0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
