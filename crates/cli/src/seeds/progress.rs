//! The progress bar, where somebody looks.

use cannery_knowledge::Language;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::language::language;

const TEMPLATE: &str = "cannery: [{bar:20}] {pos} of {len} passed, {elapsed}, {wide_msg}";
const CHINESE_TEMPLATE: &str = "cannery: [{bar:20}] 已通过 {pos}/{len}，{elapsed}，{wide_msg}";

/// A bar on standard error when that is a terminal; else nothing.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many seeds; never shown unless `wanted`.
    pub(super) fn new(count: u64, wanted: bool) -> Self {
        let target = if wanted {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(count), target);
        let template = match language() {
            Language::English => TEMPLATE,
            Language::Chinese => CHINESE_TEMPLATE,
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self { bar }
    }

    /// Whether there is a terminal to show it.
    pub(super) fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Shows how many have passed, and a text.
    pub(super) fn show(&self, passed: u64, text: String) {
        self.bar.set_message(text);
        self.bar.set_position(passed);
        self.bar.tick();
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
