//! The command line: subcommands, options, and the help that teaches them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cannery_knowledge::Language;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  cannery run -- ./my_program --its-own options
  cannery run --profile 310P --devices 2 -- python3 train.py
  cannery run --schedule random --seeds 100 -- ./my_program
  cannery info --profile Ascend910B4
  cannery explain 107002               # a code, a name, a function, a whole text
  cannery doctor                       # what will fail on this machine, and why
  cannery smi                          # who uses the cards, and how much
  eval \"$(cannery env --hbm 8G)\"        # the same for a whole shell
  cannery install ~/ascend             # a copy of the toolkit elsewhere

Exit codes:
  the program's own; 127 when it was not found, 126 when it cannot be executed;
  2 when cannery itself refuses (wrong usage, a setting with a bad value);
  1 when explain knows nothing, and when doctor finds something that will fail.
  With --seeds: 0 when all seeds passed, else the code of the failing run (128+N
  for signal N, 124 when its time ran out); 130 and 143 after SIGINT and SIGTERM.";

const RUN_EXAMPLES: &str = "\
Examples:
  cannery run -- ./my_program                 one Ascend910B3 with 64 GiB
  cannery run --devices 8 -- ./all_reduce     eight of them
  cannery run --profile 310B --mode rc -- ./edge_app
  cannery run --hbm 64M --huge 8M -- python3 oom.py
  cannery run --quiet --log debug -- pytest   no banner, all logs
  cannery run --schedule random:7 -- ./prog   queued work in the order of seed 7
  cannery run --schedule random --seeds 100 --timeout 60 -- ./prog

The program replaces cannery: signals, standard streams and the exit code are
its own. Options after the program's name belong to the program.

With --seeds the program runs once for each seed, several at a time, without
input. What passing runs print is discarded. The first failing seed (exit code
not 0, a signal, or out of time) ends it: its output is shown, and the command
that replays it.";

const ENV_EXAMPLES: &str = "\
Examples:
  eval \"$(cannery env)\"                       this shell, default device
  cannery env --profile 310P > npu.sh; . ./npu.sh";

const INFO_EXAMPLES: &str = "\
Examples:
  cannery info                     what a program would get in this shell
  cannery info --profile A3        what it would get on that product
  cannery info --json | jq .capacity_bytes";

const SMI_EXAMPLES: &str = "\
Examples:
  cannery smi                      all cards in use, and the one of these settings
  cannery smi --watch 2            again every two seconds, until Ctrl-C
  cannery smi --json | jq '.machines[0].devices[0].free_bytes'

Sizes are MiB, rounded up; with --json they are exact bytes. Processes of one
user with the same product and memory size share the cards (CANNERY_RUNTIME_DIR).";

const INSTALL_EXAMPLES: &str = "\
Examples:
  cannery install ~/ascend && . ~/ascend/set_env.sh
  cannery install --force /opt/ascend    also into a directory with other files

The copy is relocatable: move it, or bake it into a container image. Files of
an older cannery in DIR are replaced; files of others are never removed.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  cannery explain 107002                      a return code
  cannery explain CONTEXT_NULL                its name, whole or without ACL_ERROR_RT_
  cannery explain EE1018                      the code at the head of a text
  cannery explain aclrtMemcpyAsync            a function: rules, products, codes
  cannery explain acl.rt.malloc               by its name in Python
  cannery explain \"$(tail -1 error.log)\"     every code and function of a text
  cannery explain --lang zh 207001            in Chinese (CANNERY_LANG=zh, or the locale)
  cannery explain --json 207001 | jq '.results[0].remedy'

Nothing is looked up on the network. Rules of functions are in English only.

Exit codes:
  0 explained; 1 nothing is known by that name (names that look alike are offered);
  2 wrong usage.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  cannery doctor                     this shell and this machine
  cannery doctor ./my_program        also which libascendcl.so that program loads, and why
  cannery doctor --hbm 8G --pin strict
  cannery doctor --json | jq '.checks[] | select(.status == \"fail\")'

Each line is ok, note (good to know), warn (works, but not as asked) or fail.

