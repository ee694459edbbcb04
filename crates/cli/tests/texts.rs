//! Error texts in both languages: the same codes, names, numbers and next steps.

mod common;

use std::process::Command;

use common::{cannery, stdout_of};

/// A failing program, what its text must carry in both languages, and options of the tool.
struct Case {
    options: &'static str,
    program: &'static str,
    carries: &'static [&'static str],
}

const CASES: &[Case] = &[
    // A request that does not fit: asked, rounded, free, total, holders, and what to do.
    Case {
        options: "--hbm 64M",
        program: "acl.rt.set_device(0); keep = acl.rt.malloc(40 << 20, 1); acl.rt.malloc(1 << 30, 0)",
        carries: &[
            "EL0004",
            "aclrtMalloc",
            "1073741824",
            "1073741888",
            "16777216",
            "6291456",
            "44040192",
            "CANNERY_HBM_BYTES",
            "ACL_ERROR_RT_MEMORY_ALLOCATION 207001",
        ],
    },
    // The same, over and over: one text with the count.
    Case {
        options: "--hbm 64M",
        program: "acl.rt.set_device(0)\nfor i in range(500): acl.rt.malloc(1 << 30, 0); acl.rt.free(12345)",
        carries: &["207001", "107000", " 500 "],
    },
    // A quota.
    Case {
        options: "--hbm 64M --quota 8M",
        program: "acl.rt.set_device(0); acl.rt.malloc(16 << 20, 0)",
        carries: &["CANNERY_QUOTA", "8388608", "16777216", "207001"],
    },
    // A thread without a device, and one that ended its context itself.
    Case {
        options: "",
        program: "acl.rt.malloc(16, 0)",
        carries: &[
            "EE1018",
            "aclrtSetDevice",
            "aclrtSetCurrentContext",
            "107002",
        ],
    },
    Case {
        options: "",
        program: "acl.rt.set_device(0); acl.rt.reset_device(0); acl.rt.malloc(16, 0)",
        carries: &["aclrtResetDevice(0)", "aclrtSetDevice", "107002"],
    },
    Case {
        options: "",
        program: "acl.rt.set_device(9); acl.rt.malloc(16, 0)",
        carries: &[
            "aclrtSetDevice",
            "deviceId",
            "9",
            "[0, 1)",
            "107001",
            "107002",
        ],
    },
    // The wrong family, an address inside a block, twice, foreign memory.
    Case {
        options: "",
        program: "acl.rt.set_device(0); acl.rt.free(acl.rt.malloc_host(64)[0])",
        carries: &["devPtr", "aclrtMallocHost", "aclrtFreeHost", "107000"],
    },
    Case {
        options: "",
        program: "acl.rt.set_device(0); acl.rt.free(acl.rt.malloc(100, 0)[0] + 64)",
        carries: &["devPtr", "64", "100 bytes", "0x12c000000000", "107000"],
    },
    Case {
        options: "",
        program: "acl.rt.set_device(0); p = acl.rt.malloc(100, 0)[0]; acl.rt.memset(p, 200, 0, 200)",
        carries: &[
            "200 bytes",
            "40 bytes",
            "100 bytes",
            "160 bytes",
            "aclrtMalloc",
            "107000",
        ],
    },
    // Sizes, NULL, capacity of the destination.
    Case {
        options: "",
        program: "acl.rt.set_device(0); acl.rt.malloc(0, 0)",
        carries: &["EH0007", "size", " 0", "100000"],
    },
    Case {
        options: "",
        program: "acl.rt.set_device(0); acl.rt.memcpy(acl.rt.malloc(9, 0)[0], 9, 0, 9, 1)",
        carries: &["EH0008", "src", "NULL", "100000"],
    },
    // Pinned memory beyond the lock limit.
    Case {
        options: "--pin strict --limits lock=64K",
        program: "acl.rt.set_device(0); acl.rt.malloc_host(1 << 20)",
        carries: &[
            "EE1013",
            "ulimit -l",
            "limits.conf",
            "CANNERY_PIN=auto",
            "207001",
        ],
    },
    // A product that lacks the call.
    Case {
        options: "--profile 310B",
        program: "acl.rt.set_device(0); acl.rt.device_can_access_peer(0, 0)",
        carries: &["aclrtDeviceCanAccessPeer"],
    },
];

fn text(case: &Case, language: &str) -> String {
    let program = format!(
        "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nimport acl\nacl.init()\n{}\nprint(acl.get_recent_err_msg())",
        case.program
    );
    let mut command: Command = cannery(["run", "-q"]);
    command.args(case.options.split_whitespace());
    stdout_of(
        command
            .args(["--", "python3", "-c", &program])
            .env("CANNERY_LANG", language),
    )
}

fn has_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn both_languages_carry_the_same_facts() {
    for case in CASES {
        let (english, chinese) = (text(case, "en"), text(case, "zh"));
        assert!(!has_chinese(&english), "{english}");
        assert!(has_chinese(&chinese), "{}: {chinese}", case.program);
        for fact in case.carries {
            assert!(
                english.contains(fact),
                "{fact:?} of {}: {english}",
                case.program
            );
            assert!(
                chinese.contains(fact),
                "{fact:?} of {}: {chinese}",
                case.program
            );
        }
    }
}

#[test]
fn the_locale_decides_where_the_setting_is_silent() {
    let program = "import sys; sys.stdout.reconfigure(encoding='utf-8'); import acl; acl.rt.malloc(16, 0); print(acl.get_recent_err_msg())";
    let said = |variables: &[(&str, &str)]| {
        let mut command = cannery(["run", "-q", "--", "python3", "-c", program]);
        command.env_remove("LC_ALL").envs(variables.iter().copied());
        stdout_of(&mut command)
    };
    assert!(has_chinese(&said(&[("LANG", "zh_CN.UTF-8")])));
    assert!(has_chinese(&said(&[
        ("LC_MESSAGES", "zh_CN.UTF-8"),
        ("LANG", "C")
    ])));
    assert!(!has_chinese(&said(&[
        ("LC_ALL", "C"),
        ("LANG", "zh_CN.UTF-8")
    ])));
    assert!(!has_chinese(&said(&[
        ("CANNERY_LANG", "en"),
        ("LANG", "zh_CN.UTF-8")
    ])));
}

#[test]
fn a_refused_setting_is_worded_in_the_language_of_the_reader() {
    for (language, chinese) in [("en", false), ("zh", true)] {
        let output =
            common::finish(cannery(["info", "--pin", "yes"]).env("CANNERY_LANG", language));
        let text = common::stderr_of(&output);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(has_chinese(&text), chinese, "{text}");
        for fact in ["cannery: ", "CANNERY_PIN=yes", "auto", "strict", "off"] {
            assert!(text.contains(fact), "{fact}: {text}");
        }
    }
}
