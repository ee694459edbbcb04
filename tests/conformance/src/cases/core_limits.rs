//! Limits of cores.

use super::support::*;

const CUBE: aclrtDevResLimitType = ACL_RT_DEV_RES_CUBE_CORE;
const VECTOR: aclrtDevResLimitType = ACL_RT_DEV_RES_VECTOR_CORE;
const UNKNOWN: i64 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT as i64;

fn of_device(t: &T, device: i32, kind: aclrtDevResLimitType) -> u32 {
    let mut value = 77;
    let code = aclrtGetDeviceResLimit(device, kind, &raw mut value);
    t.ok(code, "aclrtGetDeviceResLimit");
    value
}

fn of_stream(t: &T, stream: aclrtStream, kind: aclrtDevResLimitType) -> u32 {
    let mut value = 77;
    let code = aclrtGetStreamResLimit(stream, kind, &raw mut value);
    t.ok(code, "aclrtGetStreamResLimit");
    value
}

fn in_thread(t: &T, kind: aclrtDevResLimitType) -> u32 {
    let mut value = 77;
    let code = aclrtGetResInCurrentThread(kind, &raw mut value);
    t.ok(code, "aclrtGetResInCurrentThread");
    value
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.cores.never_set_is_not_known", Setup::device0(), |t| {
            let mut value = 77;
            t.fails(
                aclrtGetDeviceResLimit(0, CUBE, &raw mut value),
                UNKNOWN,
                "of the device",
            );
            t.fails(
                aclrtGetStreamResLimit(null_mut(), CUBE, &raw mut value),
                UNKNOWN,
                "of the default stream",
            );
            t.fails(
                aclrtGetResInCurrentThread(VECTOR, &raw mut value),
                UNKNOWN,
                "of the thread",
            );
            t.eq(value, 77, "output");
        }),
        case(
            "x.cores.stream_before_device",
            Setup::device0().devices(2),
            |t| {
                let (a, b) = (t.stream(), t.stream());
                t.ok(aclrtSetDeviceResLimit(0, CUBE, 20), "device");
                t.ok(aclrtSetDeviceResLimit(0, VECTOR, 40), "device");
                t.ok(aclrtSetStreamResLimit(a, CUBE, 8), "stream");
                t.eq(of_stream(t, a, CUBE), 8, "cube cores of the stream");
                t.eq(of_stream(t, a, VECTOR), 40, "vector cores: of the device");
                t.eq(of_stream(t, b, CUBE), 20, "another stream");
                t.eq(in_thread(t, CUBE), 20, "thread, before it uses a stream");
                t.ok(aclrtUseStreamResInCurrentThread(a), "use");
                t.eq(in_thread(t, CUBE), 8, "thread that uses the stream");
                t.eq(in_thread(t, VECTOR), 40, "what the stream does not limit");
                t.ok(aclrtUnuseStreamResInCurrentThread(a), "unuse");
                t.eq(in_thread(t, CUBE), 20, "thread, afterwards");
                let mut value = 77;
                t.fails(
                    aclrtGetDeviceResLimit(1, CUBE, &raw mut value),
                    UNKNOWN,
                    "the other device",
                );
                t.ok(aclrtResetStreamResLimit(a), "reset of the stream");
                t.eq(of_stream(t, a, CUBE), 20, "stream without its own");
                t.ok(aclrtSetDeviceResLimit(0, CUBE, 10), "the last one wins");
                t.eq(of_device(t, 0, CUBE), 10, "device");
                t.ok(aclrtResetDeviceResLimit(0), "reset of the device");
                t.fails(
                    aclrtGetDeviceResLimit(0, CUBE, &raw mut value),
                    UNKNOWN,
                    "after the reset",
                );
            },
        ),
        case("x.cores.a_new_stream_has_no_limit", Setup::device0(), |t| {
            let first = t.stream();
            t.ok(aclrtSetStreamResLimit(first, CUBE, 8), "stream");
            t.ok(aclrtDestroyStream(first), "aclrtDestroyStream");
            let mut value = 77;
            for _ in 0..4 {
                let next = t.stream();
                t.fails(
                    aclrtGetStreamResLimit(next, CUBE, &raw mut value),
                    UNKNOWN,
                    "a stream at the place of the old one",
                );
            }
            t.fails(
                aclrtUseStreamResInCurrentThread(first),
                107_017,
                "a destroyed stream",
            );
        }),
        case("x.cores.arguments", Setup::device0(), |t| {
            let mut value = 77;
            for kind in [-1, 2] {
                t.fails_with(
                    aclrtSetDeviceResLimit(0, kind, 1),
                    ERROR_FRONT,
                    "EH0007 param=type",
                    "an unknown kind",
                );
                t.fails_with(
                    aclrtGetResInCurrentThread(kind, &raw mut value),
                    ERROR_FRONT,
                    "EH0007 param=type",
                    "an unknown kind",
                );
            }
            let bad = aclrtSetDeviceResLimit(1, CUBE, 1);
            t.fails(
                bad,
                ACL_ERROR_RT_INVALID_DEVICEID.into(),
                "a device that is not there",
            );
            let no_limit = aclrtUseStreamResInCurrentThread(t.stream());
            t.fails(
                no_limit,
                ACL_ERROR_RT_PARAM_INVALID.into(),
                "a stream without a limit",
            );
            t.eq(value, 77, "output");
        }),
    ]
}
