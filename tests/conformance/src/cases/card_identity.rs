//! How cards are told apart: unique ids and places on the bus.

use core::ffi::c_char;

use super::support::*;

fn uuid(t: &T, device: i32) -> [c_char; 16] {
    let mut uuid = aclrtUuid { bytes: [0; 16] };
    t.ok(
        aclrtDeviceGetUuid(device, &raw mut uuid),
        "aclrtDeviceGetUuid",
    );
    uuid.bytes
}

fn bus_id(t: &T, device: i32) -> String {
    let mut text = [0x55 as c_char; 20];
    t.ok(
        aclrtDeviceGetPCIBusId(device, text.as_mut_ptr(), 13),
        "aclrtDeviceGetPCIBusId",
    );
    t.eq(text[12], 0, "the byte after 12 characters");
    t.eq(&text[13..], &[0x55; 7], "bytes behind the text");
    text[..12].iter().map(|c| char::from(*c as u8)).collect()
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "x.device.uuid.each_device_has_its_own",
            Setup::fresh().devices(3),
            |t| {
                let ids = [uuid(t, 0), uuid(t, 1), uuid(t, 2)];
                t.eq(uuid(t, 0), ids[0], "asked again");
                t.check(
                    ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
                    "two devices share an id",
                );
                t.check(ids.iter().all(|id| *id != [0; 16]), "an empty id");
            },
        ),
        case(
            "x.device.uuid.is_that_of_the_physical_device",
            Setup::fresh()
                .devices(3)
                .env("ASCEND_RT_VISIBLE_DEVICES", "0,2"),
            |t| {
                // The last places of a bus name the physical device.
                t.eq(&bus_id(t, 0)[..], "ca00:01:00.0", "place of device 0");
                t.eq(&bus_id(t, 1)[..], "ca00:03:00.0", "place of device 2");
                t.check(uuid(t, 0) != uuid(t, 1), "one id for two devices");
            },
        ),
        case("x.device.uuid.arguments", Setup::fresh(), |t| {
            t.fails_with(
                aclrtDeviceGetUuid(0, null_mut()),
                ERROR_FRONT,
                "EH0008 param=uuid",
                "without a place",
            );
            let mut id = aclrtUuid { bytes: [7; 16] };
            t.fails(
                aclrtDeviceGetUuid(1, &raw mut id),
                ACL_ERROR_RT_INVALID_DEVICEID.into(),
                "a device that is not there",
            );
            t.eq(id.bytes, [7; 16], "output");
        }),
        case(
            "x.device.bus_id.leads_back",
            Setup::fresh().devices(16),
            |t| {
                for device in 0..16 {
                    let text = CString::new(bus_id(t, device)).unwrap_or_default();
                    let mut found = -77;
                    t.ok(
                        aclrtDeviceGetByPCIBusId(text.as_ptr(), &raw mut found),
                        "aclrtDeviceGetByPCIBusId",
                    );
                    t.eq(found, device, "device at its own place");
                }
            },
        ),
        case("x.device.bus_id.arguments", Setup::fresh(), |t| {
            let mut text = [0x55 as c_char; 13];
            let short = aclrtDeviceGetPCIBusId(0, text.as_mut_ptr(), 12);
            t.fails_with(short, ERROR_FRONT, "EH0007 param=len", "12 bytes");
            t.eq(text, [0x55; 13], "output");
            let none = aclrtDeviceGetPCIBusId(0, null_mut(), 13);
            t.fails_with(none, ERROR_FRONT, "EH0008 param=pciBusId", "no place");
            let mut device = -77;
            let none = aclrtDeviceGetByPCIBusId(null(), &raw mut device);
            t.fails_with(none, ERROR_FRONT, "EH0008 param=pciBusId", "no text");
            let nowhere = aclrtDeviceGetByPCIBusId(c"0000:00:1f.7".as_ptr(), &raw mut device);
            t.fails(
                nowhere,
                ACL_ERROR_RT_PARAM_INVALID.into(),
                "a place without a device",
            );
            t.eq(device, -77, "output");
        }),
        case(
            "x.device.uuid.products_without_it",
            Setup::fresh().profile("310P"),
            |t| {
                let mut id = aclrtUuid { bytes: [7; 16] };
                t.fails(
                    aclrtDeviceGetUuid(0, &raw mut id),
                    ACL_ERROR_RT_FEATURE_NOT_SUPPORT.into(),
                    "310P",
                );
            },
        ),
        case("x.device.feature", Setup::fresh(), |t| {
            for feature in [1, 21] {
                let mut value = -77;
                t.ok(
                    aclrtGetDeviceCapability(0, feature, &raw mut value),
                    "aclrtGetDeviceCapability",
                );
                t.eq(value, 0, "a feature that does not exist here");
            }
            let mut value = -77;
            t.fails(
                aclrtGetDeviceCapability(0, 2, &raw mut value),
                ERROR_FRONT,
                "an unknown feature",
            );
            t.fails(
                aclrtGetDeviceCapability(4, 1, &raw mut value),
                ACL_ERROR_RT_INVALID_DEVICEID.into(),
                "a device that is not there",
            );
            t.eq(value, -77, "output");
        }),
    ]
}
