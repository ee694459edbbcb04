//! Manual chapter: shared queues. Routes between queues, lists of them, and conditions to look for
//! them: objects of the program. What carries the messages is in `routing`.

use cannery_abi as abi;

use super::routing;
use super::table::Table;
use crate::error::{Error, Result};
use crate::process::here;

pub(crate) const UNBOUND: i32 = abi::ACL_TDT_QUEUE_ROUTE_UNBIND;
pub(crate) const BOUND: i32 = abi::ACL_TDT_QUEUE_ROUTE_BIND;
pub(crate) const ABNORMAL: i32 = abi::ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;

/// From one queue to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// 0 unbound, 1 bound, 2 abnormal.
    pub(crate) status: i32,
}

/// Which routes are looked for.
#[derive(Clone, Copy, Default)]
struct Condition {
    mode: Option<i32>,
    from: Option<u32>,
    to: Option<u32>,
}

static ROUTES: Table<Route> = Table::new(0xce, "queue route", "acltdtCreateQueueRoute");
static LISTS: Table<Vec<Route>> = Table::new(0xcf, "route list", "acltdtCreateQueueRouteList");
static CONDITIONS: Table<Condition> =
    Table::new(0xd7, "route query", "acltdtCreateQueueRouteQueryInfo");

fn check(param: &'static str, handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null(param));
    }
    Ok(())
}

/// acltdtCreateQueueRoute: not bound.
///
/// # Errors
/// 207000 where the product has no queues.
pub fn create(from: u32, to: u32) -> Result<u64> {
    ROUTES.add(Route {
        from,
        to,
        status: UNBOUND,
    })
}

/// acltdtDestroyQueueRoute. Does not unbind.
///
/// # Errors
/// 100000 for NULL and what is no living object.
pub fn destroy(handle: u64) -> Result<()> {
    check("route", handle)?;
    ROUTES.remove("route", handle).map(drop)
}

/// acltdtGetQueueRouteParam: the number, as 4 bytes.
///
/// # Errors
/// 100000 for what is no living route, an unknown type, and a length other than 4.
pub fn param(handle: u64, kind: i32, len: usize) -> Result<u32> {
    check("route", handle)?;
    if !(abi::ACL_TDT_QUEUE_ROUTE_SRC_UINT32..=abi::ACL_TDT_QUEUE_ROUTE_STATUS_INT32)
        .contains(&kind)
    {
        return Err(Error::value(
            "type",
            kind,
            "must be in [0, 2] (acltdtQueueRouteParamType)",
        ));
    }
    if len != 4 {
        return Err(Error::value("len", len, "must be 4"));
    }
    ROUTES.with("route", handle, |route| {
        Ok(match kind {
            abi::ACL_TDT_QUEUE_ROUTE_SRC_UINT32 => route.from,
            abi::ACL_TDT_QUEUE_ROUTE_DST_UINT32 => route.to,
            _ => route.status.cast_unsigned(),
        })
    })
}

/// acltdtCreateQueueRouteList: empty.
///
/// # Errors
/// As [`create`].
pub fn create_list() -> Result<u64> {
    LISTS.add(Vec::new())
}

/// acltdtDestroyQueueRouteList. Does not unbind.
///
/// # Errors
/// As [`destroy`].
pub fn destroy_list(handle: u64) -> Result<()> {
    check("routeList", handle)?;
    LISTS.remove("routeList", handle).map(drop)
}

/// acltdtAddQueueRoute: a copy of the route goes to the end of the list.
///
/// # Errors
/// As [`destroy`].
pub fn add(list: u64, route: u64) -> Result<()> {
    check("routeList", list)?;
    check("route", route)?;
    let route = ROUTES.with("route", route, |route| Ok(*route))?;
    LISTS.with("routeList", list, |routes| {
        routes.push(route);
        Ok(())
    })
}

/// acltdtGetQueueRouteNum.
///
/// # Errors
/// As [`destroy`].
pub fn length(list: u64) -> Result<u64> {
    check("routeList", list)?;
    LISTS.with("routeList", list, |routes| Ok(routes.len() as u64))
}

/// acltdtGetQueueRoute: copies a route of the list into a route object.
///
/// # Errors
/// As [`destroy`], and 100000 for an index beyond the list.
pub fn get(list: u64, index: u64, into: u64) -> Result<()> {
    check("routeList", list)?;
    check("route", into)?;
    let found = LISTS.with("routeList", list, |routes| {
        let found = usize::try_from(index).ok().and_then(|at| routes.get(at));
        found.copied().ok_or_else(|| {
            Error::value(
                "index",
                index,
                format!("must be below {}, the routes of the list", routes.len()),
            )
        })
    })?;
    ROUTES.with("route", into, |route| {
        *route = found;
        Ok(())
    })
}

