//! The thread that hands exports to those who may have them.
//!
//! It runs while there are exports, or somebody is connected, and a little longer; not longer than the
//! threads of the program. The program's exit does not wait for it: it holds nothing that the kernel
//! does not take back.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use super::message::{self, About, Status};
use crate::os::socket::{self, Credentials, Watched};
use crate::os::{host, thread};
use crate::process::{Runtime, running};

/// Names that a process may listen under: one is enough, unless another process has it (of the same
/// number in another container, or of a user who means harm).
pub(super) const NAMES: u32 = 8;
/// Without exports and connections for so long, the thread ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// Processes that may be connected at a time; the one that was silent longest goes.
const MOST_CONNECTIONS: usize = 1000;
const STACK: usize = 128 << 10;

/// Sockets of the thread, for a forked child to close: it would keep them open after this process.
static OPEN: [AtomicI32; MOST_CONNECTIONS + 1] = [const { AtomicI32::new(-1) }; _];

/// What a process of this user listens under.
pub(super) fn name(pid: i32, number: u32) -> String {
    format!("cannery-{}-{pid}-{number}", socket::user())
}

/// See the module.
#[derive(Default)]
pub(crate) struct Broker {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: bool,
    /// For the thread to take when it begins.
    listener: Option<OwnedFd>,
}

impl Broker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `act` while the broker runs and cannot end.
    pub(super) fn while_running<R>(&self, act: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let mut state = self.state();
        if !state.running {
            state.listener = Some(listen()?);
            if !thread::spawn_quiet("cannery-broker", STACK, run) {
                state.listener = None;
                return Err(io::Error::other("no thread can be started"));
            }
            state.running = true;
        }
        act()
    }
}

fn listen() -> io::Result<OwnedFd> {
    let pid = host::pid();
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for number in 0..NAMES {
        match socket::listen(&name(pid, number)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

extern "C" fn in_child() {
    for place in &OPEN {
        let socket = place.swap(-1, Ordering::AcqRel);
        if socket >= 0 {
            thread::close_raw(socket);
        }
    }
}

/// A socket of the thread, known to [`OPEN`].
struct Socket {
    socket: OwnedFd,
    place: Option<&'static AtomicI32>,
}

impl Socket {
    fn new(socket: OwnedFd) -> Self {
        let free = |place: &&AtomicI32| place.load(Ordering::Relaxed) < 0;
        let place = OPEN.iter().find(free);
        if let Some(place) = place {
            place.store(socket.as_raw_fd(), Ordering::Release);
        }
        Self { socket, place }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Before the number can be somebody else's.
        if let Some(place) = self.place {
            place.store(-1, Ordering::Release);
        }
    }
}

fn run() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| thread::at_fork_in_child(in_child));
    let Some(runtime) = running() else { return };
    let listener = runtime.sharing.broker.state().listener.take();
    let Some(listener) = listener else { return };
    serve(runtime, Socket::new(listener));
}

/// One importer.
struct Connection {
    socket: Socket,
    /// Who connected.
    who: Credentials,
    used: Instant,
}

fn serve(runtime: &'static Runtime, listener: Socket) {
    let mut listener = Some(listener);
    let mut connections: Vec<Connection> = Vec::new();
    let mut watched: Vec<Watched> = Vec::new();
    let mut idle_since = Instant::now();
    // Set when no descriptor was left to accept with.
    let mut full = false;
    loop {
        let Some(door) = &listener else { return };
        watched.clear();
        let door = Watched::new(&door.socket);
        watched.push(if full { door.skip() } else { door });
        watched.extend(connections.iter().map(|it| Watched::new(&it.socket.socket)));
        let pause = if full {
            Duration::from_millis(100)
        } else {
            PATIENCE
        };
        let ready = socket::wait(&mut watched, pause);
        if ready == 0 {
            if !full && thread::program_is_over() {
                // Only threads of the runtime are left: nobody exports anything any more.
                return;
            }
            if connections.is_empty() && runtime.sharing.exports.is_empty() {
                if idle_since.elapsed() >= PATIENCE && end(runtime, &mut listener) {
                    return;
                }
            } else {
                idle_since = Instant::now();
            }
            full = false;
            continue;
        }
        full = false;
        idle_since = Instant::now();
        let mut at = 0;
        connections.retain_mut(|connection| {
            at += 1;
            !watched[at].is_ready() || answer(runtime, connection)
        });
        if let Some(door) = listener.as_ref().filter(|_| watched[0].is_ready()) {
            full = !welcome(&door.socket, &mut connections);
        }
    }
}

/// Ends unless there is something to hand out by now. True: the thread is to return.
fn end(runtime: &Runtime, listener: &mut Option<Socket>) -> bool {
    let mut state = runtime.sharing.broker.state();
    if !runtime.sharing.exports.is_empty() {
        return false;
    }
    // The name is free again before anybody else can want it.
    *listener = None;
    state.running = false;
    true
}

/// Accepts whoever waits. False: no descriptor is left.
fn welcome(listener: &OwnedFd, connections: &mut Vec<Connection>) -> bool {
    loop {
        let socket = match socket::accept(listener) {
            Ok(Some(socket)) => socket,
            Ok(None) => return true,
            Err(_) => return false,
        };
        let Ok(who) = socket::peer(&socket) else {
            continue;
        };
        if who.user != socket::user() {
            continue;
        }
        if connections.len() >= MOST_CONNECTIONS {
            let oldest = connections.iter().enumerate().min_by_key(|(_, it)| it.used);
            if let Some((at, _)) = oldest {
                connections.swap_remove(at);
            }
        }
        connections.push(Connection {
            socket: Socket::new(socket),
            who,
            used: Instant::now(),
        });
    }
}

/// Answers what came. False: the connection is at its end.
fn answer(runtime: &Runtime, connection: &mut Connection) -> bool {
    let mut room = [0; message::REQUEST + 1];
    let received = match socket::receive(&connection.socket.socket, &mut room) {
        Ok(received) if received.bytes > 0 => received,
        Ok(_) => return false,
        Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
    };
    connection.used = Instant::now();
    let Some((kind, secret)) = message::read_request(&room[..received.bytes]) else {
        return false;
    };
    // The kernel names the sender of each message. It must be who connected: a descriptor can be
    // inherited or handed on, and the right to a memory must not go with it.
    let (status, about, memory) = match received.sender {
        Some(sender) if sender == connection.who => {
            runtime.sharing.exports.answer(kind, secret, sender)
        }
        _ => (Status::Stranger, About::default(), None::<Arc<OwnedFd>>),
    };
    let reply = message::reply(status, &about);
    socket::send(&connection.socket.socket, &reply, memory.as_deref()).is_ok()
}
