//! What a model does, made up from a seed.

use rand::Rng;
use rand::rngs::SmallRng;

/// Values that conditions are given: some have no body.
pub(super) const VALUES: u32 = 5;
/// Conditional tasks within each other.
const DEPTH: u32 = 3;
/// Bytes of a block: what its words hold is summed, so they are whole.
const SIZES: [usize; 4] = [64, 4096, 100_000, 1 << 20];

/// A piece of a block.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) block: usize,
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// What is done one after the other.
pub(super) enum Step {
    Fill {
        to: Piece,
        value: u8,
    },
    /// As many bytes as the target has.
    Copy {
        to: Piece,
        from: Piece,
    },
    /// Adds words.
    Add {
        to: Piece,
        from: Piece,
    },
    /// Gives a condition a value.
    Set {
        condition: usize,
        value: u32,
    },
    /// Gives the lowest byte of a condition what a block holds.
    Take {
        condition: usize,
        from: Piece,
    },
    If {
        condition: usize,
        bodies: Vec<Body>,
    },
    /// Each turn ends with one less.
    While {
        condition: usize,
        body: Body,
    },
    Switch {
        condition: usize,
        bodies: Vec<Body>,
    },
    /// Two sides that touch different blocks and conditions.
    Fork {
        sides: [Vec<Step>; 2],
    },
}

/// A model.
pub(super) struct Body {
    /// Those that belong to it.
    pub(super) conditions: Vec<usize>,
    pub(super) steps: Vec<Step>,
}

/// A condition.
pub(super) struct Condition {
    pub(super) default: u32,
    /// Whether it is set to that when its model begins.
    pub(super) assigned: bool,
    /// How deep its model is: 0 for the outermost.
    pub(super) depth: u32,
}

/// All of it.
pub(super) struct Plan {
    pub(super) sizes: Vec<usize>,
    pub(super) conditions: Vec<Condition>,
    pub(super) body: Body,
}

/// What steps may touch.
#[derive(Clone)]
struct Reach {
    blocks: Vec<usize>,
    /// Conditions that may be written.
    writable: Vec<usize>,
    depth: u32,
}

/// A plan that is being made.
struct Maker<'a> {
    random: &'a mut SmallRng,
    sizes: Vec<usize>,
    conditions: Vec<Condition>,
    /// Steps that may still come.
    left: u32,
}

impl Plan {
    pub(super) fn random(random: &mut SmallRng) -> Plan {
        let blocks = random.random_range(2..6);
        let sizes = (0..blocks).map(|_| SIZES[random.random_range(0..SIZES.len())]);
        let sizes: Vec<usize> = sizes.collect();
        let mut maker = Maker {
            random,
            sizes,
            conditions: Vec::new(),
            left: 60,
        };
        let reach = Reach {
            blocks: (0..blocks).collect(),
            writable: Vec::new(),
            depth: 0,
        };
        let body = maker.body(reach);
        Plan {
            sizes: maker.sizes,
            conditions: maker.conditions,
            body,
        }
    }

    /// Conditions that nothing but tasks and the program change.
    pub(super) fn kept(&self) -> impl Iterator<Item = usize> {
        let all = self.conditions.iter().enumerate();
        all.filter(|(_, condition)| !condition.assigned && condition.depth == 0)
            .map(|(number, _)| number)
    }
}

