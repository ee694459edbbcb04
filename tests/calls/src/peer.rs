//! The other process: does what it is told on its standard input, one line a call, and answers each with a
//! line: the code, and what the call gave.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cannery_abi::aclError;

/// Serves until the input ends: `act` does what a line says.
///
/// # Panics
/// When the input is no text.
pub fn serve(mut act: impl FnMut(&str) -> (aclError, String)) {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lines() {
        let (code, more) = act(&line.expect("a line of text"));
        // The other end may be gone already.
        let _ = writeln!(out, "{code} {more}");
        let _ = out.flush();
    }
}

/// Another process that serves.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts this program again, with the same settings, to serve.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(arguments: [&str; 2]) -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts again");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Tells it to do something, without waiting for the answer.
    pub fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the peer listens");
    }

    /// Its next answer: the code and the rest.
    pub fn answer(&mut self) -> (aclError, String) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        let (code, more) = line.trim_end().split_once(' ').unwrap_or((line.trim(), ""));
        (code.parse().unwrap_or(-77), more.to_owned())
    }

    /// Tells it to do something and waits for the answer.
    pub fn ask(&mut self, line: &str) -> (aclError, String) {
        self.tell(line);
        self.answer()
    }

    /// As [`ask`](Self::ask), for what must succeed.
    #[track_caller]
    pub fn must(&mut self, line: &str) -> String {
        match self.ask(line) {
            (0, more) => more,
            (code, more) => panic!("the peer answered {code} to {line:?}: {more}"),
        }
    }

    /// Ends it at once (`kill -9`).
    pub fn kill(mut self) {
        self.child.kill().expect("the peer is there");
        self.child.wait().expect("the peer ends");
    }

    /// Lets it end by itself; whether it was content.
    pub fn end(mut self) -> bool {
        drop(self.input);
        self.child.wait().expect("the peer ends").success()
    }
}
