//! The device that a seed runs on: a product, its facts, and how its memory is divided.
//!
//! The facts are written down here a second time, from the product table of the contract, so that
//! a wrong profile in the runtime is noticed.

use std::collections::HashSet;

use crate::source::Source;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const FUNCTIONS: &str = include_str!("../../../spec/functions.jsonl");

/// A product under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Product {
    /// Atlas A2.
    A910B,
    /// Ascend 950.
    A950,
    /// Atlas inference series.
    A310P,
}

impl Product {
    fn setting(self) -> &'static str {
        match self {
            Self::A910B => "910B",
            Self::A950 => "950",
            Self::A310P => "310P",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Self::A910B => "910b",
            Self::A950 => "950",
            Self::A310P => "310p",
        }
    }
}

/// Everything that the model needs to know about the emulated machine.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) product: Product,
    /// Host and device are one memory.
    pub(crate) rc: bool,
    pub(crate) devices: usize,
    /// Bytes of a device.
    pub(crate) capacity: u64,
    /// Of these, in 2 MiB pages (the giant part included).
    pub(crate) huge: u64,
    /// Of these, kept for 1 GiB pages.
    pub(crate) giant: u64,
    /// Most bytes of media memory of the process.
    pub(crate) media_limit: u64,
    /// Where the window of the devices was put by hand.
    window: Option<u64>,
    pin: &'static str,
    lacking: HashSet<String>,
}

impl Config {
    /// The machine of a seed. Consecutive seeds take the products in turn.
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut source = Source::seeded(seed ^ 0x5eed_c0f1);
        let (product, rc) = [
            (Product::A910B, false),
            (Product::A950, false),
            (Product::A310P, true),
            (Product::A310P, false),
        ][(seed % 4) as usize];
        let roomy = product != Product::A310P && source.once_in(4);
        let (capacity, huge, giant) = if roomy {
            let capacity = 4 * GIB + source.pick(&[64, 96]) * MIB;
            let giant = source.pick(&[0, GIB, 2 * GIB]);
            (capacity, 4 * GIB, giant)
        } else {
            let capacity = source.pick(&[64, 96, 128, 200, 256]) * MIB;
            let huge = source.pick(&[
                0,
                8 * MIB,
                capacity / 4,
                capacity / 2,
                capacity * 3 / 4,
                capacity,
            ]);
            (capacity, huge / (2 * MIB) * (2 * MIB), 0)
        };
        let media_limit = if source.once_in(2) {
            source.pick(&[8, 16, 32, 64]) * MIB
        } else {
            16 * GIB
        };
        Self {
            product,
            rc,
            devices: source.pick(&[2, 2, 2, 1, 3]),
            capacity,
            huge,
            giant,
            media_limit,
            window: source.pick(&[None, None, Some(0x2000_0000_0000), Some(0x4000_0000_0000)]),
            pin: source.pick(&["auto", "off"]),
            lacking: lacking(product),
        }
    }

    /// The settings that make the emulator such a machine.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let mode = if self.rc { "rc" } else { "ep" };
        let mut settings = vec![
            ("CANNERY_PROFILE", self.product.setting().to_owned()),
            ("CANNERY_MODE", mode.to_owned()),
            ("CANNERY_DEVICES", self.devices.to_string()),
            ("CANNERY_HBM_BYTES", self.capacity.to_string()),
            ("CANNERY_HUGE_BYTES", self.huge.to_string()),
            ("CANNERY_PIN", self.pin.to_owned()),
            ("CANNERY_LOG", "error".to_owned()),
        ];
        if self.giant > 0 {
            settings.push(("CANNERY_HUGE1G_BYTES", self.giant.to_string()));
        }
        if let Some(window) = self.window {
            settings.push(("CANNERY_WINDOW", format!("{window:#x}")));
        }
        if self.media_limit < 16 * GIB {
            settings.push(("CANNERY_LIMITS", format!("media={}", self.media_limit)));
        }
        settings
    }

    /// The addresses of the window.
    pub(crate) fn window(&self) -> std::ops::Range<u64> {
        let base = self.window.unwrap_or(16 << 40);
        base..base + (16 << 40)
    }

    /// The addresses of a device.
    pub(crate) fn addresses(&self, device: usize) -> std::ops::Range<u64> {
        let first = self.window.unwrap_or(0x12c0_0000_0000);
        let base = first + device as u64 * (256 * GIB);
        base..base + 256 * GIB
    }

    /// Whether the product has a function.
    pub(crate) fn has(&self, function: &str) -> bool {
        !self.lacking.contains(function)
    }

    /// What aclrtMalloc and aclrtMallocCached add after rounding up to 32.
    pub(crate) fn tail(&self) -> u64 {
        if self.product == Product::A950 { 0 } else { 32 }
    }

    /// Whether 1 GiB pages exist.
    pub(crate) fn has_giant_pages(&self) -> bool {
        self.product != Product::A310P
    }

    /// Whether the device memory is DDR (else HBM).
    pub(crate) fn is_ddr(&self) -> bool {
        self.product == Product::A310P
    }

    /// Whether media memory is ordinary device memory for aclrtCheckMemType.
    pub(crate) fn media_is_ordinary(&self) -> bool {
        self.product == Product::A950
    }

    /// Whether the same-address flag of host memory exists.
    pub(crate) fn has_same_address(&self) -> bool {
        self.product == Product::A910B
    }
}

/// Names of the functions that a product lacks.
fn lacking(product: Product) -> HashSet<String> {
    let lines = FUNCTIONS.lines().filter(|line| !line.trim().is_empty());
    lines
        .filter_map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("spec is JSON");
            let name = value["name"].as_str().expect("a function has a name");
            (value["products"][product.column()].as_bool() == Some(false)).then(|| name.to_owned())
        })
        .collect()
}
