//! Settings from the environment: bad values are refused by name, value and
//! choices; visible devices are renumbered.

use super::support::*;

/// With this setting nothing works, and the text says why.
fn refuses(t: &T, name: &str, words: &[&str]) {
    let value = std::env::var(name).unwrap_or_default();
    for (call, code) in [
        ("aclInit", (|| aclInit(null())) as fn() -> aclError),
        ("aclrtSetDevice", || aclrtSetDevice(0)),
    ] {
        t.check(code() != 0, &format!("{call} accepted {name}={value}"));
        let text = recent_text().unwrap_or_default();
        t.check(
            text.contains(name),
            &format!("text of {call} names {name}: {text:?}"),
        );
        t.check(
            text.contains(&value),
            &format!("text of {call} names {value:?}: {text:?}"),
        );
        for word in words {
            t.check(
                text.contains(word),
                &format!("text of {call} names {word:?}: {text:?}"),
            );
        }
    }
    let mut p = SENTINEL;
    t.check(aclrtMalloc(&raw mut p, 64, 0) != 0, "an allocation works");
    t.eq(p, SENTINEL, "output");
}

macro_rules! refused {
    ($($id:literal: $name:literal = $value:literal $(, $word:literal)*;)*) => {
        vec![$(
            case($id, Setup::fresh().env($name, $value), |t| {
                refuses(t, $name, &[$($word),*]);
            }),
        )*]
    };
}

fn bad_values() -> Vec<Case> {
    refused! {
        "x.setting.devices_zero": "CANNERY_DEVICES" = "0", "1", "16";
        "x.setting.devices_too_many": "CANNERY_DEVICES" = "17", "1", "16";
        "x.setting.devices_word": "CANNERY_DEVICES" = "two", "1", "16";
        "x.setting.devices_negative": "CANNERY_DEVICES" = "-1", "1", "16";
        "x.setting.profile_unknown": "CANNERY_PROFILE" = "banana", "910", "310P", "310B", "910B", "A3", "950", "IPV350";
        "x.setting.profile_unknown_soc": "CANNERY_PROFILE" = "Ascend910B77", "910B";
        "x.setting.mode_unknown": "CANNERY_MODE" = "both", "ep", "rc";
        "x.setting.mode_rc_on_a_card": "CANNERY_MODE" = "rc", "310B", "310P";
        "x.setting.capacity_word": "CANNERY_HBM_BYTES" = "lots", "K", "M", "G";
        "x.setting.capacity_bad_suffix": "CANNERY_HBM_BYTES" = "12Q";
        "x.setting.capacity_wraps": "CANNERY_HBM_BYTES" = "99999999999G";
        "x.setting.capacity_negative": "CANNERY_HBM_BYTES" = "-1";
        "x.setting.huge_more_than_all": "CANNERY_HUGE_BYTES" = "99999G";
        "x.setting.huge_word": "CANNERY_HUGE_BYTES" = "most";
        "x.setting.pin_unknown": "CANNERY_PIN" = "maybe", "auto", "strict", "off";
        "x.setting.limits_unknown_key": "CANNERY_LIMITS" = "banana=1", "lock";
        "x.setting.limits_no_value": "CANNERY_LIMITS" = "lock";
        "x.setting.limits_bad_value": "CANNERY_LIMITS" = "lock=abc";
        "x.setting.api_version_unknown": "CANNERY_API_VERSION" = "0.0.1";
        "x.setting.schedule_unknown": "CANNERY_SCHEDULE" = "bogus", "fifo";
        "x.setting.check_not_built": "CANNERY_CHECK" = "full", "not built";
        "x.setting.trace_not_built": "CANNERY_TRACE" = "on", "not built";
        "x.setting.vendor_not_built": "CANNERY_VENDOR" = "lib", "not built";
        "x.setting.pool_not_built": "CANNERY_POOL" = "on", "not built";
        "x.setting.faults_not_built": "CANNERY_FAULTS" = "any", "not built";
    }
}

fn device_count() -> (aclError, u32) {
    let mut n = 77;
    (aclrtGetDeviceCount(&raw mut n), n)
}

