//! Random numbers: what the arguments of a task may be.

use super::gate::*;
use super::random_numbers::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.random.null_arguments", Setup::device0(), |t| {
            let b = Bench::new(t);
            let good = b.floats(UNIFORM, 0.0, 1.0, 1, 4);
            let code = aclrtRandomNumAsync(null(), b.s, null_mut());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=taskInfo", "no description");
            let code = aclrtRandomNumAsync(&raw const good, b.s, addr(8));
            t.fails_with(code, ERROR_FRONT, "param=reserve", "the reserved argument");
            let mut bad = good;
            bad.randomResultAddr = null_mut();
            t.fails(b.ask(&bad), ERROR_FRONT, "no result");
            let mut bad = good;
            bad.randomCounterAddr = null_mut();
            t.fails(b.ask(&bad), ERROR_FRONT, "no counter");
            let code = aclrtRandomNumAsync(&raw const good, t.dead_stream(), null_mut());
            t.fails(code, ERROR_HANDLE, "a dead stream");
            let code = aclrtRandomNumAsync(&raw const good, t.foreign_stream(), null_mut());
            t.fails(code, ERROR_FOREIGN_STREAM, "a foreign stream");
            on_thread(|| {
                t.fails(b.ask(&good), ERROR_CONTEXT, "a thread without a context");
            });
            b.queue(t, &good);
            t.sync(b.s);
        }),
        case("x.random.bad_parameters", Setup::device0(), |t| {
            let b = Bench::new(t);
            let float = |x: f32| value(&x.to_le_bytes());
            let pairs = [
                (UNIFORM, 1.0, 0.5),
                (UNIFORM, f32::NAN, 1.0),
                (UNIFORM, 0.0, f32::INFINITY),
                (NORMAL, 0.0, -1.0),
                (NORMAL, f32::INFINITY, 1.0),
                (TRUNCATED, 0.0, f32::NAN),
                (MASK, 1.5, 0.0),
                (MASK, -0.1, 0.0),
                (MASK, f32::NAN, 0.0),
                (4, 0.0, 1.0),
                (-1, 0.0, 1.0),
            ];
            for (kind, first, second) in pairs {
                let code = b.ask(&b.floats(kind, first, second, 1, 4));
                t.fails(code, ERROR_PARAM, &format!("{kind}: {first}, {second}"));
            }
            for (data_type, kind) in [
                (ACL_DOUBLE, UNIFORM),
                (ACL_INT8, UNIFORM),
                (ACL_BOOL, UNIFORM),
                (-7, UNIFORM),
                (ACL_INT32, NORMAL),
                (ACL_INT64, TRUNCATED),
                (ACL_UINT32, MASK),
            ] {
                let info = b.task(data_type, func(kind, float(0.0), float(1.0)), 1, 4);
                let what = format!("type {data_type} for {kind}");
                t.fails(b.ask(&info), ERROR_PARAM, &what);
            }
            let same = value(&5i32.to_le_bytes());
            let info = b.task(ACL_INT32, func(UNIFORM, same, same), 1, 4);
            t.fails(b.ask(&info), ERROR_PARAM, "an empty range of integers");
            let good = b.floats(UNIFORM, 0.0, 1.0, 1, 4);
            let mut odd = good;
            odd.randomSeed.size = 3;
            t.fails(b.ask(&odd), ERROR_PARAM, "a seed of 3 bytes");
            let mut odd = good;
            odd.randomNum.size = 0;
            t.fails(b.ask(&odd), ERROR_PARAM, "a count of 0 bytes");
            let mut odd = good;
            odd.randomSeed.isAddr = 2;
            t.fails(b.ask(&odd), ERROR_PARAM, "isAddr 2");
            let mut odd = good;
            odd.randomNum = count(0);
            t.fails(b.ask(&odd), ERROR_PARAM, "no numbers");
            let wide = value(&0f64.to_le_bytes());
            let info = b.task(ACL_FLOAT, func(UNIFORM, wide, wide), 1, 4);
            t.fails(b.ask(&info), ERROR_PARAM, "bounds of 8 bytes for floats");
        }),
        case("x.random.ranges", Setup::device0(), |t| {
            let b = Bench::new(t);
            let small = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            let (_, room) = t.range(small);
            let host = t.malloc_host(64);
            let good = b.floats(UNIFORM, 0.0, 1.0, 1, 4);
            let with = |change: &dyn Fn(&mut aclrtRandomNumTaskInfo)| {
                let mut info = good;
                change(&mut info);
                b.ask(&info)
            };
            let code = with(&|info| {
                info.randomResultAddr = small;
                info.randomNum = count(room / 4 + 1);
            });
            t.fails(code, ERROR_PARAM, "a result that leaves its block");
            let code = with(&|info| info.randomNum = count(usize::MAX));
            t.fails(code, ERROR_PARAM, "a count whose bytes overflow");
            let code = with(&|info| info.randomResultAddr = off(small, 2));
            t.fails(code, ERROR_PARAM, "a result that is not aligned");
            let code = with(&|info| info.randomResultAddr = host);
            t.fails(code, ERROR_PARAM, "a result in host memory");
            let code = with(&|info| info.randomCounterAddr = off(small, room - 8));
            t.fails(code, ERROR_PARAM, "a counter that leaves its block");
            let code = with(&|info| info.randomCounterAddr = host);
            t.fails(code, ERROR_PARAM, "a counter in host memory");
            let code = with(&|info| info.randomParaAddr = host);
            t.fails(code, ERROR_PARAM, "parameters in host memory");
            for bad in [null_mut(), host, addr(64), off(small, room - 4)] {
                let code = with(&|info| info.randomSeed = at(bad, 8));
                t.fails(code, ERROR_PARAM, &format!("a seed at {bad:p}"));
            }
            t.free(small);
            let code = with(&|info| info.randomResultAddr = small);
            t.fails(code, ERROR_PARAM, "a released result");
            t.eq(b.counter(t), 0, "counter after refused calls");
            b.queue(t, &good);
            t.sync(b.s);
            t.eq(b.counter(t), 1, "counter after a call");
        }),
        case("x.random.other_device", Setup::device0().devices(2), |t| {
            let b = Bench::new(t);
            t.ok(aclrtSetDevice(1), "aclrtSetDevice");
            let elsewhere = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let mut info = b.floats(UNIFORM, 0.0, 1.0, 1, 4);
            info.randomResultAddr = elsewhere;
            t.fails(b.ask(&info), ERROR_PARAM, "a result on another device");
        }),
        case("x.random.a3", Setup::device0().profile("A3"), |t| {
            let b = Bench::new(t);
            let numbers = b.run_floats(t, &b.floats(UNIFORM, 0.0, 1.0, 0, 4), 4);
            t.check(numbers[0] != numbers[1], "numbers are equal");
        }),
        case("x.random.product", Setup::device0().profile("950"), |t| {
            let b = Bench::new(t);
            let code = b.ask(&b.floats(UNIFORM, 0.0, 1.0, 0, 4));
            t.fails(code, ERROR_UNSUPPORTED, "a product without it");
        }),
    ]
}
