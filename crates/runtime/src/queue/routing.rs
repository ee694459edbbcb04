//! What carries messages along routes: one thread for each source queue that has routes.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::queues::{self, Queue};
use super::ring::Patience;
use super::route::{ABNORMAL, BOUND, Route, UNBOUND};
use crate::error::{Error, Fault, Result};
use crate::os::thread::spawn_quiet;
use crate::patient;
use crate::process::current;

/// A route that is bound.
struct Bound {
    from: u32,
    to: u32,
    target: Arc<Queue>,
    status: AtomicI32,
    /// Ends what the carrier waits for on this route.
    unbound: AtomicBool,
    /// Whether the carrier holds a message that is meant for it.
    busy: AtomicBool,
}

/// How long unbinding waits for a message that is under way (it may have to wait for other routes).
const UNDER_WAY: Duration = Duration::from_millis(200);

/// The thread of a source, and where it carries messages.
struct Carrier {
    source: Arc<Queue>,
    routes: Mutex<Vec<Arc<Bound>>>,
}

#[derive(Default)]
struct Bindings {
    epoch: u32,
    carriers: Vec<Arc<Carrier>>,
}

static BINDINGS: LazyLock<Mutex<Bindings>> = LazyLock::new(Mutex::default);

fn bindings<R>(act: impl FnOnce(&mut Vec<Arc<Carrier>>) -> Result<R>) -> Result<R> {
    let epoch = current()?.epoch();
    let mut bindings = patient::lock(&BINDINGS).ok_or(Fault::Forked)?;
    if bindings.epoch != epoch {
        // The threads of a parent process are not here.
        bindings.epoch = epoch;
        bindings.carriers.clear();
    }
    act(&mut bindings.carriers)
}

impl Carrier {
    fn routes(&self) -> MutexGuard<'_, Vec<Arc<Bound>>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Routes that can take a message.
    fn healthy(&self) -> Vec<Arc<Bound>> {
        let routes = self.routes();
        let healthy = |route: &&Arc<Bound>| route.status.load(Ordering::Acquire) == BOUND;
        routes.iter().filter(healthy).cloned().collect()
    }

    fn carry(&self) {
        while !self.routes().is_empty() {
            if self.source.ring.check().is_err() {
                for route in self.routes().iter() {
                    route.status.store(ABNORMAL, Ordering::Release);
                }
                return;
            }
            let has_message = self.source.ring.has_message();
            let routes = self.healthy();
            if routes.is_empty() {
                // Messages stay where they are. A route that is bound later starts again.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            if has_message {
                let busy = |is: bool| {
                    routes
                        .iter()
                        .for_each(|route| route.busy.store(is, Ordering::Release))
                };
                busy(true);
                self.carry_one(&routes);
                busy(false);
            }
        }
    }

    /// Every healthy route gets the message. One that is unbound while it waits for room goes without; a
    /// message that nobody got goes back.
    fn carry_one(&self, routes: &[Arc<Bound>]) {
        let Ok(at_once) = Patience::new(0) else {
            return;
        };
        let never = &self.source.never;
        let Ok(parcel) = self.source.ring.take(at_once, never, |_| Ok(())) else {
            return;
        };
        let mut arrived = false;
        for route in routes {
            loop {
                let done = route
                    .target
                    .ring
                    .put(&parcel, Patience::ENDLESS, &route.unbound);
                match done {
                    Ok(()) => arrived = true,
                    Err(_) if route.unbound.load(Ordering::Acquire) => {}
                    // Somebody who used it was killed: that concerns others.
                    Err(error)
                        if error.code() == abi::ACL_ERROR_RT_IPC_ERROR
                            && route.target.ring.check().is_ok() =>
                    {
                        continue;
                    }
                    Err(error) => {
                        route.status.store(ABNORMAL, Ordering::Release);
                        crate::log::warn(format_args!(
                            "the route from queue {} to queue {} is abnormal: code {}",
                            route.from,
                            route.to,
                            error.code()
                        ));
                    }
                }
                break;
            }
        }
        if !arrived {
            let _ = self.source.ring.put_back(parcel);
        }
    }
}

fn name(route: &Route) -> String {
    format!("queue {} to queue {}", route.from, route.to)
}

fn find(carriers: &[Arc<Carrier>], from: u32, to: u32) -> Option<Arc<Bound>> {
    carriers.iter().find_map(|carrier| {
        let routes = carrier.routes();
        let route = routes
            .iter()
            .find(|route| (route.from, route.to) == (from, to))?;
        Some(route.clone())
    })
}

/// Whether messages from `from` reach `to`.
fn reaches(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(node) = seen.get(at).copied() {
        if node == to {
            return true;
        }
        for (_, next) in edges.iter().filter(|(start, _)| *start == node) {
            if !seen.contains(next) {
                seen.push(*next);
            }
        }
        at += 1;
    }
    false
}