Exit codes:
  0 nothing will fail; 1 something will; 2 wrong usage.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  cannery completions bash > ~/.local/share/bash-completion/completions/cannery
  cannery completions zsh > ~/.zfunc/_cannery       (with ~/.zfunc in fpath)
  cannery completions fish > ~/.config/fish/completions/cannery.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  cannery man | man -l -              read it
  cannery man --dir ~/.local/share/man/man1

A toolkit has the pages in share/man already: `man cannery` finds them when the
toolkit's bin is in PATH.";

/// Runs AscendCL programs on an emulated NPU: no card, no driver, no root.
#[derive(Debug, Parser)]
#[command(name = "cannery", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program on the emulated NPU
    Run(RunOptions),
    /// Print the environment of `run` as `export` lines for a shell
    Env(EnvOptions),
    /// Show the emulated device, its limits, and where each setting comes from
    Info(InfoOptions),
    /// Show the cards, their memory in use, and the processes on them
    Smi(SmiOptions),
    /// Tell what a code, a function or an error text means, and what to do
    Explain(ExplainOptions),
    /// Find out what will fail on this machine, and how to mend it
    Doctor(DoctorOptions),
    /// Copy this toolkit (headers, libraries, Python module, tool) to DIR
    Install(InstallOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Print the manual page, or write all of them
    Man(ManOptions),
    /// Walk through the library once (as `__report`; `cannery doctor` asks)
    #[command(name = "__walk", hide = true)]
    Walk,
    /// Print the library's report (the tool calls itself for it, so that the
    /// library is never loaded into a process that goes on to do something else)
    #[command(name = "__report", hide = true)]
    Report,
    /// Print what the library knows about the cards (as `__report`)
    #[command(name = "__cards", hide = true)]
    Cards,
}

/// Options of `cannery run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunOptions {
    /// Leave out the line that tells which device is emulated
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions,

    #[command(flatten)]
    pub(crate) seeds: SeedOptions,

    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "PROGRAM",
        help_heading = "Arguments"
    )]
    pub(crate) program: Vec<OsString>,
}

/// Options of `cannery env`.
#[derive(Debug, Args)]
#[command(after_help = ENV_EXAMPLES)]
pub(crate) struct EnvOptions {
    #[command(flatten)]
    pub(crate) settings: SettingOptions,
}

/// Options of `cannery info`.
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoOptions {
    /// Print JSON: sizes in bytes, unknown facts as null
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions,
}

/// Options of `cannery smi`.
#[derive(Debug, Args)]
#[command(after_help = SMI_EXAMPLES)]
pub(crate) struct SmiOptions {
    /// Print JSON: sizes in bytes, unknown facts as null; with --watch one line each time
    #[arg(long)]
    pub(crate) json: bool,

    /// Show it again and again, with a pause of so many seconds (1 unless given)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = seconds)]
    pub(crate) watch: Option<Duration>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions,
}

/// Options of `cannery install`.
#[derive(Debug, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct InstallOptions {
    /// Where to; created when missing
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Also into a directory that holds files of others (they stay)
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options of `cannery explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainOptions {
    /// Print JSON: {query, language, results, suggestions}
    #[arg(long)]
    pub(crate) json: bool,

    /// Language: en or zh (CANNERY_LANG, else the locale)
    #[arg(long = "lang", value_name = "en|zh", value_parser = language)]
    pub(crate) language: Option<Language>,

    /// A return code, its name, a message code, a function, or a whole text
    #[arg(required = true, value_name = "CODE|NAME|FUNCTION|TEXT")]
    pub(crate) query: Vec<String>,
}

/// A language of the table.
fn language(name: &str) -> Result<Language, String> {
    Language::of(name).ok_or_else(|| "choose en or zh".to_owned())
}

/// Options of `cannery doctor`.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorOptions {
    /// Print JSON: {ok, checks: [{name, status, found, why, remedy}]}
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions,

    /// A program to look into as well (its RPATH and RUNPATH)
    #[arg(value_name = "PROGRAM", help_heading = "Arguments")]
    pub(crate) program: Option<PathBuf>,
}

/// Options of `cannery completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Options of `cannery man`.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManOptions {
    /// Write cannery.1 and a page for each subcommand into this directory
    #[arg(long = "dir", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Many runs of one program, each with another order of queued work.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many seeds (with --schedule random)")]
pub(crate) struct SeedOptions {
    /// Run the program once for each of N seeds
    #[arg(long = "seeds", value_name = "N", requires = "schedule",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// The first of the seeds
    #[arg(
        long = "first-seed",
        value_name = "K",
        requires = "count",
        default_value_t = 0
    )]
    pub(crate) first: u64,

    /// Runs at a time; the number of cores unless given
    #[arg(long, value_name = "J", requires = "count",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Time for each run; one that takes longer is ended and has failed
    #[arg(long, value_name = "SECONDS", requires = "count", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

