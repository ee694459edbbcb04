//! Routes between queues.

use std::time::Duration;

use super::queue::*;
use super::support::*;

impl T {
    /// A list of routes.
    pub(super) fn routes(&self, routes: &[(u32, u32)]) -> *mut acltdtQueueRouteList {
        let list = acltdtCreateQueueRouteList();
        for (from, to) in routes {
            let route = acltdtCreateQueueRoute(*from, *to);
            self.ok(acltdtAddQueueRoute(list, route), "acltdtAddQueueRoute");
            self.ok(acltdtDestroyQueueRoute(route), "acltdtDestroyQueueRoute");
        }
        list
    }

    /// State of a route of a list.
    pub(super) fn route_state(&self, list: *const acltdtQueueRouteList, index: usize) -> i32 {
        let route = acltdtCreateQueueRoute(0, 0);
        self.ok(
            acltdtGetQueueRoute(list, index, route),
            "acltdtGetQueueRoute",
        );
        let (mut state, mut size) = (-1, 0);
        let kind = ACL_TDT_QUEUE_ROUTE_STATUS_INT32;
        let param = (&raw mut state).cast();
        let code = acltdtGetQueueRouteParam(route, kind, 4, &raw mut size, param);
        self.ok(code, "acltdtGetQueueRouteParam");
        self.ok(acltdtDestroyQueueRoute(route), "acltdtDestroyQueueRoute");
        state
    }

