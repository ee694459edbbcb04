//! Those who mean no good, or do not know better.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::api::*;
use crate::expect::expect;
use crate::memory;
use crate::peer;
use crate::system;
use crate::trouble;

const BYTES: usize = 2 << 20;

/// A raw connection to a name.
fn connect(name: &str) -> i32 {
    // SAFETY: makes a socket and connects it; the record is as long as the call is told.
    unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0);
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let name = name.trim_start_matches('@');
        for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        let bytes = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
        libc::connect(
            socket,
            (&raw const address).cast(),
            bytes as libc::socklen_t,
        );
        socket
    }
}

fn send(socket: i32, bytes: &[u8]) {
    // SAFETY: sends bytes that are there.
    unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
}

/// Garbage, silence and crowds do not keep the broker from serving.
pub(crate) fn strangers() {
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    let own = std::process::id().cast_signed();
    let names = system::names_of(own);
    let [name] = &names[..] else {
        return trouble::note(format!("listening under {names:?}"));
    };
    let mut peer = peer::start();
    let before = system::counts().0;
    let mut sockets = Vec::new();
    for round in 0..300usize {
        let socket = connect(name);
        let seed = round as u64;
        match round % 4 {
            0 => send(socket, &memory::random(round * 7 % 100, seed)),
            1 => send(socket, &memory::random(60_000, seed)),
            2 => {
                for _ in 0..50 {
                    send(socket, &memory::random(32, seed));
                }
            }
            _ => {}
        }
        sockets.push(socket);
        if round % 50 == 0 {
            peer.must(&format!("rounds {key} 1 {BYTES} 1"));
        }
    }
    peer.must(&format!("rounds {key} 10 {BYTES} 1"));
    for socket in sockets {
        // SAFETY: our own descriptor.
        unsafe { libc::close(socket) };
    }
    let calm = system::soon(|| system::counts().0 <= before + 1);
    trouble::unless(calm, || {
        format!(
            "{} descriptors, {before} before the strangers",
            system::counts().0
        )
    });
    peer.must(&format!("rounds {key} 10 {BYTES} 1"));
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}

/// Asks a broker without the library, as a listed process would; the status of its answer.
fn raw_request(socket: i32, key: &str) -> i32 {
    let (_, digits) = key.split_once('-').expect("a key");
    let secret = u128::from_str_radix(digits, 16).expect("digits");
    let mut request = [0u8; 32];
    request[..4].copy_from_slice(&0x4341_4e31_u32.to_le_bytes());
    request[4] = 1;
    request[16..].copy_from_slice(&secret.to_le_bytes());
    send(socket, &request);
    let mut reply = [0u8; 64];
    // SAFETY: room for the answer.
    let got = unsafe { libc::recv(socket, reply.as_mut_ptr().cast(), reply.len(), 0) };
    if got == 56 { i32::from(reply[4]) } else { -1 }
}

/// In the peer: asks over a socket of its own, from itself or from a child.
pub(crate) fn ask_raw(name: &str, key: &str, from_child: bool) -> i32 {
    let socket = connect(name);
    if from_child {
        let child = system::fork(|| raw_request(socket, key));
        return system::wait_for(child);
    }
    raw_request(socket, key)
}

/// A child that asks over the connection of a listed process gets nothing.
pub(crate) fn inherited_connection() {
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 0);
    let own = std::process::id().cast_signed();
    let names = system::names_of(own);
    let [name] = &names[..] else {
        return trouble::note(format!("listening under {names:?}"));
    };
    let mut peer = peer::start();
    let (code, _) = peer.ask(&format!("raw {name} {key} 0"));
    expect(code, 2, "not listed");
    let pid = peer.pid();
    ok(memory::allow(&key, &[pid]), "aclrtIpcMemSetImportPid");
    let (code, _) = peer.ask(&format!("raw {name} {key} 0"));
    expect(code, 0, "listed");
    let (code, _) = peer.ask(&format!("raw {name} {key} 1"));
    expect(code, 3, "a child over the connection of a listed process");
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}

/// Somebody else sits on the name that the exporter would take: it takes the next.
pub(crate) fn taken_name() {
    let own = std::process::id();
    // SAFETY: no arguments, cannot fail.
    let user = unsafe { libc::geteuid() };
    let address = SocketAddr::from_abstract_name(format!("cannery-{user}-{own}-0"));
    let squatter = UnixListener::bind_addr(&address.expect("a name")).expect("the name is free");
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    let mut peer = peer::start();
    let (code, text) = peer.ask(&format!("rounds {key} 3 {BYTES} 1"));
    expect(code, 0, &format!("importing past a squatter: {text}"));
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    drop(squatter);
    ok(aclrtFree(block), "aclrtFree");
}
