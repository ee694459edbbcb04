//! Steps that choose devices and contexts.

use super::World;
use crate::api;
use crate::model::{
    Code, INVALID_DEVICE, INVALID_PARAM, NO_CONTEXT, NOT_SUPPORTED, PARAM_INVALID, SUCCESS,
};

impl World {
    pub(super) fn bind(&mut self, thread: usize) {
        match self
            .source
            .weighted(&[30, 9, 1, 7, 6, 12, 8, 6, 4, 4, 3, 2])
        {
            0 => self.set_device(thread),
            1 => self.reset_device(thread, false),
            2 => self.reset_device(thread, true),
            3 => self.create_context(thread),
            4 => self.destroy_context(thread),
            5 => self.set_context(thread),
            6 => self.which_context(thread),
            7 => self.which_device(thread),
            8 => self.enable_peer(thread),
            9 => self.disable_peer(thread),
            10 => self.ask_peer(thread),
            _ => self.can_access_peer(thread),
        }
    }

    fn device_id(&mut self) -> i32 {
        let devices = self.model.devices.len() as i32;
        match self.source.below(24) {
            0 => self
                .source
                .pick(&[-1, devices, 16, 4096, i32::MIN, i32::MAX]),
            _ => self.source.below(devices as u64) as i32,
        }
    }

    fn set_device(&mut self, thread: usize) {
        let id = self.device_id();
        let right = self.model.set_device(thread, id);
        self.note(format!("thread {thread}: aclrtSetDevice({id}) -> {right}"));
        let code = api::aclrtSetDevice(id);
        self.judge("aclrtSetDevice", code, &[right]);
    }

    fn reset_device(&mut self, thread: usize, force: bool) {
        let id = self.device_id();
        let right = self.model.reset_device(thread, id, force);
        let function = if force {
            "aclrtResetDeviceForce"
        } else {
            "aclrtResetDevice"
        };
        self.note(format!("thread {thread}: {function}({id}) -> {right}"));
        let code = if force {
            api::aclrtResetDeviceForce(id)
        } else {
            api::aclrtResetDevice(id)
        };
        self.judge(function, code, &[right]);
        self.forget_gone();
    }

    fn create_context(&mut self, thread: usize) {
        if self.source.once_in(30) {
            let code = api::aclrtCreateContext(std::ptr::null_mut(), 0);
            self.judge("aclrtCreateContext", code, &[INVALID_PARAM]);
            return;
        }
        let id = self.device_id();
        let known = usize::try_from(id).is_ok_and(|id| id < self.model.devices.len());
        let right = if known { SUCCESS } else { INVALID_DEVICE };
        self.note(format!(
            "thread {thread}: aclrtCreateContext({id}) -> {right}"
        ));
        let mut handle = 0x77;
        let place: *mut u64 = &raw mut handle;
        let code = api::aclrtCreateContext(place.cast(), id);
        self.judge("aclrtCreateContext", code, &[right]);
        if right != SUCCESS {
            self.insist(handle == 0x77, || {
                format!("a failed call wrote {handle:#x}")
            });
            return;
        }
        let number = self
            .model
            .create_context(thread, id)
            .expect("the id is known");
        self.learn(number, handle);
    }

    /// A handle that the library has shown: it must differ from those of all living contexts.
    fn learn(&mut self, number: usize, handle: u64) {
        let twin = self
            .model
            .contexts
            .iter()
            .position(|context| context.alive && context.handle == Some(handle));
        self.insist(
            handle != 0 && twin.is_none_or(|twin| twin == number),
            || format!("context {number} has the handle {handle:#x} of context {twin:?}"),
        );
        let context = &mut self.model.contexts[number];
        let known = *context.handle.get_or_insert(handle);
        self.insist(known == handle, || {
            format!("context {number} was {known:#x} and is {handle:#x}")
        });
    }

