//! Chapter: snapshots. These calls are let in while others wait.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::snapshot;

use crate::face::faces_let_in;

// exports: aclrtSnapShotProcessLock, aclrtSnapShotProcessUnlock, aclrtSnapShotProcessBackup
// exports: aclrtSnapShotProcessRestore, aclrtSnapShotCallbackRegister, aclrtSnapShotCallbackUnregister
faces_let_in! {
    /// aclrtSnapShotProcessLock
    fn aclrtSnapShotProcessLock(pid: i32, reserve: *mut c_void)
        => snapshot::lock(pid, reserve as u64);
    /// aclrtSnapShotProcessUnlock
    fn aclrtSnapShotProcessUnlock(pid: i32, reserve: *mut c_void)
        => snapshot::unlock(pid, reserve as u64);
    /// aclrtSnapShotProcessBackup
    fn aclrtSnapShotProcessBackup(pid: i32, args: *mut abi::aclrtSnapShotBackupArgs)
        => snapshot::backup(pid, args as u64);
    /// aclrtSnapShotProcessRestore
    fn aclrtSnapShotProcessRestore(pid: i32, args: *mut abi::aclrtSnapShotRestoreArgs)
        => snapshot::restore(pid, args as u64);
    /// aclrtSnapShotCallbackRegister
    fn aclrtSnapShotCallbackRegister(
        stage: abi::aclrtSnapShotStage,
        callback: abi::aclrtSnapShotCallBack,
        args: *mut c_void,
    ) => snapshot::register(stage, callback, args);
    /// aclrtSnapShotCallbackUnregister
    fn aclrtSnapShotCallbackUnregister(
        stage: abi::aclrtSnapShotStage,
        callback: abi::aclrtSnapShotCallBack,
    ) => snapshot::unregister(stage, callback);
}