/// A time as a number of seconds above 0, such as 60 or 0.5.
fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "must be a number of seconds above 0, such as 60 or 0.5".to_owned())
}

/// One option for each setting. The values are judged by the library.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings (each also an environment variable)")]
pub(crate) struct SettingOptions {
    /// Number of devices, 1 to 16 (CANNERY_DEVICES)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    devices: Option<String>,

    /// Product (910, 310P, 310B, 910B, A3, 950, IPV350) or SoC name
    /// (Ascend910B4, Ascend310P3, ...) (CANNERY_PROFILE)
    #[arg(long, value_name = "P")]
    profile: Option<String>,

    /// ep: a card with its own memory; rc: host and device share memory
    /// (CANNERY_MODE)
    #[arg(long, value_name = "ep|rc")]
    mode: Option<String>,

    /// Memory of each device, such as 512M or 8G (CANNERY_HBM_BYTES)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    hbm: Option<String>,

    /// The part of it that is 2 MiB pages (CANNERY_HUGE_BYTES)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    huge: Option<String>,

    /// The part of it that is kept for 1 GiB pages (CANNERY_HUGE1G_BYTES)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    huge1g: Option<String>,

    /// Memory that the program may use on each device (CANNERY_QUOTA)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    quota: Option<String>,

    /// Lock host memory: when the limit allows, always, or never
    /// (CANNERY_PIN)
    #[arg(long, value_name = "auto|strict|off")]
    pin: Option<String>,

    /// When queued work runs: fifo, eager, lazy, random:SEED, or random with
    /// --seeds (CANNERY_SCHEDULE)
    #[arg(long, value_name = "S")]
    schedule: Option<String>,

    /// Refuse what this release of the interface lacks
    /// (CANNERY_API_VERSION)
    #[arg(long, value_name = "V")]
    api_version: Option<String>,

    /// Limits, such as lock=64K,media=1G,registration=4G,page-table-entries=1000 (CANNERY_LIMITS)
    #[arg(long, value_name = "K=V,..")]
    limits: Option<String>,

    /// Log level of the library (CANNERY_LOG)
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

/// A setting given as an option: its two names and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GivenSetting<'a> {
    pub(crate) option: &'static str,
    pub(crate) variable: &'static str,
    pub(crate) value: &'a str,
}

impl SettingOptions {
    /// The schedule given on the command line.
    pub(crate) fn schedule(&self) -> Option<&str> {
        self.schedule.as_deref()
    }

    /// The same settings with another schedule.
    pub(crate) fn with_schedule(&self, schedule: String) -> Self {
        Self {
            schedule: Some(schedule),
            ..self.clone()
        }
    }

