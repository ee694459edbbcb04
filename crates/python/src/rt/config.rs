//! Options of the process and of the context, and time limits of operators.

use crate::calls::calls;
use crate::convert::{Bits32, Int, Long, Word};

calls! {
    also [];

    /// ret = ctx_set_sys_param_opt(opt, value): for the current context.
    fn ctx_set_sys_param_opt(opt: Int, value: Long) -> code = aclrtCtxSetSysParamOpt(opt, value);

    /// value, ret = ctx_get_sys_param_opt(opt): an error when it was never set.
    fn ctx_get_sys_param_opt(opt: Int) -> (value: i64) = aclrtCtxGetSysParamOpt(opt, &raw mut value);

    /// ret = set_sys_param_opt(opt, value): for the process.
    fn set_sys_param_opt(opt: Int, value: Long) -> code = aclrtSetSysParamOpt(opt, value);

    /// value, ret = get_sys_param_opt(opt)
    fn get_sys_param_opt(opt: Int) -> (value: i64) = aclrtGetSysParamOpt(opt, &raw mut value);

    /// ret = set_op_wait_timeout(timeout): seconds, 0 never; for the process.
    fn set_op_wait_timeout(timeout: Bits32) -> code = aclrtSetOpWaitTimeout(timeout);

    /// ret = set_op_execute_time_out(timeout): seconds, 0 the maximum.
    fn set_op_execute_time_out(timeout: Bits32) -> code = aclrtSetOpExecuteTimeOut(timeout);

    /// actual_time_out, ret = set_op_execute_timeout_v2(timeout): microseconds, 0 the maximum.
    fn set_op_execute_timeout_v2(timeout: Word) -> (actual_time_out: u64) = aclrtSetOpExecuteTimeOutV2(
        timeout as u64,
        &raw mut actual_time_out,
    );

    /// interval, ret = get_op_timeout_interval(): the step of the limit in microseconds.
    fn get_op_timeout_interval() -> (interval: u64) = aclrtGetOpTimeoutInterval(&raw mut interval);

    /// time_out_ms, ret = get_op_execute_timeout(): milliseconds; 2**32 - 1 is never.
    fn get_op_execute_timeout() -> (time_out_ms: u32) = aclrtGetOpExecuteTimeout(&raw mut time_out_ms);
}
