//! A plan as a model of the library.

use std::ffi::c_void;
use std::ptr::null_mut;

use cannery_abi::*;
use cannery_test_calls::api::*;
use rand::Rng;
use rand::rngs::SmallRng;

use super::mirror::Mirror;
use super::plan::{Body, Piece, Plan, Step};
use crate::make;

/// A captured plan, with its memory.
pub(super) struct Captured {
    pub(super) model: aclmdlRI,
    blocks: Vec<*mut c_void>,
    conditions: Vec<Handle>,
    /// -1, by which loops count.
    minus: *mut c_void,
    streams: Vec<aclrtStream>,
    events: Vec<aclrtEvent>,
}

#[derive(Clone, Copy)]
struct Handle {
    handle: aclmdlRICondHandle,
    at: *mut c_void,
}

/// A capture that goes on.
struct Capturing<'a> {
    plan: &'a Plan,
    blocks: &'a [*mut c_void],
    conditions: Vec<Handle>,
    minus: *mut c_void,
    streams: Vec<aclrtStream>,
    events: Vec<aclrtEvent>,
    /// Bodies that are captured into later.
    later: Vec<(aclmdlRI, &'a Body, Option<usize>)>,
    random: &'a mut SmallRng,
}

impl Captured {
    pub(super) fn new(
        plan: &Plan,
        mirror: &Mirror,
        stream: aclrtStream,
        random: &mut SmallRng,
    ) -> Captured {
        let blocks: Vec<_> = plan.sizes.iter().map(|size| make::device(*size)).collect();
        let minus = make::device(4);
        make::upload(minus, &(-1i32).to_ne_bytes());
        let none = Handle {
            handle: null_mut(),
            at: null_mut(),
        };
        let mut capturing = Capturing {
            plan,
            blocks: &blocks,
            conditions: vec![none; plan.conditions.len()],
            minus,
            streams: Vec::new(),
            events: Vec::new(),
            later: Vec::new(),
            random,
        };
        let begin = aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
        ok(begin, "aclmdlRICaptureBegin");
        let mut model = null_mut();
        let code = aclmdlRICaptureGetInfo(stream, null_mut(), &raw mut model);
        ok(code, "aclmdlRICaptureGetInfo");
        capturing.body(model, &plan.body, None, stream);
        ok(
            aclmdlRICaptureEnd(stream, &raw mut model),
            "aclmdlRICaptureEnd",
        );
        while let Some((body, steps, counted)) = capturing.later.pop() {
            capturing.fill_body(body, steps, counted);
        }
        let Capturing {
            conditions,
            streams,
            events,
            ..
        } = capturing;
        let captured = Captured {
            model,
            blocks,
            conditions,
            minus,
            streams,
            events,
        };
        captured.upload(mirror);
        captured
    }

    /// An address in a block.
    pub(super) fn block(&self, number: usize, at: usize) -> *mut c_void {
        self.blocks[number].wrapping_byte_add(at)
    }

    /// Where the value of a condition is.
    pub(super) fn condition(&self, number: usize) -> *mut c_void {
        self.conditions[number].at
    }

    /// Writes what the mirror holds.
    pub(super) fn upload(&self, mirror: &Mirror) {
        for (at, bytes) in self.blocks.iter().zip(&mirror.blocks) {
            make::upload(*at, bytes);
        }
        for (condition, value) in self.conditions.iter().zip(&mirror.conditions) {
            make::upload(condition.at, &value.to_ne_bytes());
        }
    }

    /// Gives everything back; the model is gone.
    pub(super) fn release(&self) {
        for block in self.blocks.iter().chain([&self.minus]) {
            ok(aclrtFree(*block), "aclrtFree");
        }
        for stream in &self.streams {
            ok(aclrtDestroyStream(*stream), "aclrtDestroyStream");
        }
        for event in &self.events {
            ok(aclrtDestroyEvent(*event), "aclrtDestroyEvent");
        }
    }
}

impl<'a> Capturing<'a> {
    fn at(&self, piece: Piece) -> *mut c_void {
        self.blocks[piece.block].wrapping_byte_add(piece.at)
    }

    fn stream(&mut self) -> aclrtStream {
        let stream = make::stream();
        self.streams.push(stream);
        stream
    }

    fn link(&mut self, from: aclrtStream, to: aclrtStream) {
        let event = make::event(self.random.random());
        self.events.push(event);
        ok(aclrtRecordEvent(event, from), "aclrtRecordEvent");
        ok(aclrtStreamWaitEvent(to, event), "aclrtStreamWaitEvent");
    }

    fn copy(&self, to: *mut c_void, from: *const c_void, bytes: usize, s: aclrtStream) {
        let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
        let code = aclrtMemcpyAsync(to, bytes, from, bytes, kind, s);
        ok(code, "aclrtMemcpyAsync");
    }