    /// The settings given on the command line.
    pub(crate) fn given(&self) -> Vec<GivenSetting<'_>> {
        let all = [
            ("--devices", "CANNERY_DEVICES", &self.devices),
            ("--profile", "CANNERY_PROFILE", &self.profile),
            ("--mode", "CANNERY_MODE", &self.mode),
            ("--hbm", "CANNERY_HBM_BYTES", &self.hbm),
            ("--huge", "CANNERY_HUGE_BYTES", &self.huge),
            ("--huge1g", "CANNERY_HUGE1G_BYTES", &self.huge1g),
            ("--quota", "CANNERY_QUOTA", &self.quota),
            ("--pin", "CANNERY_PIN", &self.pin),
            ("--schedule", "CANNERY_SCHEDULE", &self.schedule),
            ("--api-version", "CANNERY_API_VERSION", &self.api_version),
            ("--limits", "CANNERY_LIMITS", &self.limits),
            ("--log", "CANNERY_LOG", &self.log),
        ];
        all.into_iter()
            .filter_map(|(option, variable, value)| {
                value.as_deref().map(|value| GivenSetting {
                    option,
                    variable,
                    value,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn run_options(line: &[&str]) -> RunOptions {
        match Arguments::try_parse_from(line).map(|a| a.command) {
            Ok(Command::Run(options)) => options,
            other => panic!("not a run command: {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_after_the_program_belong_to_the_program() {
        let options = run_options(&["cannery", "run", "--devices", "2", "prog", "--devices", "9"]);
        assert_eq!(options.program, ["prog", "--devices", "9"]);
        let given = options.settings.given();
        assert_eq!(given.len(), 1);
        assert_eq!(
            (given[0].variable, given[0].value),
            ("CANNERY_DEVICES", "2")
        );
    }

    #[test]
    fn a_double_dash_separates_and_later_ones_are_kept() {
        let options = run_options(&["cannery", "run", "--", "prog", "--", "-x"]);
        assert_eq!(options.program, ["prog", "--", "-x"]);
    }

    #[test]
    fn a_misspelt_option_is_refused_not_run() {
        let line = ["cannery", "run", "--devces", "2", "prog"];
        assert!(Arguments::try_parse_from(line).is_err());
    }

    #[test]
    fn an_odd_value_is_left_to_the_library() {
        let options = run_options(&["cannery", "run", "--devices", "-1", "--hbm", "lots", "p"]);
        let values: Vec<_> = options.settings.given().iter().map(|g| g.value).collect();
        assert_eq!(values, ["-1", "lots"]);
    }

    #[test]
    fn seeds_have_their_own_options() {
        let line =
            "cannery run --schedule random --seeds 9 --first-seed 4 --jobs 2 --timeout 0.5 p";
        let options = run_options(&line.split(' ').collect::<Vec<_>>());
        let seeds = options.seeds;
        assert_eq!(
            (seeds.count, seeds.first, seeds.jobs),
            (Some(9), 4, Some(2))
        );
        assert_eq!(seeds.timeout, Some(Duration::from_millis(500)));
        let plain = run_options(&["cannery", "run", "p"]).seeds;
        assert_eq!((plain.count, plain.first), (None, 0));
    }

    #[test]
    fn seed_options_without_seeds_and_odd_values_are_refused() {
        for line in [
            "--seeds 5",
            "--schedule random --jobs 2",
            "--schedule random --first-seed 2",
            "--schedule random --timeout 2",
            "--schedule random --seeds 0",
            "--schedule random --seeds -1",
            "--schedule random --seeds many",
            "--schedule random --seeds 2 --jobs 0",
            "--schedule random --seeds 2 --timeout 0",
            "--schedule random --seeds 2 --timeout=-1",
            "--schedule random --seeds 2 --timeout nan",
            "--schedule random --seeds 2 --timeout inf",
        ] {
            let words = ["cannery", "run"].into_iter().chain(line.split(' '));
            let refused = Arguments::try_parse_from(words.chain(["p"]));
            assert!(refused.is_err(), "{line}");
        }
    }

    #[test]
    fn every_setting_has_an_option_named_in_its_help() {
        let mut command = Arguments::command();
        let help = command
            .find_subcommand_mut("run")
            .expect("run exists")
            .render_long_help()
            .to_string();
        let line = [
            "cannery",
            "run",
            "--devices",
            "a",
            "--profile",
            "b",
            "--mode",
            "c",
            "--hbm",
            "d",
            "--huge",
            "e",
            "--huge1g",
            "f",
            "--pin",
            "g",
            "--schedule",
            "h",
            "--api-version",
            "i",
            "--limits",
            "j",
            "--log",
            "k",
            "prog",
        ];
        let options = run_options(&line);
        let given = options.settings.given();
        assert_eq!(given.len(), 11);
        for setting in given {
            assert!(
                help.contains(setting.option),
                "{} in the help",
                setting.option
            );
            assert!(
                help.contains(setting.variable),
                "{} in the help",
                setting.variable
            );
        }
    }
}
