//! Objects behind handles that others may hold on to while the handle ends.

use std::sync::Arc;

use crate::os::lock::QuickLock;
use crate::registry::Registry;

/// One kind of object.
pub(crate) struct Handles<T: 'static>(Registry<QuickLock<Option<Arc<T>>>>);

impl<T: Send + Sync> Handles<T> {
    pub(crate) const fn new(tag: u16) -> Self {
        Handles(Registry::new(tag))
    }

    /// A handle for an object. `None` when there are too many.
    pub(crate) fn add(&'static self, object: Arc<T>) -> Option<u64> {
        self.0.create(|place| *place.lock() = Some(object))
    }

    /// The living object of a handle.
    pub(crate) fn get(&'static self, handle: u64) -> Option<Arc<T>> {
        let object = self.0.find(handle)?.lock().clone();
        // The place may have gone to another object in between.
        self.0.find(handle).and(object)
    }

    /// Ends a handle. `None`: it is no living one.
    pub(crate) fn remove(&'static self, handle: u64) -> Option<Arc<T>> {
        let place = self.0.find(handle)?;
        if !self.0.end(handle) {
            return None;
        }
        let object = place.lock().take();
        self.0.recycle(handle);
        object
    }

    /// Every living object.
    pub(crate) fn living(&'static self) -> Vec<Arc<T>> {
        let all = self.0.living();
        all.iter()
            .filter_map(|(_, place)| place.lock().clone())
            .collect()
    }

    /// In a forked child: every object belongs to the parent.
    pub(crate) fn end_all(&'static self) {
        self.0.end_all();
    }
}
