//! A plan as a model of the library.

use std::ffi::c_void;
use std::ptr::null_mut;

use cannery_abi::*;
use cannery_test_calls::api::*;

use super::plan::{Mirror, Plan, Signal, Step};
use super::work::{self, Work};
use crate::make;

/// A bound stream begins when another one says so.
const LATER: u32 = 0x7fff_ffff;

/// A built plan, with its memory.
pub(super) struct Built {
    pub(super) model: aclmdlRI,
    pub(super) blocks: Vec<*mut c_void>,
    /// Eight bytes each.
    pub(super) words: Vec<*mut c_void>,
    /// -1, by which loops count, and 0, for jumps that always lead to the same place.
    constants: [*mut c_void; 2],
    streams: Vec<aclrtStream>,
    /// Of captured models.
    inner_streams: Vec<aclrtStream>,
    inner: Vec<aclmdlRI>,
    notifies: Vec<aclrtNotify>,
    events: Vec<aclrtEvent>,
    labels: Vec<aclrtLabel>,
    lists: Vec<aclrtLabelList>,
}

/// What a stream waits for.
enum Sign {
    Notify(aclrtNotify),
    Event(aclrtEvent),
}

impl Built {
    pub(super) fn new(plan: &Plan, mirror: &Mirror) -> Built {
        let constants = [-1i32, 0].map(|value| {
            let at = make::device(4);
            make::upload(at, &value.to_ne_bytes());
            at
        });
        let mut model = null_mut();
        ok(aclmdlRIBuildBegin(&raw mut model, 0), "aclmdlRIBuildBegin");
        let mut built = Built {
            model,
            blocks: plan.sizes.iter().map(|size| make::device(*size)).collect(),
            words: (0..plan.words).map(|_| make::device(8)).collect(),
            constants,
            streams: Vec::new(),
            inner_streams: Vec::new(),
            inner: Vec::new(),
            notifies: Vec::new(),
            events: Vec::new(),
            labels: Vec::new(),
            lists: Vec::new(),
        };
        let (first, second) = (built.bound(0), built.bound(0));
        let signs = plan.signals.map(|signal| built.sign(signal));
        built.steps(&plan.before, first);
        tell(&signs[0], first);
        wait(&signs[0], second, false);
        built.steps(&plan.second, second);
        tell(&signs[1], second);
        built.steps(&plan.beside, first);
        wait(&signs[1], first, false);
        built.steps(&plan.after, first);
        ok(aclmdlRIBuildEnd(model, null_mut()), "aclmdlRIBuildEnd");
        built.upload(mirror);
        built
    }

    /// Writes what the mirror holds.
    pub(super) fn upload(&self, mirror: &Mirror) {
        for (at, bytes) in self.blocks.iter().zip(&mirror.blocks) {
            make::upload(*at, bytes);
        }
        for (at, word) in self.words.iter().zip(&mirror.words) {
            make::upload(*at, &word.to_ne_bytes());
        }
    }

    /// Lowers every notify: a run that was ended may have left it up.
    pub(super) fn lower(&mut self) {
        if !self.notifies.is_empty() {
            let count = self.notifies.len();
            let code = aclrtNotifyBatchReset(self.notifies.as_mut_ptr(), count);
            ok(code, "aclrtNotifyBatchReset");
        }
    }

    /// Gives everything back.
    pub(super) fn release(&self) {
        ok(aclmdlRIDestroy(self.model), "aclmdlRIDestroy");
        for model in &self.inner {
            ok(aclmdlRIDestroy(*model), "aclmdlRIDestroy");
        }
        for list in &self.lists {
            ok(aclrtDestroyLabelList(*list), "aclrtDestroyLabelList");
        }
        for label in &self.labels {
            ok(aclrtDestroyLabel(*label), "aclrtDestroyLabel");
        }
        for stream in self.streams.iter().chain(&self.inner_streams) {
            ok(aclrtDestroyStream(*stream), "aclrtDestroyStream");
        }
        for notify in &self.notifies {
            ok(aclrtDestroyNotify(*notify), "aclrtDestroyNotify");
        }
        for event in &self.events {
            ok(aclrtDestroyEvent(*event), "aclrtDestroyEvent");
        }
        let memory = self.blocks.iter().chain(&self.words);
        for block in memory.chain(&self.constants) {
            ok(aclrtFree(*block), "aclrtFree");
        }
    }

    fn bound(&mut self, flag: u32) -> aclrtStream {
        let mut stream = null_mut();
        let code = aclrtCreateStreamWithConfig(&raw mut stream, 0, ACL_STREAM_PERSISTENT);
        ok(code, "aclrtCreateStreamWithConfig");
        let code = aclmdlRIBindStream(self.model, stream, flag);
        ok(code, "aclmdlRIBindStream");
        self.streams.push(stream);
        stream
    }

    fn sign(&mut self, signal: Signal) -> Sign {
        match signal {
            Signal::Notify => {
                let notify = make::notify();
                self.notifies.push(notify);
                Sign::Notify(notify)
            }
            Signal::Event => {
                let event = make::event(false);
                self.events.push(event);
                Sign::Event(event)
            }
        }
    }