/// acltdtCreateQueueRouteQueryInfo: no condition yet.
///
/// # Errors
/// As [`create`].
pub fn create_query() -> Result<u64> {
    CONDITIONS.add(Condition::default())
}

/// acltdtDestroyQueueRouteQueryInfo.
///
/// # Errors
/// As [`destroy`].
pub fn destroy_query(handle: u64) -> Result<()> {
    check("info", handle)?;
    CONDITIONS.remove("info", handle).map(drop)
}

/// Checks type and length of acltdtSetQueueRouteQueryInfo.
///
/// # Errors
/// 100000 for an unknown type, and a length other than 4.
pub fn check_query(kind: i32, len: usize) -> Result<()> {
    let known =
        abi::ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM..=abi::ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32;
    if !known.contains(&kind) {
        return Err(Error::value(
            "type",
            kind,
            "must be in [0, 2] (acltdtQueueRouteQueryInfoParamType)",
        ));
    }
    if len != 4 {
        return Err(Error::value("len", len, "must be 4"));
    }
    Ok(())
}

/// acltdtSetQueueRouteQueryInfo, after [`check_query`].
///
/// # Errors
/// 100000 for what is no living object, and for an unknown mode.
pub fn set_query(handle: u64, kind: i32, value: u32) -> Result<()> {
    check("param", handle)?;
    let mode = value.cast_signed();
    let is_mode = matches!(
        mode,
        abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC
            | abi::ACL_TDT_QUEUE_ROUTE_QUERY_DST
            | abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST
            | abi::ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL
    );
    if kind == abi::ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM && !is_mode {
        return Err(Error::value(
            "value",
            mode,
            "must be 0 (source), 1 (destination), 2 (both) or 100 (abnormal)",
        ));
    }
    CONDITIONS.with("param", handle, |condition| {
        match kind {
            abi::ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM => condition.mode = Some(mode),
            abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 => condition.from = Some(value),
            _ => condition.to = Some(value),
        }
        Ok(())
    })
}

/// acltdtBindQueueRoutes: messages of each source go on to its destinations from now on. All routes are
/// bound, or none.
///
/// # Errors
/// 100000 for NULL, what is no living list, and an empty one; 107002; 100032 and 207006 for its queues;
/// 107000 for a route that is bound already or closes a circle.
pub fn bind(list: u64) -> Result<()> {
    change(list, routing::bind)
}

/// acltdtUnbindQueueRoutes. All routes are unbound, or none.
///
/// # Errors
/// As [`bind`]; 107000 for a route that is not bound.
pub fn unbind(list: u64) -> Result<()> {
    change(list, routing::unbind)
}

fn change(list: u64, act: impl FnOnce(&[Route]) -> Result<()>) -> Result<()> {
    check("qRouteList", list)?;
    let routes = LISTS.with("qRouteList", list, |routes| Ok(routes.clone()))?;
    if routes.is_empty() {
        return Err(Error::cause(
            "qRouteList",
            format!("{list:#x}"),
            "has no routes; add some with acltdtAddQueueRoute",
        ));
    }
    here()?;
    act(&routes)?;
    LISTS.with("qRouteList", list, |routes| {
        for route in routes {
            route.status = routing::status(route.from, route.to);
        }
        Ok(())
    })
}

/// acltdtQueryQueueRoutes: the list becomes the routes of this process that fit the condition.
///
/// # Errors
/// 100000 for NULL, what is no living object, and a condition without a mode or the ids of its mode;
/// 107002.
pub fn query(condition: u64, list: u64) -> Result<()> {
    check("queryInfo", condition)?;
    check("qRouteList", list)?;
    let handle = condition;
    let condition = CONDITIONS.with("queryInfo", condition, |condition| Ok(*condition))?;
    length(list)?;
    let unset = |what: &str| {
        Error::cause(
            "queryInfo",
            format!("{handle:#x}"),
            format!("has no {what}; set it with acltdtSetQueueRouteQueryInfo"),
        )
    };
    let mode = condition.mode.ok_or_else(|| unset("mode"))?;
    let by_from = matches!(
        mode,
        abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC | abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST
    );
    let by_to = matches!(
        mode,
        abi::ACL_TDT_QUEUE_ROUTE_QUERY_DST | abi::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST
    );
    if by_from && condition.from.is_none() {
        return Err(unset("source queue"));
    }
    if by_to && condition.to.is_none() {
        return Err(unset("destination queue"));
    }
    here()?;
    let mut found = routing::all()?;
    found.retain(|route| {
        (!by_from || condition.from == Some(route.from))
            && (!by_to || condition.to == Some(route.to))
            && (mode != abi::ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL || route.status == ABNORMAL)
    });
    LISTS.with("qRouteList", list, |routes| {
        *routes = found;
        Ok(())
    })
}
