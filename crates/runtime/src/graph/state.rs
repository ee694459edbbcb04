//! What a model holds: branches, their nodes, and the runs that go on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cannery_abi as abi;

use super::condition::{Condition, Conditional};
use super::control::Control;
use super::life::Destroyed;
use super::model::Phase;
use super::pass::Passes;
use super::slot::Slot;
use super::walk::Runs;
use crate::stream::task::Task;
use crate::stream::{STREAMS, Stream};

pub(super) struct State {
    pub(super) name: String,
    pub(super) phase: Phase,
    /// Built rather than captured: every branch has a runner, and all begin with the run.
    pub(super) built: bool,
    pub(super) branches: Vec<Branch>,
    pub(super) nodes: Vec<Node>,
    /// What the branch of each label knew at it.
    pub(super) labels: Vec<Vec<usize>>,
    /// Nodes of each group.
    pub(super) groups: Vec<Vec<usize>>,
    /// What conditional tasks look at.
    pub(super) conditions: Vec<Arc<Condition>>,
    pub(super) callbacks: Vec<(Destroyed, usize)>,
    /// Runs that may go on: a stream, its handle, and how far it has to get.
    pub(super) runs: Vec<(u64, &'static Stream, u64)>,
    /// Those that decide where they go.
    pub(super) walks: Runs,
    /// The others that have branches.
    pub(super) passes: Passes,
}

pub(super) struct Branch {
    /// The stream of the program.
    pub(super) handle: u64,
    pub(super) stream: &'static Stream,
    /// What aclrtStreamGetId said of it: the stream may be another one by the time the model is shown.
    pub(super) id: u32,
    /// The stream that does its work; 0: none yet.
    pub(super) runner: u64,
    /// How many nodes of each branch are done when it gets here.
    pub(super) knows: Vec<usize>,
    /// Its own nodes so far.
    pub(super) count: usize,
    /// The group that is being recorded on it.
    pub(super) group: Option<Vec<usize>>,
    /// Something was captured on another branch meanwhile.
    pub(super) interrupted: bool,
    /// Whether it begins with the run (built models).
    pub(super) from_start: bool,
}

pub(super) struct Node {
    pub(super) branch: usize,
    pub(super) what: What,
    pub(super) disabled: bool,
    pub(super) group: Option<usize>,
    /// Parameters that wait for aclmdlRIUpdate.
    pub(super) staged: Option<Task>,
    pub(super) about: About,
    pub(super) notes: Notes,
    /// Copies of what was shown of it, for as long as the model lives or until it is shown again.
    pub(super) shown: Option<Box<Shown>>,
}

/// What the program said of a task (aclrtCacheLastTaskOpInfo, aclrtCacheLastTaskExtendInfo).
#[derive(Default)]
pub(super) struct Notes {
    pub(super) operator: Vec<u8>,
    pub(super) more: String,
}

/// What pointers in the parameters of a task lead to.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) args: Vec<u8>,
    pub(super) attributes: Vec<abi::aclrtLaunchKernelAttr>,
    /// An aclrtLaunchKernelCfg: the address of the attributes, and their number.
    pub(super) config: [u64; 2],
    pub(super) operator: Vec<u8>,
}

/// What a node does.
pub(super) enum What {
    Run(Arc<Slot>),
    Record {
        label: usize,
    },
    Wait {
        label: usize,
    },
    /// On an event of the program, each time the model runs.
    ExternalRecord,
    ExternalWait,
    ResetEvent,
    /// On an event that the model itself records: runs that decide where they go may come to it, and to the record,
    /// again.
    ResetLabel {
        label: usize,
    },
    /// Decides where the run goes on.
    Control(Control),
    /// Runs one of several bodies.
    Conditional(Arc<Conditional>),
    /// It was removed.
    Gone,
}

/// What is known of the call behind a node, for those who ask.
#[derive(Clone, Copy, Default)]
pub(super) struct About {
    pub(super) event: u64,
    pub(super) event_flag: u32,
}

impl State {
    /// Adds a node to a branch.
    pub(super) fn push(&mut self, branch: usize, what: What, about: About) {
        let number = self.nodes.len();
        for (other, place) in self.branches.iter_mut().enumerate() {
            place.interrupted |= other != branch && place.group.is_some();
        }
        let place = &mut self.branches[branch];
        place.count += 1;
        let count = place.count;
        place.knows.resize(place.knows.len().max(branch + 1), 0);
        place.knows[branch] = count;
        if let Some(group) = &mut place.group {
            group.push(number);
        }
        self.nodes.push(Node {
            branch,
            what,
            disabled: false,
            group: None,
            staged: None,
            about,
            notes: Notes::default(),
            shown: None,
        });
    }

    /// Adds a task to a branch.
    pub(super) fn push_task(&mut self, branch: usize, task: Task) {
        self.push(branch, What::Run(Slot::new(task)), About::default());
    }

    /// Adds the record of a new label.
    pub(super) fn push_record(&mut self, branch: usize, about: About) -> usize {
        let label = self.labels.len();
        self.push(branch, What::Record { label }, about);
        self.labels.push(self.branches[branch].knows.clone());
        label
    }

    /// Adds a wait for a label.
    pub(super) fn push_wait(&mut self, branch: usize, label: usize, about: About) {
        let known = self.labels[label].clone();
        let knows = &mut self.branches[branch].knows;
        knows.resize(knows.len().max(known.len()), 0);
        for (mine, other) in knows.iter_mut().zip(known) {
            *mine = (*mine).max(other);
        }
        self.push(branch, What::Wait { label }, about);
    }

    /// Whether the record of a label is there: its stream may have been emptied.
    pub(super) fn is_recorded(&self, label: usize) -> bool {
        let of = |node: &Node| matches!(node.what, What::Record { label: other } if other == label);
        self.nodes.iter().any(of)
    }

    /// Adds a branch.
    pub(super) fn add_branch(&mut self, handle: u64, stream: &'static Stream) -> usize {
        self.branches.push(Branch {
            handle,
            stream,
            id: stream.id.load(Ordering::Relaxed),
            runner: 0,
            knows: Vec::new(),
            count: 0,
            group: None,
            interrupted: false,
            from_start: true,
        });
        self.branches.len() - 1
    }

    /// Whether a run is not over.
    pub(super) fn is_running(&mut self) -> bool {
        self.runs.retain(|(handle, stream, position)| {
            let same = |other: &Stream| std::ptr::eq(other, *stream);
            STREAMS.find(*handle).is_some_and(same) && !stream.reached(*position)
        });
        // One that was dropped with its stream may be at a task yet.
        !self.runs.is_empty() || self.walks.newest().is_some()
    }

    /// Branches whose last work the first one does not wait for.
    pub(super) fn unjoined(&self) -> Vec<u64> {
        let knows = &self.branches[0].knows;
        let missed = |(number, branch): (usize, &Branch)| {
            let known = knows.get(number).copied().unwrap_or(0);
            (number > 0 && known < branch.count).then_some(branch.handle)
        };
        self.branches
            .iter()
            .enumerate()
            .filter_map(missed)
            .collect()
    }
}
