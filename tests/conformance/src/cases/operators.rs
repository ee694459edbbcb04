//! Operators: none run, and every call says so; options of their compiler are remembered.

use core::ffi::c_char;

use super::support::*;

const JIT: i32 = 10;
const REFUSED: i64 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT as i64;

fn compile_option(t: &T, opt: i32) -> String {
    let size = aclGetCompileoptSize(opt);
    let mut value = vec![0x55 as c_char; size + 1];
    t.ok(
        aclGetCompileopt(opt, value.as_mut_ptr(), size),
        "aclGetCompileopt",
    );
    t.eq(value[size - 1], 0, "last byte of the value");
    t.eq(value[size], 0x55, "the byte behind it");
    value[..size - 1]
        .iter()
        .map(|c| char::from(*c as u8))
        .collect()
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.operator.refused_by_name", Setup::device0(), |t| {
            let code = aclopCompileAndExecute(c"MatMulV2".as_ptr());
            t.eq(i64::from(code), REFUSED, "aclopCompileAndExecute");
            let text = t.pending_text("aclopCompileAndExecute");
            t.check(
                text.contains("MatMulV2") && text.contains("memory, not operators"),
                &format!("a text that does not explain: {text}"),
            );
            t.fails(
                aclopCompileAndExecute(null()),
                REFUSED,
                "an operator without a name",
            );
        }),
        case("x.operator.facilities_refuse", Setup::fresh(), |t| {
            t.fails(
                aclopSetAttrInt(null_mut(), c"axis".as_ptr(), 1),
                REFUSED,
                "aclopSetAttrInt",
            );
            t.eq(aclCreateTensorDesc(), null_mut(), "aclCreateTensorDesc");
            let text = t.pending_text("aclCreateTensorDesc");
            t.check(
                text.starts_with("[EE1005] aclCreateTensorDesc"),
                &format!("the newest text is {text}"),
            );
            aclDestroyTensorDesc(null_mut());
            t.check(recent_text().is_none(), "the end of nothing left a text");
        }),
        case(
            "x.operator.profiling_hooks_are_silent",
            Setup::fresh(),
            |t| {
                t.eq(MsprofReportApi(), 0, "MsprofReportApi");
                t.check(recent_text().is_none(), "a hook left a text");
            },
        ),
        case("x.operator.option.compiled_later", Setup::fresh(), |t| {
            t.eq(&compile_option(t, JIT)[..], "disable", "when they compile");
            t.ok(
                aclSetCompileopt(JIT, c"enable".as_ptr()),
                "aclSetCompileopt",
            );
            t.eq(&compile_option(t, JIT)[..], "enable", "after it was set");
            t.ok(aclSetCompileopt(3, c"".as_ptr()), "aclSetCompileopt");
            t.eq(&compile_option(t, 3)[..], "", "an empty value");
        }),
        case("x.operator.option.arguments", Setup::fresh(), |t| {
            t.fails_with(
                aclSetCompileopt(JIT, null()),
                ERROR_FRONT,
                "EH0008 param=value",
                "no value",
            );
            t.fails_with(
                aclSetCompileopt(-1, c"x".as_ptr()),
                ERROR_FRONT,
                "EH0007 param=opt",
                "an option that cannot be",
            );
            t.eq(aclGetCompileoptSize(2), 0, "size of what was never set");
            t.check(recent_text().is_some(), "no text");
            let mut value = [0x55 as c_char; 8];
            t.fails(
                aclGetCompileopt(2, value.as_mut_ptr(), 8),
                REFUSED,
                "what was never set",
            );
            t.fails_with(
                aclGetCompileopt(JIT, value.as_mut_ptr(), 7),
                ERROR_FRONT,
                "EH0007 param=length",
                "a place that is too small",
            );
            t.eq(value, [0x55; 8], "output");
        }),
    ]
}