impl Maker<'_> {
    fn body(&mut self, mut reach: Reach) -> Body {
        let mut conditions = Vec::new();
        let steps = self.steps(&mut reach, &mut conditions);
        Body { conditions, steps }
    }

    fn steps(&mut self, reach: &mut Reach, own: &mut Vec<usize>) -> Vec<Step> {
        let count = self.random.random_range(1..7);
        let mut steps = Vec::new();
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.step(reach, own, &mut steps);
        }
        steps
    }

    fn piece(&mut self, reach: &Reach, unit: usize) -> Piece {
        let block = reach.blocks[self.random.random_range(0..reach.blocks.len())];
        let size = self.sizes[block] / unit;
        let at = self.random.random_range(0..size);
        let bytes = self.random.random_range(1..=size - at);
        Piece {
            block,
            at: at * unit,
            bytes: bytes * unit,
        }
    }

    /// Two pieces of the same length, which do not touch each other.
    fn pieces(&mut self, reach: &Reach, unit: usize) -> Option<(Piece, Piece)> {
        let (mut to, mut from) = (self.piece(reach, unit), self.piece(reach, unit));
        let bytes = to.bytes.min(from.bytes);
        (to.bytes, from.bytes) = (bytes, bytes);
        let apart = to.block != from.block || to.at + bytes <= from.at || from.at + bytes <= to.at;
        apart.then_some((to, from))
    }

    /// A condition of the model: an old one, or a new one.
    fn condition(&mut self, reach: &mut Reach, own: &mut Vec<usize>) -> usize {
        let usable: Vec<usize> = own
            .iter()
            .copied()
            .filter(|number| reach.writable.contains(number))
            .collect();
        if !usable.is_empty() && self.random.random_bool(0.5) {
            return usable[self.random.random_range(0..usable.len())];
        }
        let number = self.conditions.len();
        self.conditions.push(Condition {
            default: self.random.random_range(0..VALUES),
            assigned: self.random.random_bool(0.6),
            depth: reach.depth,
        });
        own.push(number);
        reach.writable.push(number);
        number
    }

    /// What the bodies of a task with this condition may touch.
    fn inner(&self, reach: &Reach, without: Option<usize>) -> Reach {
        let mut inner = reach.clone();
        inner.depth += 1;
        inner.writable.retain(|number| Some(*number) != without);
        inner
    }

    fn bodies(&mut self, reach: &Reach, count: usize) -> Vec<Body> {
        (0..count)
            .map(|_| self.body(self.inner(reach, None)))
            .collect()
    }

    fn step(&mut self, reach: &mut Reach, own: &mut Vec<usize>, steps: &mut Vec<Step>) {
        let deep = reach.depth >= DEPTH;
        match self.random.random_range(0..if deep { 8 } else { 14 }) {
            0..=1 => {
                let to = self.piece(reach, 1);
                let value = self.random.random();
                steps.push(Step::Fill { to, value });
            }
            2..=4 => {
                if let Some((to, from)) = self.pieces(reach, 1) {
                    steps.push(Step::Copy { to, from });
                }
            }
            5 => {
                if let Some((to, from)) = self.pieces(reach, 4) {
                    steps.push(Step::Add { to, from });
                }
            }
            6..=7 => {
                if reach.writable.is_empty() {
                    return;
                }
                let condition = reach.writable[self.random.random_range(0..reach.writable.len())];
                if self.random.random_bool(0.5) {
                    let value = self.random.random_range(0..VALUES);
                    steps.push(Step::Set { condition, value });
                } else {
                    let mut from = self.piece(reach, 1);
                    from.bytes = 1;
                    steps.push(Step::Take { condition, from });
                }
            }
            8..=9 => {
                let condition = self.condition(reach, own);
                let count = self.random.random_range(1..3);
                let bodies = self.bodies(reach, count);
                steps.push(Step::If { condition, bodies });
            }
            10 => {
                let condition = self.condition(reach, own);
                let value = self.random.random_range(0..4);
                steps.push(Step::Set { condition, value });
                let inner = self.inner(reach, Some(condition));
                let body = self.body(inner);
                steps.push(Step::While { condition, body });
            }
            11 => {
                let condition = self.condition(reach, own);
                let count = self.random.random_range(1..5);
                let bodies = self.bodies(reach, count);
                steps.push(Step::Switch { condition, bodies });
            }
            _ => self.fork(reach, own, steps),
        }
    }

    fn fork(&mut self, reach: &mut Reach, own: &mut Vec<usize>, steps: &mut Vec<Step>) {
        let mut sides = [reach.clone(), reach.clone()];
        let half = reach.blocks.len() / 2;
        if half == 0 {
            return;
        }
        sides[0].blocks.truncate(half);
        sides[1].blocks.drain(..half);
        for (parity, side) in sides.iter_mut().enumerate() {
            side.writable.retain(|number| number % 2 == parity);
        }
        let sides = sides.map(|mut side| self.steps(&mut side, own));
        steps.push(Step::Fork { sides });
    }
}