/// Physical ids behind the user ids 0, 1, ...
fn physical(t: &T, users: i32) -> Vec<i32> {
    (0..users)
        .map(|user| {
            let mut phy = -77;
            let code = aclrtGetPhyDevIdByUserDevId(user, &raw mut phy);
            t.ok(code, "aclrtGetPhyDevIdByUserDevId");
            phy
        })
        .collect()
}

fn visible(list: &str) -> Setup {
    Setup::init()
        .devices(4)
        .env("ASCEND_RT_VISIBLE_DEVICES", list)
}

/// The list names no device at all.
fn nothing_visible(t: &T) {
    t.fails(aclrtSetDevice(0), ERROR_DEVICE, "aclrtSetDevice(0)");
    let (code, n) = device_count();
    t.check(code != 0 || n == 0, &format!("count {n}, code {code}"));
}

fn visible_devices() -> Vec<Case> {
    vec![
        case("x.visible.renumbered", visible("1,3"), |t| {
            t.eq(device_count(), (0, 2), "devices");
            t.eq(physical(t, 2), vec![1, 3], "physical ids");
            let mut user = -77;
            let code = aclrtGetUserDevIdByPhyDevId(3, &raw mut user);
            t.ok(code, "aclrtGetUserDevIdByPhyDevId");
            t.eq(user, 1, "user id of physical 3");
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.eq(t.attributes(p).location.id, 1, "user id of the block");
            t.fails(aclrtSetDevice(2), ERROR_DEVICE, "aclrtSetDevice(2)");
        }),
        case("x.visible.all", visible("0,1,2,3"), |t| {
            t.eq(device_count(), (0, 4), "devices");
            t.eq(physical(t, 4), vec![0, 1, 2, 3], "physical ids");
        }),
        case("x.visible.must_ascend", visible("2,0"), |t| {
            let (code, n) = device_count();
            t.fails(code, 207_004, "aclrtGetDeviceCount");
            t.eq(n, 77, "output");
            t.fails(aclrtSetDevice(0), ERROR_DEVICE, "aclrtSetDevice(0)");
        }),
        case("x.visible.duplicates", visible("1,1"), |t| {
            let (code, _) = device_count();
            t.check(code != 0, "duplicates were accepted");
            let text = t.pending_text("the refusal");
            t.check(text.contains("EE2002"), &format!("message code: {text}"));
            t.check(
                text.contains("ASCEND_RT_VISIBLE_DEVICES"),
                &format!("name: {text}"),
            );
            t.check(aclrtSetDevice(0) != 0, "aclrtSetDevice(0) succeeded");
        }),
        case(
            "x.visible.stops_at_foreign_character",
            visible("1,2x,3"),
            |t| {
                let (code, n) = device_count();
                t.ok(code, "aclrtGetDeviceCount");
                t.check(
                    n == 1 || n == 2,
                    &format!("{n} devices before the foreign character"),
                );
                t.eq(physical(t, 1), vec![1], "physical id");
            },
        ),
        case("x.visible.stops_at_blank", visible("1, 2"), |t| {
            t.eq(device_count(), (0, 1), "devices");
            t.eq(physical(t, 1), vec![1], "physical id");
        }),
        case("x.visible.stops_at_invalid_id", visible("0,9,1"), |t| {
            t.eq(device_count(), (0, 1), "devices");
            t.eq(physical(t, 1), vec![0], "physical id");
        }),
        case("x.visible.word", visible("all"), nothing_visible),
        case("x.visible.only_invalid_id", visible("7"), nothing_visible),
        case(
            "x.visible.resources_are_the_physical_ones",
            visible("2").memory("64M", "32M"),
            |t| {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.usable(p, 64);
                t.eq(t.attributes(p).location.id, 0, "user id of the block");
            },
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = bad_values();
    cases.extend(visible_devices());
    cases.push(case(
        "x.setting.good_values_are_accepted",
        Setup::device0()
            .devices(2)
            .profile("910B")
            .env("CANNERY_MODE", "ep")
            .memory("1g", "512m")
            .env("CANNERY_PIN", "off"),
        |t| {
            t.eq(device_count(), (0, 2), "devices");
            t.eq(t.mem(ACL_HBM_MEM).1, GIB, "capacity");
            t.eq(t.mem(ACL_HBM_MEM_HUGE).1, 512 * MIB, "huge pages");
        },
    ));
    cases
}
