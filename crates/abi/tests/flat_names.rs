//! The names that other crates and programs rely on, used as they would use them.

use std::ffi::c_void;

use cannery_abi::*;

#[test]
fn names_stand_at_the_root() {
    let policy: aclrtMemMallocPolicy = ACL_MEM_MALLOC_HUGE_FIRST;
    assert_eq!(policy, 0);
    // A value outside the list is representable: the runtime has a rule for it.
    let outside: aclrtMemMallocPolicy = 12345;
    assert_ne!(outside, policy);
    let failure: aclError = ACL_ERROR_RT_MEMORY_ALLOCATION;
    assert_eq!(failure, 207_001);
    assert_eq!(EE1001, "EE1001");
    assert_eq!(ACL_EVENT_TIME_LINE, 8_u32);
}

#[test]
fn location_types_keep_their_opposite_order() {
    // The two look alike; the members stand in opposite order.
    let plain = aclrtMemLocation {
        id: 3,
        r#type: ACL_MEM_LOCATION_TYPE_DEVICE,
    };
    let managed = aclrtMemManagedLocation {
        r#type: ACL_MEM_LOCATIONTYPE_DEVICE,
        id: 3,
    };
    assert_eq!(std::mem::offset_of!(aclrtMemLocation, id), 0);
    assert_eq!(std::mem::offset_of!(aclrtMemManagedLocation, r#type), 0);
    assert_eq!((plain.id, managed.id), (3, 3));
}

#[test]
fn the_unnamed_union_of_a_task_shares_one_place() {
    assert_eq!(std::mem::offset_of!(aclmdlRITaskParams, detail), 72);
    assert_eq!(
        std::mem::offset_of!(aclmdlRITaskParams, detail.kernelTaskParams),
        72
    );
    assert_eq!(
        std::mem::offset_of!(aclmdlRITaskParams, detail.valueWaitTaskParams),
        72
    );
    assert_eq!(size_of::<aclmdlRITaskParams_detail>(), 128);
}

#[test]
fn a_null_callback_is_none() {
    extern "C" fn count(user_data: *mut c_void) {
        assert!(user_data.is_null());
    }
    let none: aclrtCallback = None;
    let some: aclrtCallback = Some(count);
    assert!(none.is_none() && some.is_some());
    assert_eq!(size_of::<aclrtCallback>(), size_of::<*const c_void>());
}
