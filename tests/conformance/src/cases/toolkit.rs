//! Features of the toolkit, options of the process and of the operator compiler, data types.

use super::support::*;

const ARGUMENT: i64 = 100_000;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.toolkit.process_options", Setup::init(), |t| {
            let read = |option| {
                let mut value = 77;
                let code = i64::from(aclrtGetSysParamOpt(option, &raw mut value));
                (code, value)
            };
            t.eq(
                read(ACL_OPT_DETERMINISTIC),
                (0, 0),
                "an option that was never set",
            );
            t.ok(
                aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2),
                "aclrtSetSysParamOpt",
            );
            t.eq(read(ACL_OPT_DETERMINISTIC), (0, 2), "the option");
            t.eq(read(ACL_OPT_ENABLE_DEBUG_KERNEL), (0, 0), "another option");
            // It is that of the process, in every thread, and not that of a context.
            t.eq(
                on_thread(|| read(ACL_OPT_DETERMINISTIC)),
                (0, 2),
                "in another thread",
            );
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let mut value = 77;
            let code = aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &raw mut value);
            t.fails(code, 107_021, "the option of the context");
            t.eq(read(99), (ARGUMENT, 77), "option 99");
            t.fails_with(aclrtSetSysParamOpt(-1, 1), ARGUMENT, "opt -1", "option -1");
            let code = aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, null_mut());
            t.fails(code, ARGUMENT, "no place");
        }),
        case("x.toolkit.compile_options", Setup::init(), |t| {
            t.eq(aclGetCompileoptSize(10), 8, "size of the option 10");
            let mut text = [0x55; 8];
            let code = aclGetCompileopt(10, text.as_mut_ptr(), 7);
            t.fails_with(code, ARGUMENT, "length 7", "too little room");
            t.eq(text, [0x55; 8], "output");
            t.ok(
                aclGetCompileopt(10, text.as_mut_ptr(), 8),
                "aclGetCompileopt",
            );
            t.eq(
                string(text.as_ptr()),
                Some("disable".to_owned()),
                "the option 10",
            );
            t.eq(
                aclGetCompileoptSize(0),
                0,
                "size of an option that was never set",
            );
            t.check(recent_text().is_some(), "no text");
            t.ok(
                aclSetCompileopt(0, c"allow_fp32_to_fp16".as_ptr()),
                "aclSetCompileopt",
            );
            let mut text = [0x55; 64];
            t.ok(
                aclGetCompileopt(0, text.as_mut_ptr(), 64),
                "aclGetCompileopt",
            );
            t.eq(
                string(text.as_ptr()),
                Some("allow_fp32_to_fp16".to_owned()),
                "what was set",
            );
            t.fails(aclSetCompileopt(0, null()), ARGUMENT, "no value");
            t.fails(aclSetCompileopt(-1, c"".as_ptr()), ARGUMENT, "option -1");
        }),
        case("x.toolkit.features", Setup::init(), |t| {
            for feature in [
                ACL_CANN_ATTR_INF_NAN,
                ACL_CANN_ATTR_BF16,
                ACL_CANN_ATTR_JIT_COMPILE,
            ] {
                let mut value = 77;
                t.ok(
                    aclGetCannAttribute(feature, &raw mut value),
                    "aclGetCannAttribute",
                );
                t.eq(value, 0, "a feature of operators, of which there are none");
            }
            let mut value = 77;
            t.fails(
                aclGetCannAttribute(3, &raw mut value),
                ARGUMENT,
                "feature 3",
            );
            t.fails(
                aclGetCannAttribute(-1, &raw mut value),
                ARGUMENT,
                "feature -1",
            );
            t.eq(value, 77, "output");
            let (mut list, mut num) = (null(), UNTOUCHED);
            t.ok(
                aclGetCannAttributeList(&raw mut list, &raw mut num),
                "aclGetCannAttributeList",
            );
            t.eq((list.is_null(), num), (false, 0), "the list");
        }),
        case("x.toolkit.data_types", Setup::init(), |t| {
            let sizes = [
                (ACL_FLOAT, 4),
                (ACL_FLOAT16, 2),
                (ACL_INT8, 1),
                (ACL_INT64, 8),
                (ACL_BOOL, 1),
                (ACL_COMPLEX128, 16),
                (ACL_BF16, 2),
            ];
            for (data_type, size) in sizes {
                t.eq(
                    aclDataTypeSize(data_type),
                    size,
                    &format!("size of type {data_type}"),
                );
            }
            for none in [ACL_DT_UNDEFINED, ACL_STRING, ACL_INT4, 5, 1000] {
                t.eq(aclDataTypeSize(none), 0, &format!("size of type {none}"));
                t.check(recent_text().is_some(), "no text");
            }
        }),
        case("x.toolkit.half_precision", Setup::init(), |t| {
            for (bits, value) in [
                (0x0000, 0.0),
                (0x3c00, 1.0),
                (0xc000, -2.0),
                (0x7bff, 65504.0),
                (0x0001, 5.960_464_5e-8),
                // The largest exponent is an ordinary one.
                (0x7c00, 65536.0),
                (0xfc00, -65536.0),
                (0x7e00, 98304.0),
            ] {
                t.eq(aclFloat16ToFloat(bits), value, &format!("{bits:#06x}"));
            }
            for (value, bits) in [
                (0.0, 0x0000),
                (1.0, 0x3c00),
                (-2.0, 0xc000),
                (65504.0, 0x7bff),
                (1e9, 0x7bff),
                (-1e9, 0xfbff),
                (f32::INFINITY, 0x7bff),
                (f32::NEG_INFINITY, 0xfbff),
                (f32::NAN, 0x7bff),
            ] {
                t.eq(aclFloatToFloat16(value), bits, &format!("{value}"));
            }
            // Every ordinary number comes back.
            for bits in (0..0x7c00u16).flat_map(|bits| [bits, bits | 0x8000]) {
                if aclFloatToFloat16(aclFloat16ToFloat(bits)) != bits {
                    t.fail(format!("{bits:#06x} does not come back"));
                }
            }
        }),
    ]
}
