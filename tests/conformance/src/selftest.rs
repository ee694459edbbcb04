//! The harness tested with cases that must fail: a wrong code, a missing text,
//! a crash, a hang must each be reported, or the other results mean nothing.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::case::{Case, Setup, case};
use crate::expect::has_word;
use crate::options::Options;
use crate::report::line;
use crate::runner::{self, Plan};
use crate::spec::Line;
use crate::t::{T, abort};
use crate::worker::on_thread;

/// Limit of one case here; one of them hangs on purpose.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The text that the pretended library has pending.
static TEXT: Mutex<Option<String>> = Mutex::new(None);

/// Reads and clears the pretended text.
pub(crate) fn text() -> Option<String> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn leave(text: &str) {
    *TEXT.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
}

/// One check of the harness.
struct Check {
    case: Case,
    /// Expected code and tokens; `None` for a case without a line.
    line: Option<(Option<i64>, &'static str)>,
    /// A word or phrase of the reported failure; `None` when it must pass.
    reports: Option<&'static str>,
}

fn check(
    id: &'static str,
    line: Option<(Option<i64>, &'static str)>,
    reports: Option<&'static str>,
    body: fn(&T),
) -> Check {
    let setup = Setup::fresh().env("CANNERY_CONFORMANCE_WANTED", "yes");
    Check {
        case: case(id, setup, body),
        line,
        reports,
    }
}

const NULL_TEXT: &str = "EH0008 func=aclrtMalloc param=devPtr";

fn checks() -> Vec<Check> {
    let null = Some((Some(100_000), NULL_TEXT));
    let fine = Some((Some(0), ""));
    vec![
        check("selftest.right", null, None, |t| {
            leave("EH0008 aclrtMalloc: devPtr is NULL");
            t.ret(100_000);
        }),
        check("selftest.wrong_code", null, Some("expected 100000"), |t| {
            leave("EH0008 aclrtMalloc: devPtr is NULL");
            t.ret(107_000);
        }),
        check("selftest.success_instead", null, Some("returned 0"), |t| {
            t.ret(0)
        }),
        check(
            "selftest.failure_instead",
            fine,
            Some("returned 107000"),
            |t| {
                leave("EE1003 something");
                t.ret(107_000);
            },
        ),
        check("selftest.missing_text", null, Some("left no text"), |t| {
            t.ret(100_000)
        }),
        check(
            "selftest.missing_text_of_plain_failure",
            Some((Some(107_000), "")),
            Some("left no text"),
            |t| {
                t.ret(107_000);
            },
        ),
        check(
            "selftest.wrong_message_code",
            null,
            Some("message code 'EH0008'"),
            |t| {
                leave("EH0009 aclrtMalloc: devPtr is NULL");
                t.ret(100_000);
            },
        ),
        check(
            "selftest.wrong_parameter",
            null,
            Some("parameter 'devPtr'"),
            |t| {
                leave("EH0008 aclrtMalloc: devPtrs is NULL");
                t.ret(100_000);
            },
        ),
        check(
            "selftest.wrong_function",
            null,
            Some("function 'aclrtMalloc'"),
            |t| {
                leave("EH0008 aclrtMallocCached: devPtr is NULL");
                t.ret(100_000);
            },
        ),
        check(
            "selftest.no_result",
            fine,
            Some("recorded no result"),
            |_| {},
        ),
        check("selftest.effect", fine, Some("byte 1 is 0x02"), |t| {
            t.ret(0);
            t.same_bytes(&[1, 2], &[1, 3], "bytes");
        }),
        check(
            "selftest.effect_on_other_thread",
            fine,
            Some("count: 1, expected 2"),
            |t| {
                t.ret(0);
                on_thread(|| t.eq(1, 2, "count"));
            },
        ),
        check(
            "selftest.follow_up_code",
            None,
            Some("second returned 0, expected 107000"),
            |t| {
                t.fails(0, 107_000, "second");
            },
        ),
        check(
            "selftest.follow_up_text",
            None,
            Some("second failed with 107000 and left no text"),
            |t| {
                t.fails(107_000, 107_000, "second");
            },
        ),
        check("selftest.follow_up_words", None, None, |t| {
            leave("EE1003 second: stream 0x10, call aclrtFree");
            t.fails_with(107_000, 107_000, "0x10 'call aclrtFree'", "second");
        }),
        check(
            "selftest.missing_bare_word",
            None,
            Some("the text of second lacks word 'aclrtFree'"),
            |t| {
                leave("EE1003 second: stream 0x10, call aclrtFreeHost");
                t.fails_with(107_000, 107_000, "0x10 aclrtFree", "second");
            },
        ),
        check(
            "selftest.missing_bare_phrase",
            None,
            Some("lacks phrase 'call aclrtFree'"),
            |t| {
                leave("EE1003 second: call it aclrtFree");
                t.fails_with(107_000, 107_000, "'call aclrtFree'", "second");
            },
        ),
        check(
            "selftest.unknown_key",
            None,
            Some("is not understood"),
            |t| {
                leave("EE1003 second: size is 0");
                t.fails_with(107_000, 107_000, "EE1003 parm=size", "second");
            },
        ),
        check(
            "selftest.no_tokens",
            None,
            Some("nothing is demanded"),
            |t| {
                leave("EE1003 second");
                t.fails_with(107_000, 107_000, "", "second");
            },
        ),
        check(
            "selftest.failure_of_zero",
            None,
            Some("which is success"),
            |t| t.fails_with(0, 0, "EE1003", "second"),
        ),
        check(
            "selftest.unknown_word_of_a_line",
            Some((Some(100_000), "EH0008 devPtr")),
            Some("err_msg: \"devPtr\" is not understood"),
            |t| {
                leave("EH0008 aclrtMalloc: devPtr is NULL");
                t.ret(100_000);
            },
        ),
        check(
            "selftest.given_fails",
            fine,
            Some("given returned 5"),
            |t| {
                t.ok(5, "given");
                t.ret(0);
            },
        ),
        check("selftest.abort", fine, Some("enough"), |_| abort("enough")),
        check("selftest.panic", fine, Some("panicked: oh"), |_| {
            panic!("oh")
        }),
        check(
            "selftest.crash",
            fine,
            Some("killed by SIGSEGV during the body"),
            |t| {
                t.ret(0);
                raise(libc::SIGSEGV);
            },
        ),
        check(
            "selftest.abort_signal",
            fine,
            Some("killed by SIGABRT"),
            |t| {
                t.ret(0);
                raise(libc::SIGABRT);
            },
        ),
        check(
            "selftest.crash_at_exit",
            fine,
            Some("killed by SIGSEGV after the body"),
            |t| {
                t.ret(0);
                #[allow(unsafe_code)] // A crash at exit is the point.
                // SAFETY: the handler is a plain function without arguments.
                let registered = unsafe { libc::atexit(crash_at_exit) };
                t.ok(registered, "atexit");
            },
        ),
        check(
            "selftest.exit_code",
            fine,
            Some("exit code 3 during the body"),
            |t| {
                t.ret(0);
                std::process::exit(3);
            },
        ),
        check(
            "selftest.silent_exit",
            fine,
            Some("ended without a result"),
            |t| {
                t.ret(0);
                std::process::exit(0);
            },
        ),
        check("selftest.hang", fine, Some("still running after"), |t| {
            t.ret(0);
            std::thread::sleep(Duration::from_secs(60));
        }),
        check("selftest.environment", None, None, |t| {
            let wanted = std::env::var("CANNERY_CONFORMANCE_WANTED");
            t.eq(wanted.as_deref(), Ok("yes"), "the case's variable");
            let stray = std::env::vars_os().filter(|(name, _)| {
                let name = name.to_string_lossy();
                let expected = [
                    "CANNERY_PREFIX",
                    "CANNERY_RUNTIME_DIR",
                    "CANNERY_CONFORMANCE_WANTED",
                ];
                name.starts_with("CANNERY_") && !expected.contains(&name.as_ref())
            });
            t.eq(stray.count(), 0, "settings of the caller's shell");
        }),
    ]
}

extern "C" fn crash_at_exit() {
    raise(libc::SIGSEGV);
}

fn raise(signal: i32) {
    #[allow(unsafe_code)] // Crashes must be seen by the harness.
    // SAFETY: the default action ends the process, which is the point.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// The case and line of a self-test id.
pub(crate) fn find(id: &str) -> Option<(Case, Option<Line>)> {
    let check = checks().into_iter().find(|check| check.case.id == id)?;
    let line = check.line.map(|(expect_code, err_msg)| Line {
        id: id.to_owned(),
        function: "aclrtMalloc".to_owned(),
        chapter: "self-test".to_owned(),
        given: String::new(),
        call: String::new(),
        expect_code,
        expect_effect: String::new(),
        err_msg: err_msg.to_owned(),
    });
    Some((check.case, line))
}

/// Runs the checks and prints `N passed, N failed`.
pub(crate) fn run(options: &Options) -> ExitCode {
    let checks = checks();
    let cases: Vec<Case> = checks.iter().map(|check| check.case.clone()).collect();
    let plan = Plan {
        prefix: options.prefix.clone(),
        jobs: options.jobs,
        timeout: TIMEOUT,
        texts: None,
    };
    let outcomes = match runner::run_all(&cases, &plan, |_| {}) {
        Ok(outcomes) => outcomes,
        Err(message) => {
            eprintln!("cannery-conformance: {message}");
            return ExitCode::from(2);
        }
    };
    let mut failed = checks.len().abs_diff(outcomes.len());
    for (check, outcome) in checks.iter().zip(&outcomes) {
        let right = match check.reports {
            None => outcome.passed(),
            Some(phrase) => outcome
                .failures
                .iter()
                .any(|failure| has_word(failure, phrase) || failure.contains(phrase)),
        };
        if !right {
            failed += 1;
            line(&format!(
                "FAILED {}: reported {:?}, expected {:?}",
                check.case.id, outcome.failures, check.reports
            ));
        }
    }
    line(&format!(
        "{} passed, {failed} failed",
        checks.len() - failed
    ));
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
