//! Memory of several real processes under test, through the C interface.
//!
//! A **plot** is one story, told by processes of its own: this program starts itself for each, and
//! the plot starts **peers**. A plot fails when a code or a byte is not what the contract demands,
//! when something is left behind, when a process crashes, or when it is still running after its
//! limit. The last line is `N passed, N failed`; the exit code is 0 when nothing failed.
//!
//!     cannery-sharing-test [PLOT ...]
//!
//! The library is looked for in `$CANNERY_PREFIX`, else in `target/prefix`.
#![allow(unsafe_code)] // Calls the C interface, and forks.
#![allow(clippy::print_stdout)] // A command-line tool.

mod blocks;
mod deaths;
mod expect;
mod handles;
mod hostile;
mod lists;
mod memory;
mod peer;
mod rounds;
mod runner;
mod system;

use std::process::ExitCode;

use cannery_test_calls::{api, process, trouble};

/// The plot that needs another product.
pub(crate) const FABRIC: &str = "fabric-handles";

/// Every plot, by its name.
const PLOTS: &[(&str, fn())] = &[
    ("white-list", lists::white_list),
    ("forked-importer", lists::forked_importer),
    ("other-user", lists::other_user),
    ("contents", blocks::contents),
    ("writes-meanwhile", blocks::writes_meanwhile),
    ("release", blocks::release),
    ("reset", blocks::reset),
    ("two-devices", blocks::two_devices),
    ("importer-dies", deaths::importer_dies),
    ("exporter-dies", deaths::exporter_dies),
    ("exporter-ends", deaths::exporter_ends),
    ("exporter-stops", deaths::exporter_stops),
    ("child-stays", deaths::child_stays),
    ("eight-importers", rounds::eight_importers),
    ("many-rounds", rounds::many),
    ("threads", rounds::threads),
    ("handle-list", handles::white_list),
    ("handle-contents", handles::contents),
    ("handle-writes-meanwhile", handles::writes_meanwhile),
    ("handle-deaths", handles::deaths),
    ("handle-rounds", handles::many),
    (FABRIC, handles::fabric),
    ("strangers", hostile::strangers),
    ("inherited-connection", hostile::inherited_connection),
    ("taken-name", hostile::taken_name),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--play", name] => play(name),
        ref names => {
            let unknown = |name: &&&str| PLOTS.iter().all(|(known, _)| *known != **name);
            if let Some(name) = names.iter().find(unknown) {
                eprintln!("no plot {name}; there are:");
                PLOTS.iter().for_each(|(name, _)| eprintln!("  {name}"));
                return ExitCode::from(2);
            }
            let plots = PLOTS.iter().map(|(name, _)| *name);
            runner::run(
                &plots
                    .filter(|name| names.is_empty() || names.contains(name))
                    .collect::<Vec<_>>(),
            )
        }
    }
}

/// Plays one plot in this process.
fn play(name: &str) -> ExitCode {
    if let Err(error) = api::open(&process::prefix()) {
        eprintln!("cannot open the library: {error}");
        return ExitCode::from(2);
    }
    api::ok(api::aclInit(std::ptr::null()), "aclInit");
    match PLOTS.iter().find(|(known, _)| *known == name) {
        Some((_, plot)) => {
            api::ok(api::aclrtSetDevice(0), "aclrtSetDevice");
            plot();
        }
        None => peer::serve(),
    }
    let notes = trouble::taken();
    for note in &notes {
        eprintln!("{note}");
    }
    ExitCode::from(u8::from(!notes.is_empty()))
}
