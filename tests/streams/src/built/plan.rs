//! What a built model does, made up from a seed, and its sequential execution.

use cannery_abi::*;
use rand::Rng;
use rand::rngs::SmallRng;

use super::work::{Piece, Work};

/// Decisions within each other.
const DEPTH: u32 = 3;
/// Streams of a model, besides its heads.
const STREAMS: u32 = 12;
/// Words that the program writes between runs.
pub(super) const KEPT: usize = 3;
/// Bytes of a block: what its words hold is summed, so they are whole.
const SIZES: [usize; 4] = [64, 4096, 30_000, 200_000];

/// How one stream tells another one that it is there.
#[derive(Clone, Copy)]
pub(super) enum Signal {
    Notify,
    /// A plain event, reset by the stream that waited.
    Event,
}

/// What is done one after the other.
pub(super) enum Step {
    Work(Work),
    /// Gives a word a value.
    Set {
        word: usize,
        value: u64,
    },
    /// Gives the lowest byte of a word what a block holds.
    Take {
        word: usize,
        from: Piece,
    },
    /// As many turns as the word says, at least one; each takes one off.
    Loop {
        word: usize,
        body: Vec<Step>,
    },
    /// The body whose number the word holds, the last one for what is beyond; on a stream of its own, or not.
    Choose {
        word: usize,
        bodies: Vec<(Vec<Step>, bool)>,
    },
    /// If two words compare so, what another stream does, else the rest.
    Switch {
        words: [usize; 2],
        condition: i32,
        wide: bool,
        then: Vec<Step>,
        other: Vec<Step>,
    },
    /// Another stream is activated, and waited for; blocks are divided between both.
    Call {
        signal: Signal,
        body: Vec<Step>,
        meanwhile: Vec<Step>,
    },
    /// A run of a captured model, which has two branches.
    Inner {
        sides: [Vec<Work>; 2],
    },
}

/// All of it. The second head waits for `before`, and works beside `beside`.
pub(super) struct Plan {
    pub(super) sizes: Vec<usize>,
    pub(super) words: usize,
    pub(super) signals: [Signal; 2],
    pub(super) before: Vec<Step>,
    pub(super) second: Vec<Step>,
    pub(super) beside: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// What the memory of a model must hold.
pub(super) struct Mirror {
    pub(super) blocks: Vec<Vec<u8>>,
    pub(super) words: Vec<u64>,
}

/// A plan that is being made.
struct Maker<'a> {
    random: &'a mut SmallRng,
    sizes: Vec<usize>,
    words: usize,
    /// Steps that may still come.
    left: u32,
    streams: u32,
    decides: bool,
}

/// A value of a word: often the number of a body, sometimes none.
pub(super) fn value(random: &mut SmallRng) -> u64 {
    random.random_range(-2i64..5).cast_unsigned()
}

impl Plan {
    pub(super) fn random(random: &mut SmallRng) -> Plan {
        let count = random.random_range(2..6);
        let sizes = (0..count).map(|_| SIZES[random.random_range(0..SIZES.len())]);
        let mut maker = Maker {
            sizes: sizes.collect(),
            words: KEPT,
            left: 50,
            streams: STREAMS,
            decides: random.random_bool(0.85),
            random,
        };
        let all: Vec<usize> = (0..count).collect();
        let (one, two) = all.split_at(count / 2);
        Plan {
            signals: [maker.signal(), maker.signal()],
            before: maker.steps(&all, 0),
            second: maker.steps(one, 0),
            beside: maker.steps(two, 0),
            after: maker.steps(&all, 0),
            words: maker.words,
            sizes: maker.sizes,
        }
    }
}

