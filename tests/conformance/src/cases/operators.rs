//! Operators: none run, and every call says so.

use super::support::*;

const REFUSED: i64 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT as i64;

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
    ]
}
