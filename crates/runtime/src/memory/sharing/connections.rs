//! Asks the brokers of other processes.
//!
//! A connection is kept for the next time. Nothing waits without end: a broker that is alive and
//! does not answer is given up after a few seconds, a dead one at once.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Sharing;
use super::broker::{self, NAMES};
use super::key::Key;
use super::message::{self, About, Status};
use crate::os::host;
use crate::os::shared_page::is_alive;
use crate::os::socket::{self, Credentials, Watched};

/// A broker that does not answer for so long is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// Connections that are kept.
const KEPT: usize = 64;

/// Why a key gave nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// The exporter has ended, or never exported anything.
    Gone,
    /// The exporter lives and has no such export.
    Unknown,
    /// This process is not on the white list.
    NotListed,
    /// The exporter does not answer.
    Silent,
}

impl Refusal {
    /// For the text of an error; `allow` is the call that lists a process.
    #[cold]
    pub(crate) fn explain(self, key: &Key, allow: &str) -> String {
        let exporter = key.pid;
        match self {
            Refusal::Gone => format!(
                "names nothing: process {exporter} does not export it: it has ended, or closed it, or is in \
                 another container (network namespace) or of another user"
            ),
            Refusal::Unknown => {
                format!("names nothing: process {exporter} never exported it, or has closed it")
            }
            Refusal::NotListed => format!(
                "may not be imported by this process: call {allow} with pid {} in process {exporter}, or \
                 export without the check of pids (flags 1)",
                host::pid()
            ),
            Refusal::Silent => format!(
                "cannot be imported: process {exporter} does not answer (stopped?), or no file descriptor is \
                 left here (ulimit -n)"
            ),
        }
    }
}

struct Connection {
    pid: i32,
    number: u32,
    socket: OwnedFd,
    /// The process that listens, as this one sees it; 0: it does not.
    listener: i32,
}

/// Connections that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct Connections {
    idle: Mutex<Vec<Connection>>,
}

enum Answer {
    Reply(Status, About, Option<OwnedFd>),
    /// The connection is of no use.
    Broken,
    Silent,
}

impl Connections {
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets the memory of a key from the process that exports it.
    pub(crate) fn fetch(&self, key: &Key) -> Result<(About, OwnedFd), Refusal> {
        let mut refusal = Refusal::Gone;
        for number in 0..NAMES {
            match self.ask(key, number) {
                Ok((about, memory)) => return Ok((about, memory)),
                Err(Refusal::Gone) => {}
                // Another process may have had the name first; the right one has the next.
                Err(Refusal::Unknown) => refusal = Refusal::Unknown,
                Err(other) => return Err(other),
            }
        }
        Err(refusal)
    }

    fn ask(&self, key: &Key, number: u32) -> Result<(About, OwnedFd), Refusal> {
        let deadline = Instant::now() + PATIENCE;
        let kept = self.take(key.pid, number);
        let mut fresh = kept.is_none();
        let mut connection = match kept {
            Some(connection) => connection,
            None => {
                self.tidy();
                connect(key.pid, number, deadline)?
            }
        };
        loop {
            match exchange(&connection, key, deadline) {
                Answer::Reply(status, about, memory) => {
                    self.keep(connection);
                    return match (status, memory) {
                        (Status::Granted, Some(memory)) => Ok((about, memory)),
                        (Status::NotListed, _) => Err(Refusal::NotListed),
                        // A grant without memory: no descriptor was left to take it.
                        (Status::Granted, None) => Err(Refusal::Silent),
                        (Status::Unknown | Status::Stranger, _) => Err(Refusal::Unknown),
                    };
                }
                // One that was kept may have been closed since: the process may listen again.
                Answer::Broken if !fresh => {
                    connection = connect(key.pid, number, deadline)?;
                    fresh = true;
                }
                Answer::Broken => return Err(Refusal::Gone),
                Answer::Silent => return Err(Refusal::Silent),
            }
        }
    }

    fn take(&self, pid: i32, number: u32) -> Option<Connection> {
        let mut idle = self.idle();
        let at = idle
            .iter()
            .position(|it| it.pid == pid && it.number == number)?;
        Some(idle.remove(at))
    }

    /// Puts a connection back: the newest last. One for each broker is enough.
    fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        let same = |it: &Connection| it.pid == connection.pid && it.number == connection.number;
        if idle.iter().any(same) {
            return;
        }
        if idle.len() >= KEPT {
            idle.remove(0);
        }
        idle.push(connection);
    }

    /// Drops the connections to processes that have ended.
    fn tidy(&self) {
        self.idle().retain(|it| {
            // Nothing comes unasked: what is ready is at its end.
            socket::wait(&mut [Watched::new(&it.socket)], Duration::ZERO) == 0
        });
    }
}

impl Sharing {
    /// Gets the memory of a key, wherever it is exported.
    pub(crate) fn fetch(&self, key: &Key) -> Result<(About, Arc<OwnedFd>), Refusal> {
        let me = host::pid();
        if key.pid == me {
            let who = Credentials {
                pid: me,
                user: socket::user(),
            };
            match self.exports.answer(key.kind, key.secret, who) {
                (Status::Granted, about, Some(memory)) => return Ok((about, memory)),
                (Status::NotListed, ..) => return Err(Refusal::NotListed),
                // A process of another container may have the same number.
                _ => {}
            }
        }
        let (about, memory) = self.connections.fetch(key)?;
        Ok((about, Arc::new(memory)))
    }
}

fn connect(pid: i32, number: u32, deadline: Instant) -> Result<Connection, Refusal> {
    let name = broker::name(pid, number);
    loop {
        match socket::connect(&name) {
            Ok(socket) => {
                let who = socket::peer(&socket).map_err(|_| Refusal::Gone)?;
                if who.user != socket::user() {
                    // Somebody else sits on the name.
                    return Err(Refusal::Gone);
                }
                return Ok(Connection {
                    pid,
                    number,
                    socket,
                    listener: who.pid,
                });
            }
            // Many importers at once: there is room again in a moment.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if Instant::now() > deadline {
                    return Err(Refusal::Silent);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return Err(Refusal::Gone),
        }
    }
}

fn exchange(connection: &Connection, key: &Key, deadline: Instant) -> Answer {
    if socket::send(&connection.socket, &message::request(key), None).is_err() {
        return Answer::Broken;
    }
    let mut room = [0; message::REPLY + 1];
    loop {
        match socket::receive(&connection.socket, &mut room) {
            Ok(received) => {
                return match message::read_reply(&room[..received.bytes]) {
                    Some((status, about)) => Answer::Reply(status, about, received.descriptor),
                    None => Answer::Broken,
                };
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Answer::Broken,
            Err(_) => {}
        }
        let ready = socket::wait(&mut [Watched::new(&connection.socket)], LOOK) > 0;
        if ready {
            continue;
        }
        // A child of the exporter may hold its end of the connection open.
        if connection.listener > 0 && !is_alive(connection.listener) {
            return Answer::Broken;
        }
        if Instant::now() > deadline {
            return Answer::Silent;
        }
    }
}
