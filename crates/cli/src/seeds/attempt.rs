//! One run of the program: a process, the group that it leads, its output.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::capture::Capture;
use super::ending::Ending;
use super::system::{self, ProcessId, Signals};

/// Time between asking a run to end and killing it.
const GRACE: Duration = Duration::from_secs(1);

/// What all runs of one command have in common.
pub(super) struct Launch<'a> {
    pub(super) program: &'a OsStr,
    pub(super) arguments: &'a [OsString],
    pub(super) variables: Vec<(String, OsString)>,
    pub(super) timeout: Option<Duration>,
}

/// A run that goes on. Dropping it ends it and all processes of its group.
pub(super) struct Attempt {
    seed: u64,
    group: Group,
    output: Capture,
    errors: Capture,
    limit: Option<(Instant, Duration)>,
    late: Option<Duration>,
    kill_at: Option<Instant>,
    /// Goes last, when nobody is left in it.
    _place: Option<Place>,
}

/// A run that is over.
pub(super) struct Finished {
    pub(super) seed: u64,
    pub(super) ending: Ending,
    pub(super) output: Capture,
    pub(super) errors: Capture,
}

impl Attempt {
    /// Starts the program with the schedule of this seed.
    ///
    /// # Errors
    ///
    /// The system cannot execute it, or has no process or pipe left.
    pub(super) fn start(launch: &Launch<'_>, signals: &Signals, seed: u64) -> io::Result<Self> {
        let mut command = Command::new(launch.program);
        command
            .args(launch.arguments)
            .envs(launch.variables.iter().map(|(name, value)| (name, value)))
            .env("CANNERY_SCHEDULE", schedule(seed))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let place = Place::new(seed);
        if let Some(Place(path)) = &place {
            command.env(Place::VARIABLE, path);
        }
        system::tie(&mut command, signals);
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let group = Group {
            leader: child,
            is_reaped: false,
        };
        let (Some(output), Some(errors)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let began = Instant::now();
        // A time too long to count with is no limit.
        let limit = launch
            .timeout
            .and_then(|time| began.checked_add(time).map(|end| (end, time)));
        Ok(Self {
            seed,
            group,
            output: Capture::new(output.into())?,
            errors: Capture::new(errors.into())?,
            limit,
            late: None,
            kill_at: None,
            _place: place,
        })
    }

    /// The seed that it runs.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// The id of its first process.
    pub(super) fn id(&self) -> ProcessId {
        self.group.id()
    }

    /// The pipes to wait for.
    pub(super) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [&self.output, &self.errors]
            .into_iter()
            .filter_map(Capture::pipe)
    }

    /// Takes what was printed.
    pub(super) fn read(&mut self) {
        self.output.read();
        self.errors.read();
    }

    /// When [`Attempt::mind_the_time`] has something to do next.
    pub(super) fn next_moment(&self) -> Option<Instant> {
        self.kill_at.or(self.limit.map(|(end, _)| end))
    }

    /// Ends the run when its time is over.
    pub(super) fn mind_the_time(&mut self, now: Instant) {
        if self.kill_at.is_some_and(|moment| now >= moment) {
            self.group.signal(libc::SIGKILL);
            self.kill_at = None;
        }
        if let Some((_, time)) = self.limit.filter(|&(end, _)| now >= end) {
            self.late = Some(time);
            self.ask_to_end(now);
        }
    }

    /// Asks all its processes to end, and kills them soon after.
    pub(super) fn ask_to_end(&mut self, now: Instant) {
        self.group.signal(libc::SIGTERM);
        self.limit = None;
        self.kill_at = Some(now + GRACE);
    }

    /// Kills all its processes now.
    pub(super) fn kill(&mut self) {
        self.group.signal(libc::SIGKILL);
        self.limit = None;
        self.kill_at = None;
    }

    /// Takes the result of a run whose first process has ended, and ends the
    /// processes that it left in its group.
    ///
    /// # Errors
    ///
    /// The system does not tell how it ended.
    pub(super) fn finish(mut self) -> io::Result<Finished> {
        let status = self.group.end()?;
        // All that it printed is in the pipes. Their end is not waited for: a
        // process that left the group may hold them open.
        self.read();
        let ending = match self.late {
            Some(time) => Ending::OutOfTime(time),
            None => Ending::of(status),
        };
        Ok(Finished {
            seed: self.seed,
            ending,
            output: self.output,
            errors: self.errors,
        })
    }
}

/// The runtime directory of a run, so that runs beside each other do not share a
/// card: what one finds free must not depend on the others. Removed with it.
struct Place(PathBuf);

impl Place {
    const VARIABLE: &str = "CANNERY_RUNTIME_DIR";

    /// `None` where the user chose one.
    fn new(seed: u64) -> Option<Self> {
        let chosen = env::var_os(Self::VARIABLE).is_some_and(|path| !path.is_empty());
        let name = format!("cannery-seeds-{}-{seed}", std::process::id());
        // The library makes it when it needs it.
        (!chosen).then(|| Self(env::temp_dir().join(name)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The processes of a run: the one that was started, and the group that it leads.
struct Group {
    leader: Child,
    is_reaped: bool,
}

impl Group {
    fn id(&self) -> ProcessId {
        // Ids of processes fit: the library has them as unsigned, the system as signed.
        self.leader.id() as ProcessId
    }

    fn signal(&self, signal: libc::c_int) {
        // After that its id may be another's.
        if !self.is_reaped {
            system::signal_group(self.id(), signal);
        }
    }

    /// Kills what still runs, and tells how the leader ended. One that ended
    /// before cannot be changed by that.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.signal(libc::SIGKILL);
        let status = self.leader.wait()?;
        self.is_reaped = true;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // How it ended is of no interest to whoever drops it.
        let _ = self.end();
    }
}

/// The value of the schedule setting for a seed.
pub(super) fn schedule(seed: u64) -> String {
    format!("random:{seed}")
}
