//! Messages between the processes of one machine: whole, with a descriptor when one goes along, and
//! with the credentials of the sender as the kernel saw them.
//!
//! The names are abstract: no file stands for them, and they go with the process whatever ends it.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::time::Duration;

/// Room for one descriptor and one set of credentials, and more.
const CONTROL: usize = 128;

/// Whom the kernel says a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Credentials {
    /// 0 where the process is in no namespace that this one sees.
    pub(crate) pid: i32,
    pub(crate) user: u32,
}

/// A message that came.
pub(crate) struct Received {
    /// Bytes of it; 0: the other side has closed.
    pub(crate) bytes: usize,
    pub(crate) sender: Option<Credentials>,
    pub(crate) descriptor: Option<OwnedFd>,
}

fn check(code: libc::c_int) -> io::Result<libc::c_int> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(code)
    }
}

/// The user that this process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: makes a descriptor, touches nothing.
    let fd = check(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?;
    // SAFETY: fresh, and ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn address(name: &str) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: a plain record of numbers; zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // The first byte stays 0: an abstract name.
    if name.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    let bytes = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    Ok((address, bytes as libc::socklen_t))
}

/// Asks for the credentials of every sender.
fn want_credentials(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option takes one int.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PASSCRED,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// Waits for others under a name of this machine.
pub(crate) fn listen(name: &str) -> io::Result<OwnedFd> {
    let socket = open()?;
    want_credentials(&socket)?;
    let (address, bytes) = address(name)?;
    // SAFETY: an address of this length.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), bytes) })?;
    // SAFETY: a bound socket.
    check(unsafe { libc::listen(socket.as_raw_fd(), 128) })?;
    Ok(socket)
}

/// Somebody who wants to talk; `None`: nobody now.
pub(crate) fn accept(listener: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let none = std::ptr::null_mut();
    // SAFETY: no place for the address is asked for.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), none, none.cast(), flags) };
    match check(fd) {
        Ok(fd) => {
            // SAFETY: fresh, and ours alone.
            let socket = unsafe { OwnedFd::from_raw_fd(fd) };
            want_credentials(&socket)?;
            Ok(Some(socket))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted => Ok(None),
            _ => Err(error),
        },
    }
}

/// Talks to whoever listens under a name. `WouldBlock`: it is there, and busy.
pub(crate) fn connect(name: &str) -> io::Result<OwnedFd> {
    let socket = open()?;
    let (address, bytes) = address(name)?;
    // SAFETY: an address of this length.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), bytes) })?;
    Ok(socket)
}

/// Who connected, or who listens: fixed when that happened.
pub(crate) fn peer(socket: &OwnedFd) -> io::Result<Credentials> {
    let mut who = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a place of the right size for the answer.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut bytes,
        )
    })?;
    Ok(Credentials {
        pid: who.pid,
        user: who.uid,
    })
}