    fn label(&mut self) -> aclrtLabel {
        let mut label = null_mut();
        ok(aclrtCreateLabel(&raw mut label), "aclrtCreateLabel");
        self.labels.push(label);
        label
    }

    /// A jump to one of some labels.
    fn jump(&mut self, index: *mut c_void, mut labels: Vec<aclrtLabel>, s: aclrtStream) {
        let mut list = null_mut();
        let code = aclrtCreateLabelList(labels.as_mut_ptr(), labels.len(), &raw mut list);
        ok(code, "aclrtCreateLabelList");
        self.lists.push(list);
        let code = aclrtSwitchLabelByIndex(index, labels.len() as u32, list, s);
        ok(code, "aclrtSwitchLabelByIndex");
    }

    fn go(&mut self, label: aclrtLabel, s: aclrtStream) {
        self.jump(self.constants[1], vec![label], s);
    }

    fn steps(&mut self, steps: &[Step], s: aclrtStream) {
        for step in steps {
            self.step(step, s);
        }
    }

    fn step(&mut self, step: &Step, s: aclrtStream) {
        match step {
            Step::Work(work) => work.queue(&self.blocks, s),
            Step::Set { word, value } => {
                let code = aclrtValueWrite(self.words[*word], *value, 0, s);
                ok(code, "aclrtValueWrite");
            }
            Step::Take { word, from } => {
                let at = self.blocks[from.block].wrapping_byte_add(from.at);
                work::copy(self.words[*word], at, 1, s);
            }
            Step::Loop { word, body } => {
                let (top, end) = (self.label(), self.label());
                set(top, s);
                self.steps(body, s);
                work::add(self.words[*word], self.constants[0], 4, s);
                self.jump(self.words[*word], vec![end, top], s);
                set(end, s);
            }
            Step::Choose { word, bodies } => {
                let labels: Vec<_> = bodies.iter().map(|_| self.label()).collect();
                let end = self.label();
                self.jump(self.words[*word], labels.clone(), s);
                for ((body, apart), label) in bodies.iter().zip(labels) {
                    let own = if *apart { self.bound(LATER) } else { s };
                    set(label, own);
                    self.steps(body, own);
                    self.go(end, own);
                }
                set(end, s);
            }
            Step::Switch {
                words,
                condition,
                wide,
                then,
                other,
            } => {
                let own = self.bound(LATER);
                let end = self.label();
                let [left, right] = words.map(|word| self.words[word]);
                let kind = if *wide {
                    ACL_RT_SWITCH_INT64
                } else {
                    ACL_RT_SWITCH_INT32
                };
                let code = aclrtSwitchStream(left, *condition, right, kind, own, null_mut(), s);
                ok(code, "aclrtSwitchStream");
                self.steps(then, own);
                self.go(end, own);
                self.steps(other, s);
                set(end, s);
            }
            Step::Call {
                signal,
                body,
                meanwhile,
            } => {
                let own = self.bound(LATER);
                let sign = self.sign(*signal);
                ok(aclrtActiveStream(own, s), "aclrtActiveStream");
                self.steps(body, own);
                tell(&sign, own);
                self.steps(meanwhile, s);
                wait(&sign, s, true);
            }
            Step::Inner { sides } => self.inner(sides, s),
        }
    }

    /// A run of a captured model with two branches.
    fn inner(&mut self, sides: &[Vec<Work>; 2], s: aclrtStream) {
        let [one, two] = [make::stream(), make::stream()];
        let [there, back] = [make::event(true), make::event(true)];
        let code = aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
        ok(code, "aclmdlRICaptureBegin");
        tell(&Sign::Event(there), one);
        wait(&Sign::Event(there), two, false);
        for (works, own) in sides.iter().zip([one, two]) {
            for work in works {
                work.queue(&self.blocks, own);
            }
        }
        tell(&Sign::Event(back), two);
        wait(&Sign::Event(back), one, false);
        let mut model = null_mut();
        let code = aclmdlRICaptureEnd(one, &raw mut model);
        ok(code, "aclmdlRICaptureEnd");
        ok(aclmdlRIExecuteAsync(model, s), "aclmdlRIExecuteAsync");
        self.inner.push(model);
        self.inner_streams.extend([one, two]);
        self.events.extend([there, back]);
    }
}

fn set(label: aclrtLabel, s: aclrtStream) {
    ok(aclrtSetLabel(label, s), "aclrtSetLabel");
}

fn tell(sign: &Sign, s: aclrtStream) {
    match sign {
        Sign::Notify(notify) => ok(aclrtRecordNotify(*notify, s), "aclrtRecordNotify"),
        Sign::Event(event) => ok(aclrtRecordEvent(*event, s), "aclrtRecordEvent"),
    }
}

/// `again`: the next record is waited for anew.
fn wait(sign: &Sign, s: aclrtStream, again: bool) {
    match sign {
        Sign::Notify(notify) => {
            let code = aclrtWaitAndResetNotify(*notify, s, 0);
            ok(code, "aclrtWaitAndResetNotify");
        }
        Sign::Event(event) => {
            ok(aclrtStreamWaitEvent(s, *event), "aclrtStreamWaitEvent");
            if again {
                ok(aclrtResetEvent(*event, s), "aclrtResetEvent");
            }
        }
    }
}