    fn add(&self, to: *mut c_void, from: *const c_void, bytes: usize, s: aclrtStream) {
        let (sum, kind) = (ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32);
        let code = aclrtReduceAsync(to, from, bytes as u64, sum, kind, s, null_mut());
        ok(code, "aclrtReduceAsync");
    }

    /// The conditions and steps of a model, and what counts a loop.
    fn body(&mut self, model: aclmdlRI, body: &'a Body, counted: Option<usize>, s: aclrtStream) {
        for number in &body.conditions {
            let condition = &self.plan.conditions[*number];
            let flag = if condition.assigned {
                ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT
            } else {
                0
            };
            let (mut handle, mut at) = (null_mut(), null_mut());
            let code = aclmdlRICondHandleCreate(model, condition.default, flag, &raw mut handle);
            ok(code, "aclmdlRICondHandleCreate");
            let code = aclmdlRICondHandleGetCondPtr(handle, &raw mut at);
            ok(code, "aclmdlRICondHandleGetCondPtr");
            let at = at.cast();
            self.conditions[*number] = Handle { handle, at };
        }
        self.steps(&body.steps, s);
        if let Some(number) = counted {
            self.add(self.conditions[number].at, self.minus, 4, s);
        }
    }

    /// Captures into a model on a stream of its own.
    fn fill_body(&mut self, model: aclmdlRI, body: &'a Body, counted: Option<usize>) {
        let s = self.stream();
        let code = aclmdlRICaptureToModelRIBegin(s, model, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
        ok(code, "aclmdlRICaptureToModelRIBegin");
        self.body(model, body, counted, s);
        let mut same = null_mut();
        ok(aclmdlRICaptureEnd(s, &raw mut same), "aclmdlRICaptureEnd");
        assert_eq!(same, model, "the model of the capture");
    }

    fn steps(&mut self, steps: &'a [Step], s: aclrtStream) {
        for step in steps {
            self.step(step, s);
        }
    }

    fn step(&mut self, step: &'a Step, s: aclrtStream) {
        match step {
            Step::Fill { to, value } => {
                let code = aclrtMemsetAsync(self.at(*to), to.bytes, (*value).into(), to.bytes, s);
                ok(code, "aclrtMemsetAsync");
            }
            Step::Copy { to, from } => self.copy(self.at(*to), self.at(*from), to.bytes, s),
            Step::Add { to, from } => self.add(self.at(*to), self.at(*from), to.bytes, s),
            Step::Set { condition, value } => {
                let at = self.conditions[*condition].at;
                ok(
                    aclrtValueWrite(at, (*value).into(), 0, s),
                    "aclrtValueWrite",
                );
            }
            Step::Take { condition, from } => {
                self.copy(self.conditions[*condition].at, self.at(*from), 1, s);
            }
            Step::If { condition, bodies } => {
                let bodies = bodies.iter().collect();
                self.choice(ACL_MODEL_RI_COND_TYPE_IF, *condition, bodies, None, s);
            }
            Step::While { condition, body } => {
                let counted = Some(*condition);
                let kind = ACL_MODEL_RI_COND_TYPE_WHILE;
                self.choice(kind, *condition, vec![body], counted, s);
            }
            Step::Switch { condition, bodies } => {
                let bodies = bodies.iter().collect();
                self.choice(ACL_MODEL_RI_COND_TYPE_SWITCH, *condition, bodies, None, s);
            }
            Step::Fork { sides } => {
                let other = self.stream();
                self.link(s, other);
                let [first, second] = sides;
                // Side by side, as a program that has two streams would.
                let (mut first, mut second) = (first.iter(), second.iter());
                let (mut one, mut two) = (first.next(), second.next());
                while one.is_some() || two.is_some() {
                    if let Some(step) = one {
                        self.step(step, s);
                    }
                    if let Some(step) = two {
                        self.step(step, other);
                    }
                    (one, two) = (first.next(), second.next());
                }
                self.link(other, s);
            }
        }
    }

    /// A conditional task. Its bodies are filled at once, or when the model is complete.
    fn choice(
        &mut self,
        kind: aclmdlRICondTaskType,
        condition: usize,
        bodies: Vec<&'a Body>,
        counted: Option<usize>,
        s: aclrtStream,
    ) {
        let mut models = vec![null_mut(); bodies.len()];
        let params = aclmdlRICondTaskParams {
            handle: self.conditions[condition].handle,
            r#type: kind,
            size: bodies.len() as u32,
            modelRIArray: models.as_mut_ptr(),
        };
        ok(aclmdlRIAddCondTask(params, s, 0), "aclmdlRIAddCondTask");
        for (model, body) in models.into_iter().zip(bodies) {
            if self.random.random() {
                self.fill_body(model, body, counted);
            } else {
                self.later.push((model, body, counted));
            }
        }
    }
}
