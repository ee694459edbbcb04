//! Memory of two real processes: the test starts its own program again, which opens what it is told of.

#![allow(unsafe_code)] // a mapping is taken for written
#![allow(clippy::print_stdout)] // the other process tells its number
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use cannery::{
    Context, DeviceBuffer, Imported, Key, Pages, Physical, PinnedBuffer, Reservation, SharedHandle,
    Stream, drop_failures, process_number,
};
use common::{context, random};

const COUNT: usize = 300_007; // 1.2 MB, and no round number
const ROLE: &str = "TEST_OF_TWO_PROCESSES";

/// The other process: it tells its number first, then takes lines.
struct Other {
    process: Child,
    lines: Option<ChildStdin>,
    /// Open as long as it may still print.
    _printed: BufReader<ChildStdout>,
    number: i32,
}

impl Other {
    /// Runs a test of this program again, which plays the other side when it sees its role.
    fn start(test: &str) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, test)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = process.stdin.take();
        let mut printed = BufReader::new(process.stdout.take().unwrap());
        let number = printed
            .by_ref()
            .lines()
            .find_map(|line| line.unwrap().rsplit_once("number=")?.1.parse().ok())
            .unwrap();
        Other {
            process,
            lines,
            _printed: printed,
            number,
        }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.lines.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ends_well(mut self) {
        self.lines = None;
        assert!(self.process.wait().unwrap().success(), "the other process");
    }
}

/// What the other process is told, when this is the other process.
fn other_side(test: &str) -> Option<(Arc<Context>, impl FnMut() -> String)> {
    if std::env::var(ROLE).as_deref() != Ok(test) {
        return None;
    }
    let context = context();
    println!("number={}", process_number(&context).unwrap());
    let mut lines = std::io::stdin().lines();
    Some((context, move || lines.next().unwrap().unwrap()))
}

#[test]
fn a_buffer_is_opened_by_key() {
    if let Some((context, mut told)) = other_side("a_buffer_is_opened_by_key") {
        let key = Key::new(&told(), COUNT).unwrap();
        let mut buffer = DeviceBuffer::<u32, Imported>::import(&context, &key).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), random(COUNT, 1));
        // Queued work of this process with it.
        let stream = Stream::new(&context).unwrap();
        let sent = PinnedBuffer::from_slice(&context, &random(COUNT, 2)).unwrap();
        stream.copy_borrowed(&sent, &mut buffer).unwrap();
        drop(buffer); // waits, then closes
        assert_eq!(drop_failures::count(), 0, "{:?}", drop_failures::take());
        return;
    }
    let context = context();
    let mut other = Other::start("a_buffer_is_opened_by_key");
    let buffer = DeviceBuffer::from_slice(&context, &random(COUNT, 1)).unwrap();
    let exported = buffer.export(Some(&[other.number])).unwrap();
    assert_eq!(exported.key().len(), COUNT);
    other.tell(exported.key().as_str());
    other.ends_well();
    assert_eq!(exported.buffer().to_vec().unwrap(), random(COUNT, 2));
}

#[test]
fn who_is_not_on_the_list_gets_an_error() {
    if let Some((context, mut told)) = other_side("who_is_not_on_the_list_gets_an_error") {
        let key = Key::new(&told(), COUNT).unwrap();
        let error = DeviceBuffer::<u32, Imported>::import(&context, &key).unwrap_err();
        assert_eq!(error.api(), "aclrtIpcMemImportByKey");
        assert!(error.code().raw().is_some(), "{error}");
        assert!(
            error.message().contains("aclrtIpcMemImportByKey"),
            "{error}"
        );
        let made_up = Key::new("no such key", COUNT).unwrap();
        let error = DeviceBuffer::<u32, Imported>::import(&context, &made_up).unwrap_err();
        assert_eq!(error.api(), "aclrtIpcMemImportByKey");
        let handle: u64 = told().parse().unwrap();
        let shared = SharedHandle {
            handle,
            bytes: 2 << 20,
        };
        let error = Physical::import(&context, shared).unwrap_err();
        assert_eq!(error.api(), "aclrtMemImportFromShareableHandle");
        return;
    }
    let context = context();
    let mut other = Other::start("who_is_not_on_the_list_gets_an_error");
    let numbers = random(COUNT, 3);
    let buffer = DeviceBuffer::from_slice(&context, &numbers).unwrap();
    let own = process_number(&context).unwrap();
    assert_ne!(own, other.number);
    let exported = buffer.export(Some(&[own])).unwrap();
    let step = Physical::granularity(&context, Pages::Huge).unwrap();
    let memory = Physical::new(&context, step, Pages::Huge).unwrap();
    let shared = memory.export(Some(&[own])).unwrap();
    other.tell(exported.key().as_str());
    other.tell(&shared.handle.to_string());
    other.ends_well();
    assert_eq!(exported.buffer().to_vec().unwrap(), numbers);
}

#[test]
fn physical_memory_is_opened_by_handle() {
    if let Some((context, mut told)) = other_side("physical_memory_is_opened_by_handle") {
        let shared = SharedHandle {
            handle: told().parse().unwrap(),
            bytes: told().parse().unwrap(),
        };
        let memory = Arc::new(Physical::import(&context, shared).unwrap());
        let range = Arc::new(Reservation::new(&context, shared.bytes).unwrap());
        let mut mapping = range.map(0, &memory).unwrap();
        // SAFETY: the other process wrote all of it, and any bytes are numbers.
        let mut view = unsafe { mapping.init::<u32>() };
        let count = view.len();
        let mut found = vec![0; count];
        view.reborrow().freeze().copy_to(&mut found).unwrap();
        assert_eq!(found, random(count, 4));
        view.copy_from(&random(count, 5)).unwrap();
        return;
    }
    let context = context();
    let mut other = Other::start("physical_memory_is_opened_by_handle");
    let bytes = Physical::granularity(&context, Pages::Huge).unwrap();
    let memory = Arc::new(Physical::new(&context, bytes, Pages::Huge).unwrap());
    let range = Arc::new(Reservation::new(&context, bytes).unwrap());
    let mut mapping = range.map(0, &memory).unwrap();
    let view = mapping.uninit::<u32>();
    let count = view.len();
    view.write(&random(count, 4)).unwrap();
    let shared = memory.export(Some(&[other.number])).unwrap();
    other.tell(&shared.handle.to_string());
    other.tell(&shared.bytes.to_string());
    other.ends_well();
    // SAFETY: all of it was written.
    let view = unsafe { mapping.init::<u32>() };
    assert_eq!(view.freeze().to_vec().unwrap(), random(count, 5));
}