    /// The handle of a context of the wanted kind.
    fn some_handle(&mut self, wanted: impl Fn(&crate::model::Context) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.model.contexts.len())
            .rev()
            .filter(|n| {
                let context = &self.model.contexts[*n];
                context.handle.is_some() && wanted(context)
            })
            .take(40)
            .collect();
        let at = self.source.below(fitting.len() as u64) as usize;
        fitting.get(at).copied()
    }

    /// A handle that names no living context.
    fn bad_handle(&mut self) -> u64 {
        let dead = self.some_handle(|context| !context.alive);
        let handle = dead.and_then(|number| self.model.contexts[number].handle);
        let stray = self
            .source
            .pick(&[1, 0x1000, u64::MAX, 0x7fff_ffff_0000, 0x12c0_0000_0000]);
        match handle {
            // The same number may live again only if another context has it now.
            Some(handle) if !self.source.once_in(4) && !self.is_living(handle) => handle,
            _ => stray,
        }
    }

    fn is_living(&self, handle: u64) -> bool {
        let mut contexts = self.model.contexts.iter();
        contexts.any(|context| context.alive && context.handle == Some(handle))
    }

    fn destroy_context(&mut self, thread: usize) {
        let (handle, number, right) = match self.source.below(8) {
            0 => (0, None, INVALID_PARAM),
            1 => (self.bad_handle(), None, NO_CONTEXT),
            2 => match self.some_handle(|context| context.alive && context.primary) {
                Some(number) => (
                    self.model.contexts[number].handle.unwrap_or(0),
                    None,
                    NO_CONTEXT,
                ),
                None => return,
            },
            _ => match self.some_handle(|context| context.alive && !context.primary) {
                Some(number) => (
                    self.model.contexts[number].handle.unwrap_or(0),
                    Some(number),
                    SUCCESS,
                ),
                None => return,
            },
        };
        self.note(format!(
            "thread {thread}: aclrtDestroyContext({handle:#x}) -> {right}"
        ));
        let code = api::aclrtDestroyContext(api::pointer(handle));
        self.judge("aclrtDestroyContext", code, &[right]);
        if let Some(number) = number {
            self.model.destroy_context(thread, number);
            self.forget_gone();
        }
    }

    fn set_context(&mut self, thread: usize) {
        let (handle, number, right) = match self.source.below(8) {
            0 => (self.bad_handle(), None, PARAM_INVALID),
            _ => match self.some_handle(|context| context.alive) {
                Some(number) => (
                    self.model.contexts[number].handle.unwrap_or(0),
                    Some(number),
                    SUCCESS,
                ),
                None => return,
            },
        };
        self.note(format!(
            "thread {thread}: aclrtSetCurrentContext({handle:#x}) -> {right}"
        ));
        let code = api::aclrtSetCurrentContext(api::pointer(handle));
        self.judge("aclrtSetCurrentContext", code, &[right]);
        if number.is_some() {
            self.model.threads[thread] = number;
        }
    }

    fn which_context(&mut self, thread: usize) {
        let bound = self.model.threads[thread];
        let alive = bound.filter(|number| self.model.contexts[*number].alive);
        let right: Code = if alive.is_some() { SUCCESS } else { NO_CONTEXT };
        self.note(format!(
            "thread {thread}: aclrtGetCurrentContext -> {right}, context {alive:?}"
        ));
        let mut handle = 0x77u64;
        let place: *mut u64 = &raw mut handle;
        let code = api::aclrtGetCurrentContext(place.cast());
        self.judge("aclrtGetCurrentContext", code, &[right]);
        match alive {
            Some(number) => self.learn(number, handle),
            None => self.insist(handle == 0, || {
                format!("without a context {handle:#x} was written, right is NULL")
            }),
        }
    }

    fn which_device(&mut self, thread: usize) {
        let device = self.model.current(thread);
        let right = if device.is_some() {
            SUCCESS
        } else {
            NO_CONTEXT
        };
        self.note(format!(
            "thread {thread}: aclrtGetDevice -> {right}, {device:?}"
        ));
        let mut id = 77;
        let code = api::aclrtGetDevice(&raw mut id);
        self.judge("aclrtGetDevice", code, &[right]);
        let expected = device.map_or(77, |device| device as i32);
        self.insist(id == expected, || {
            format!("the device is {id}, right is {expected}")
        });
    }

    fn enable_peer(&mut self, thread: usize) {
        let peer = self.device_id();
        let flags = u32::from(self.source.once_in(12));
        let right = match self.model.current(thread) {
            _ if flags != 0 => INVALID_PARAM,
            None => NO_CONTEXT,
            Some(device) if device as i32 == peer => INVALID_PARAM,
            Some(_) if !self.is_device(peer) => INVALID_DEVICE,
            Some(_) if self.model.config.rc => NOT_SUPPORTED,
            Some(_) => SUCCESS,
        };
        self.note(format!(
            "thread {thread}: aclrtDeviceEnablePeerAccess({peer}, {flags}) -> {right}"
        ));
        let code = api::aclrtDeviceEnablePeerAccess(peer, flags);
        self.judge("aclrtDeviceEnablePeerAccess", code, &[right]);
        if right == SUCCESS {
            let device = self.model.current(thread).expect("a context");
            self.model.devices[device].peers.insert(peer as usize);
        }
    }

    fn disable_peer(&mut self, thread: usize) {
        let peer = self.device_id();
        let right = match self.model.current(thread) {
            None => NO_CONTEXT,
            Some(device) if device as i32 == peer => INVALID_PARAM,
            Some(_) if !self.is_device(peer) => INVALID_DEVICE,
            Some(_) if self.model.config.rc => NOT_SUPPORTED,
            Some(device) => {
                let was_on = self.model.devices[device].peers.remove(&(peer as usize));
                if was_on { SUCCESS } else { PARAM_INVALID }
            }
        };
        self.note(format!(
            "thread {thread}: aclrtDeviceDisablePeerAccess({peer}) -> {right}"
        ));
        let code = api::aclrtDeviceDisablePeerAccess(peer);
        self.judge("aclrtDeviceDisablePeerAccess", code, &[right]);
    }

    fn is_device(&self, id: i32) -> bool {
        usize::try_from(id).is_ok_and(|id| id < self.model.devices.len())
    }

    fn ask_peer(&mut self, thread: usize) {
        let (id, peer) = (self.device_id(), self.device_id());
        let right = if !self.is_device(id) || !self.is_device(peer) {
            PARAM_INVALID
        } else if self.model.config.rc {
            NOT_SUPPORTED
        } else {
            SUCCESS
        };
        self.note(format!(
            "thread {thread}: aclrtDevicePeerAccessStatus({id}, {peer}) -> {right}"
        ));
        let mut status = 77;
        let code = api::aclrtDevicePeerAccessStatus(id, peer, &raw mut status);
        self.judge("aclrtDevicePeerAccessStatus", code, &[right]);
        let expected = if right == SUCCESS {
            let peers = &self.model.devices[id as usize].peers;
            i32::from(peers.contains(&(peer as usize)))
        } else {
            77
        };
        self.insist(status == expected, || {
            format!("the status is {status}, right is {expected}")
        });
    }

    fn can_access_peer(&mut self, thread: usize) {
        let (id, peer) = (self.device_id(), self.device_id());
        let right = if id == peer {
            INVALID_PARAM
        } else if !self.is_device(id) || !self.is_device(peer) {
            INVALID_DEVICE
        } else if self.model.config.rc {
            NOT_SUPPORTED
        } else {
            SUCCESS
        };
        self.note(format!(
            "thread {thread}: aclrtDeviceCanAccessPeer({id}, {peer}) -> {right}"
        ));
        let mut can = 77;
        let code = api::aclrtDeviceCanAccessPeer(&raw mut can, id, peer);
        self.judge("aclrtDeviceCanAccessPeer", code, &[right]);
        let expected = if right == SUCCESS { 1 } else { 77 };
        self.insist(can == expected, || {
            format!("can access: {can}, right is {expected}")
        });
    }

    /// Destroys the explicit contexts and takes all references back.
    pub(super) fn end_contexts(&mut self, thread: usize) {
        for number in 0..self.model.contexts.len() {
            let context = &self.model.contexts[number];
            if context.alive && !context.primary {
                let handle = context.handle.expect("explicit contexts show theirs");
                let code = api::aclrtDestroyContext(api::pointer(handle));
                self.judge("aclrtDestroyContext", code, &[SUCCESS]);
                self.model.destroy_context(thread, number);
            }
        }
        for device in 0..self.model.devices.len() as i32 {
            let right = self.model.reset_device(thread, device, true);
            let code = api::aclrtResetDeviceForce(device);
            self.judge("aclrtResetDeviceForce", code, &[right]);
        }
    }
}