/// Sends one message, with a descriptor or without. Never waits, never raises SIGPIPE.
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8], with: Option<&OwnedFd>) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = [0u64; CONTROL / 8];
    // SAFETY: a plain record of numbers and pointers; zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(descriptor) = with {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: plain arithmetic.
        message.msg_controllen =
            unsafe { libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) } as usize;
        // SAFETY: the control buffer has room for one header and one descriptor, and is aligned
        // for both.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as usize;
            libc::CMSG_DATA(header)
                .cast::<libc::c_int>()
                .write_unaligned(descriptor.as_raw_fd());
        }
    }
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    loop {
        // SAFETY: everything that the message points to lives for the call.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
        if sent >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Takes one message. Never waits: `WouldBlock` says that none is there.
pub(crate) fn receive(socket: &OwnedFd, into: &mut [u8]) -> io::Result<Received> {
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let mut control = [0u64; CONTROL / 8];
    // SAFETY: a plain record of numbers and pointers; zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = CONTROL;
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    let bytes = loop {
        // SAFETY: everything that the message points to lives for the call and has the size given.
        let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
        if got >= 0 {
            break got as usize;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        message.msg_controllen = CONTROL;
    };
    let mut received = Received {
        bytes,
        sender: None,
        descriptor: None,
    };
    // SAFETY: the kernel filled the buffer with whole headers up to `msg_controllen`; data is read
    // unaligned and only as far as its length says.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            let data = libc::CMSG_DATA(header);
            let length = (*header).cmsg_len - libc::CMSG_LEN(0) as usize;
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) if length >= size_of::<libc::ucred>() => {
                    let who = data.cast::<libc::ucred>().read_unaligned();
                    received.sender = Some(Credentials {
                        pid: who.pid,
                        user: who.uid,
                    });
                }
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    for i in 0..length / size_of::<libc::c_int>() {
                        let fd = data.cast::<libc::c_int>().add(i).read_unaligned();
                        // The last one stays, the others are closed here.
                        received.descriptor = Some(OwnedFd::from_raw_fd(fd));
                    }
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok(received)
}

/// Something to wait for.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Watched(libc::pollfd);

impl Watched {
    /// A socket that something may come from.
    pub(crate) fn new(socket: &OwnedFd) -> Self {
        Self(libc::pollfd {
            fd: socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
    }

    /// Leaves it out of the next wait.
    pub(crate) fn skip(mut self) -> Self {
        self.0.fd = -1;
        self
    }

    /// Whether something came, or the other side went.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until one of them is ready, and not longer than that. The number of those that are.
pub(crate) fn wait(list: &mut [Watched], at_most: Duration) -> usize {
    let milliseconds = at_most.as_millis().min(60_000) as libc::c_int;
    // SAFETY: `Watched` is a pollfd; the length is that of the list.
    let ready = unsafe {
        libc::poll(
            list.as_mut_ptr().cast(),
            list.len() as libc::nfds_t,
            milliseconds,
        )
    };
    // An interrupted wait is one that found nothing.
    ready.max(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn name(of: &str) -> String {
        format!("cannery-test-{of}-{}", std::process::id())
    }

    #[test]
    fn a_message_brings_its_bytes_its_descriptor_and_its_sender() {
        let name = name("message");
        let listener = listen(&name).expect("a listener");
        let client = connect(&name).expect("a connection");
        let server = accept(&listener).expect("no error").expect("a client");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        send(&client, b"hello", Some(&writer.into())).expect("sent");
        let mut room = [0; 16];
        let got = receive(&server, &mut room).expect("received");
        assert_eq!(&room[..got.bytes], b"hello");
        let me = Credentials {
            pid: std::process::id().cast_signed(),
            user: user(),
        };
        assert_eq!(got.sender, Some(me));
        assert_eq!(peer(&server).expect("credentials"), me);
        let mut other_end = std::fs::File::from(got.descriptor.expect("a descriptor"));
        other_end.write_all(b"through").expect("written");
        drop(other_end);
        let text = io::read_to_string(&mut reader).expect("read");
        assert_eq!(text, "through");
    }

    #[test]
    fn a_name_goes_with_its_listener() {
        let name = name("gone");
        drop(listen(&name).expect("a listener"));
        let error = connect(&name).expect_err("nobody listens");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn a_name_is_taken_once() {
        let name = name("taken");
        let _first = listen(&name).expect("a listener");
        let error = listen(&name).expect_err("taken");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn the_end_of_the_other_side_is_seen() {
        let name = name("end");
        let listener = listen(&name).expect("a listener");
        let client = connect(&name).expect("a connection");
        drop(accept(&listener).expect("no error").expect("a client"));
        let mut list = [Watched::new(&client)];
        assert_eq!(wait(&mut list, Duration::from_secs(5)), 1);
        let got = receive(&client, &mut [0; 8]).expect("an end");
        assert_eq!(got.bytes, 0);
    }
}