/// Binds all routes, or none.
pub(crate) fn bind(routes: &[Route]) -> Result<()> {
    let refuse = |route: &Route, why: &str| Error::rt_cause("qRouteList", name(route), why);
    bindings(|carriers| {
        let bound = carriers
            .iter()
            .flat_map(|carrier| carrier.routes().clone())
            .map(|route| (route.from, route.to));
        let mut edges: Vec<_> = bound.collect();
        let mut ready = Vec::with_capacity(routes.len());
        for route in routes {
            let (source, target) = (queues::managed(route.from)?, queues::managed(route.to)?);
            if edges.contains(&(route.from, route.to)) {
                return Err(refuse(
                    route,
                    "is bound already, or stands twice in the list",
                ));
            }
            if reaches(&edges, route.to, route.from) {
                return Err(refuse(
                    route,
                    "closes a circle; messages would go round for ever",
                ));
            }
            edges.push((route.from, route.to));
            ready.push((route, source, target));
        }
        let mut added: Vec<Arc<Bound>> = Vec::new();
        // All routes of a source begin with the same message.
        while let Some((first, source, _)) = ready.first() {
            let (from, source) = (first.from, Arc::clone(source));
            let of_source = ready.extract_if(.., |(route, ..)| route.from == from);
            let bound = of_source.map(|(route, _, target)| {
                Arc::new(Bound {
                    from: route.from,
                    to: route.to,
                    target,
                    status: AtomicI32::new(BOUND),
                    unbound: AtomicBool::new(false),
                    busy: AtomicBool::new(false),
                })
            });
            let bound = bound.collect::<Vec<_>>();
            added.extend(bound.iter().cloned());
            let same = |carrier: &&Arc<Carrier>| Arc::ptr_eq(&carrier.source, &source);
            match carriers.iter().find(same) {
                Some(carrier) => carrier.routes().extend(bound),
                None => {
                    if let Err(error) = start(carriers, source, bound) {
                        added.iter().for_each(|route| drop_route(carriers, route));
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    })
}

fn start(
    carriers: &mut Vec<Arc<Carrier>>,
    source: Arc<Queue>,
    routes: Vec<Arc<Bound>>,
) -> Result<()> {
    let carrier = Arc::new(Carrier {
        source,
        routes: Mutex::new(routes),
    });
    let run = carrier.clone();
    if !spawn_quiet("cannery-route", 128 << 10, move || run.carry()) {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "the machine has no thread left for a route",
        ));
    }
    carriers.push(carrier);
    Ok(())
}

/// Takes a route from its carrier, which ends with its last one.
fn drop_route(carriers: &mut Vec<Arc<Carrier>>, route: &Arc<Bound>) {
    route.unbound.store(true, Ordering::Release);
    for carrier in carriers.iter() {
        carrier.routes().retain(|other| !Arc::ptr_eq(other, route));
        carrier.source.ring.page().ring();
    }
    route.target.ring.page().ring();
    carriers.retain(|carrier| !carrier.routes().is_empty());
}

/// Unbinds all routes, or none.
pub(crate) fn unbind(routes: &[Route]) -> Result<()> {
    let mut gone = Vec::new();
    bindings(|carriers| {
        for (at, route) in routes.iter().enumerate() {
            let twice = routes[..at]
                .iter()
                .any(|other| (other.from, other.to) == (route.from, route.to));
            if twice || find(carriers, route.from, route.to).is_none() {
                return Err(Error::rt_cause("qRouteList", name(route), "is not bound"));
            }
        }
        for route in routes {
            if let Some(bound) = find(carriers, route.from, route.to) {
                drop_route(carriers, &bound);
                gone.push(bound);
            }
        }
        Ok(())
    })?;
    // A message that went nowhere is back in its queue when the call returns.
    let until = Instant::now() + UNDER_WAY;
    while gone.iter().any(|route| route.busy.load(Ordering::Acquire)) && Instant::now() < until {
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// What a route is in this process.
pub(crate) fn status(from: u32, to: u32) -> i32 {
    let found = bindings(|carriers| Ok(find(carriers, from, to)));
    found
        .ok()
        .flatten()
        .map_or(UNBOUND, |bound| state_of(&bound))
}

fn state_of(bound: &Bound) -> i32 {
    // A queue that ended while nothing moves is noticed here.
    if bound.target.ring.check().is_err() {
        bound.status.store(ABNORMAL, Ordering::Release);
    }
    bound.status.load(Ordering::Acquire)
}

/// All routes of this process.
pub(crate) fn all() -> Result<Vec<Route>> {
    bindings(|carriers| {
        let routes = carriers.iter().flat_map(|carrier| {
            let gone = carrier.source.ring.check().is_err();
            let of = |bound: &Arc<Bound>| Route {
                from: bound.from,
                to: bound.to,
                status: if gone { ABNORMAL } else { state_of(bound) },
            };
            carrier.routes().iter().map(of).collect::<Vec<_>>()
        });
        Ok(routes.collect())
    })
}