impl Maker<'_> {
    fn signal(&mut self) -> Signal {
        if self.random.random() {
            Signal::Notify
        } else {
            Signal::Event
        }
    }

    fn steps(&mut self, blocks: &[usize], depth: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..self.random.random_range(1..7) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.step(blocks, depth, &mut steps);
        }
        steps
    }

    fn work(&mut self, blocks: &[usize]) -> Work {
        Work::random(self.random, &self.sizes, blocks)
    }

    fn works(&mut self, blocks: &[usize]) -> Vec<Work> {
        let count = self.random.random_range(1..4);
        (0..count).map(|_| self.work(blocks)).collect()
    }

    /// A word that decides: one of the program's, or one that is given a value here.
    fn word(&mut self, blocks: &[usize], steps: &mut Vec<Step>) -> usize {
        if self.random.random_bool(0.4) {
            return self.random.random_range(0..KEPT);
        }
        let word = self.words;
        self.words += 1;
        let value = value(self.random);
        steps.push(Step::Set { word, value });
        if self.random.random_bool(0.4) {
            let mut from = Piece::random(self.random, &self.sizes, blocks, 1);
            from.bytes = 1;
            steps.push(Step::Take { word, from });
        }
        word
    }

    fn another_stream(&mut self) -> bool {
        let some = self.streams > 0;
        self.streams = self.streams.saturating_sub(1);
        some
    }

    fn step(&mut self, blocks: &[usize], depth: u32, steps: &mut Vec<Step>) {
        let inner = depth + 1;
        let most = if depth >= DEPTH || !self.decides {
            6
        } else {
            12
        };
        match self.random.random_range(0..most) {
            0..=4 => {
                let work = self.work(blocks);
                steps.push(Step::Work(work));
            }
            5 => {
                let (one, two) = blocks.split_at(blocks.len() / 2);
                if !one.is_empty() {
                    let sides = [self.works(one), self.works(two)];
                    steps.push(Step::Inner { sides });
                }
            }
            6..=7 => {
                let (word, value) = (self.words, self.random.random_range(1..5));
                self.words += 1;
                steps.push(Step::Set { word, value });
                let body = self.steps(blocks, inner);
                steps.push(Step::Loop { word, body });
            }
            8 => {
                let word = self.word(blocks, steps);
                let count = self.random.random_range(1..4);
                let mut body = |_| {
                    let apart = self.random.random() && self.another_stream();
                    (self.steps(blocks, inner), apart)
                };
                let bodies = (0..count).map(&mut body).collect();
                steps.push(Step::Choose { word, bodies });
            }
            9 if self.another_stream() => {
                let words = [self.word(blocks, steps), self.word(blocks, steps)];
                let condition = self
                    .random
                    .random_range(ACL_RT_EQUAL..=ACL_RT_LESS_OR_EQUAL);
                let wide = self.random.random();
                let then = self.steps(blocks, inner);
                let other = self.steps(blocks, inner);
                steps.push(Step::Switch {
                    words,
                    condition,
                    wide,
                    then,
                    other,
                });
            }
            _ => {
                let (one, two) = blocks.split_at(blocks.len() / 2);
                if !one.is_empty() && self.another_stream() {
                    let signal = self.signal();
                    let body = self.steps(one, inner);
                    let meanwhile = self.steps(two, inner);
                    steps.push(Step::Call {
                        signal,
                        body,
                        meanwhile,
                    });
                }
            }
        }
    }
}

impl Mirror {
    pub(super) fn new(plan: &Plan, random: &mut SmallRng) -> Mirror {
        let mut mirror = Mirror {
            blocks: plan.sizes.iter().map(|size| vec![0; *size]).collect(),
            words: vec![0; plan.words],
        };
        mirror.renew(random);
        mirror
    }

    /// Other bytes, other values.
    pub(super) fn renew(&mut self, random: &mut SmallRng) {
        for block in &mut self.blocks {
            random.fill(block.as_mut_slice());
        }
        for word in &mut self.words {
            *word = value(random);
        }
    }

    /// A run of the model.
    pub(super) fn run(&mut self, plan: &Plan) {
        for part in [&plan.before, &plan.second, &plan.beside, &plan.after] {
            self.steps(part);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Work(work) => work.mirror(&mut self.blocks),
            Step::Set { word, value } => self.words[*word] = *value,
            Step::Take { word, from } => {
                let byte = self.blocks[from.block][from.at];
                self.words[*word] = self.words[*word] & !0xff | u64::from(byte);
            }
            Step::Loop { word, body } => {
                while self.words[*word] > 0 {
                    self.steps(body);
                    self.words[*word] -= 1;
                }
            }
            Step::Choose { word, bodies } => {
                // Four bytes of it.
                let number = self.words[*word] as u32 as usize;
                self.steps(&bodies[number.min(bodies.len() - 1)].0);
            }
            Step::Switch {
                words,
                condition,
                wide,
                then,
                other,
            } => {
                let [left, right] = words.map(|word| {
                    let value = self.words[word];
                    if *wide {
                        value.cast_signed()
                    } else {
                        i64::from(value as i32)
                    }
                });
                let holds = match *condition {
                    ACL_RT_EQUAL => left == right,
                    ACL_RT_NOT_EQUAL => left != right,
                    ACL_RT_GREATER => left > right,
                    ACL_RT_GREATER_OR_EQUAL => left >= right,
                    ACL_RT_LESS => left < right,
                    _ => left <= right,
                };
                self.steps(if holds { then } else { other });
            }
            Step::Call {
                body, meanwhile, ..
            } => {
                self.steps(body);
                self.steps(meanwhile);
            }
            Step::Inner { sides } => {
                for work in sides.iter().flatten() {
                    work.mirror(&mut self.blocks);
                }
            }
        }
    }
}
