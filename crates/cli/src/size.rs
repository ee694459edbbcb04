//! Sizes for people.

/// A size in the largest unit that keeps it at or above 1: exact when it is a
/// whole number of that unit, else with two decimals.
pub(crate) fn readable(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in UNITS {
        let whole = bytes >> shift;
        if whole > 0 {
            if whole << shift == bytes {
                return format!("{whole} {unit}");
            }
            // Two decimals of a number below 1024 lose nothing that is shown.
            #[allow(clippy::cast_precision_loss)]
            return format!("{:.2} {unit}", bytes as f64 / (1_u64 << shift) as f64);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.50 KiB"),
            (2 << 20, "2 MiB"),
            (64 << 30, "64 GiB"),
            (24_000_000_000, "22.35 GiB"),
            (16 << 40, "16 TiB"),
        ] {
            assert_eq!(readable(bytes), text);
        }
    }
}
