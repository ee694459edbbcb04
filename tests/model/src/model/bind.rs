//! Devices and contexts: references, bindings, and what goes with the last of them.

use super::{CONTEXT_RELEASE, Code, Context, INVALID_DEVICE, Model, SUCCESS};

impl Model {
    fn known(&self, id: i32) -> Option<usize> {
        usize::try_from(id)
            .ok()
            .filter(|id| *id < self.devices.len())
    }

    fn add_context(&mut self, device: usize, primary: bool) -> usize {
        self.contexts.push(Context {
            device,
            primary,
            alive: true,
            handle: None,
        });
        self.contexts.len() - 1
    }

    /// aclrtSetDevice.
    pub(crate) fn set_device(&mut self, thread: usize, id: i32) -> Code {
        let Some(index) = self.known(id) else {
            return INVALID_DEVICE;
        };
        let primary = match self.devices[index].primary {
            Some(primary) => primary,
            None => self.add_context(index, true),
        };
        let device = &mut self.devices[index];
        if device.primary.is_none() {
            device.release_pending = false;
        }
        device.primary = Some(primary);
        device.references += 1;
        self.threads[thread] = Some(primary);
        SUCCESS
    }

    /// aclrtResetDevice and aclrtResetDeviceForce.
    pub(crate) fn reset_device(&mut self, thread: usize, id: i32, force: bool) -> Code {
        let Some(index) = self.known(id) else {
            return INVALID_DEVICE;
        };
        let device = &mut self.devices[index];
        if device.references == 0 {
            return CONTEXT_RELEASE;
        }
        device.references = if force { 0 } else { device.references - 1 };
        if device.references > 0 {
            return SUCCESS;
        }
        device.release_pending = true;
        if let Some(primary) = device.primary.take() {
            self.contexts[primary].alive = false;
            if self.threads[thread] == Some(primary) {
                self.threads[thread] = None;
            }
        }
        self.release_memory(index);
        SUCCESS
    }

    /// Memory goes with the last reset, unless explicit contexts keep the device alive.
    fn release_memory(&mut self, index: usize) {
        let device = &mut self.devices[index];
        if device.references == 0 && device.explicit == 0 && device.release_pending {
            device.release_pending = false;
            device.peers.clear();
            self.forget_memory(index);
        }
    }

    /// aclrtCreateContext: the code and, when it is 0, the number of the context.
    pub(crate) fn create_context(&mut self, thread: usize, id: i32) -> Result<usize, Code> {
        let index = self.known(id).ok_or(INVALID_DEVICE)?;
        let context = self.add_context(index, false);
        self.devices[index].explicit += 1;
        self.threads[thread] = Some(context);
        Ok(context)
    }

    /// aclrtDestroyContext of a context that is alive and explicit.
    pub(crate) fn destroy_context(&mut self, thread: usize, context: usize) {
        self.contexts[context].alive = false;
        if self.threads[thread] == Some(context) {
            self.threads[thread] = None;
        }
        let index = self.contexts[context].device;
        self.devices[index].explicit -= 1;
        self.release_memory(index);
    }
}