    /// Routes of a mode, from and to these queues.
    pub(super) fn route_query(&self, mode: i32, from: Option<u32>, to: Option<u32>) -> usize {
        let query = acltdtCreateQueueRouteQueryInfo();
        let set = |kind, value: &u32| {
            let place = std::ptr::from_ref(value).cast();
            let code = acltdtSetQueueRouteQueryInfo(query, kind, 4, place);
            self.ok(code, "acltdtSetQueueRouteQueryInfo");
        };
        set(ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, &mode.cast_unsigned());
        from.iter()
            .for_each(|id| set(ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, id));
        to.iter()
            .for_each(|id| set(ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, id));
        let list = acltdtCreateQueueRouteList();
        self.ok(
            acltdtQueryQueueRoutes(query, list),
            "acltdtQueryQueueRoutes",
        );
        acltdtGetQueueRouteNum(list)
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.queue.routes_carry", Setup::device0(), |t| {
            let (a, b, c, d) = (t.queue(), t.queue(), t.queue(), t.queue());
            let all: Vec<_> = (0..20).map(|_| t.random_bytes(MIB / 4)).collect();
            // What waits already goes on as well.
            t.enqueue(a, &all[0]);
            let list = t.routes(&[(a, b), (b, c), (a, d)]);
            t.eq(t.route_state(list, 0), 0, "state before");
            t.ok(acltdtBindQueueRoutes(list), "acltdtBindQueueRoutes");
            t.eq(t.route_state(list, 2), 1, "state after");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    // More than fit: it waits until the far end takes some.
                    for bytes in &all[1..] {
                        let (data, size) = (src(bytes), bytes.len());
                        t.ok(
                            acltdtEnqueueData(a, data, size, null(), 0, -1, 0),
                            "acltdtEnqueueData",
                        );
                    }
                });
                for bytes in &all {
                    t.same_bytes(
                        &t.dequeue(c, MIB),
                        bytes,
                        "message at the end of two routes",
                    );
                    t.same_bytes(&t.dequeue(d, MIB), bytes, "message at the other end");
                }
            });
            t.eq(
                t.route_query(0, Some(a), None),
                2,
                "routes from the first queue",
            );
            t.eq(
                t.route_query(1, None, Some(c)),
                1,
                "routes to the third queue",
            );
            t.eq(
                t.route_query(2, Some(b), Some(d)),
                0,
                "routes that do not exist",
            );
            t.eq(t.route_query(2, Some(a), Some(d)), 1, "one route");
            t.eq(t.route_query(100, None, None), 0, "abnormal routes");
            t.ok(acltdtUnbindQueueRoutes(list), "acltdtUnbindQueueRoutes");
            t.eq(t.route_state(list, 1), 0, "state after unbinding");
            t.enqueue(a, &all[3]);
            std::thread::sleep(Duration::from_millis(120));
            t.eq(
                t.dequeue_code(b, 1),
                EMPTY,
                "code of a queue without a route",
            );
            t.same_bytes(&t.dequeue(a, MIB), &all[3], "message that stayed");
        }),
        case("x.queue.routes_unbind_while_full", Setup::device0(), |t| {
            // Nothing is lost when a route ends while its message waits for room.
            let (a, b) = (t.queue(), t.queue());
            for number in 0..8u8 {
                t.enqueue(b, &[number]);
            }
            let list = t.routes(&[(a, b)]);
            t.ok(acltdtBindQueueRoutes(list), "acltdtBindQueueRoutes");
            let bytes = t.random_bytes(MIB);
            t.enqueue(a, &bytes);
            t.enqueue(a, &[9]);
            std::thread::sleep(Duration::from_millis(120));
            t.ok(acltdtUnbindQueueRoutes(list), "acltdtUnbindQueueRoutes");
            t.same_bytes(&t.dequeue(a, MIB), &bytes, "message that went back");
            t.same_bytes(&t.dequeue(a, MIB), &[9], "message behind it");
            for number in 0..8u8 {
                t.same_bytes(&t.dequeue(b, MIB), &[number], "messages of the other queue");
            }
        }),
        case("x.queue.routes_refused", Setup::device0(), |t| {
            let (a, b, c) = (t.queue(), t.queue(), t.queue());
            let bind = |routes: &[(u32, u32)]| acltdtBindQueueRoutes(t.routes(routes));
            t.fails(bind(&[]), ARGUMENT, "no routes");
            t.fails(bind(&[(a, a)]), 107_000, "a queue to itself");
            t.fails(bind(&[(a, b), (b, c), (c, a)]), 107_000, "a circle");
            t.fails(bind(&[(a, b), (a, b)]), 107_000, "one route twice");
            t.fails(bind(&[(a, b), (a, 8191)]), UNKNOWN_QUEUE, "no such queue");
            // None of those was bound.
            t.eq(t.route_query(0, Some(a), None), 0, "routes");
            t.ok(bind(&[(a, b)]), "acltdtBindQueueRoutes");
            t.fails(bind(&[(b, a)]), 107_000, "the way back");
            let list = t.routes(&[(a, b), (b, c)]);
            t.fails(
                acltdtUnbindQueueRoutes(list),
                107_000,
                "one that is not bound",
            );
            t.eq(t.route_query(0, Some(a), None), 1, "routes");
            // A queue that ends leaves an abnormal route.
            t.ok(acltdtDestroyQueue(b), "acltdtDestroyQueue");
            t.eq(t.route_query(100, None, None), 1, "abnormal routes");
            t.ok(
                acltdtUnbindQueueRoutes(t.routes(&[(a, b)])),
                "unbind an abnormal route",
            );
            t.eq(t.route_query(100, None, None), 0, "abnormal routes");
        }),
        case("x.queue.route_objects", Setup::init(), |t| {
            let route = acltdtCreateQueueRoute(17, 4_000_000_000);
            let read = |kind, len| {
                let (mut value, mut size) = (77u32, UNTOUCHED);
                let param = (&raw mut value).cast();
                let code = acltdtGetQueueRouteParam(route, kind, len, &raw mut size, param);
                (i64::from(code), value, size)
            };
            t.eq(
                read(ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4),
                (0, 17, 4),
                "source",
            );
            t.eq(
                read(ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4),
                (0, 4_000_000_000, 4),
                "destination",
            );
            t.eq(
                read(ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4),
                (0, 0, 4),
                "state",
            );
            t.eq(
                read(ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 8).0,
                ARGUMENT,
                "length 8",
            );
            t.eq(read(3, 4).0, ARGUMENT, "type 3");
            let list = t.routes(&[(1, 2), (3, 4)]);
            t.eq(acltdtGetQueueRouteNum(list), 2, "routes");
            t.ok(acltdtGetQueueRoute(list, 1, route), "acltdtGetQueueRoute");
            t.eq(
                read(ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 4).1,
                3,
                "source of the second route",
            );
            t.fails(
                acltdtGetQueueRoute(list, 2, route),
                ARGUMENT,
                "beyond the list",
            );
            let query = acltdtCreateQueueRouteQueryInfo();
            let mode = 5u32;
            let place = (&raw const mode).cast();
            t.fails(
                acltdtSetQueueRouteQueryInfo(query, 0, 4, place),
                ARGUMENT,
                "mode 5",
            );
            t.fails(
                acltdtSetQueueRouteQueryInfo(query, 3, 4, place),
                ARGUMENT,
                "type 3",
            );
            t.fails(acltdtQueryQueueRoutes(query, list), ARGUMENT, "no mode");
            t.eq(
                acltdtGetQueueRouteNum(list),
                2,
                "routes after a failed query",
            );
            t.ok(acltdtDestroyQueueRouteQueryInfo(query), "destroy");
            t.fails(
                acltdtDestroyQueueRouteQueryInfo(query),
                ARGUMENT,
                "a second time",
            );
        }),
    ]
}
