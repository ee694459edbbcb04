//! The sequential execution of a plan.

use rand::Rng;
use rand::rngs::SmallRng;

use super::plan::{Body, Piece, Plan, Step};

/// What the memory of a model must hold.
pub(super) struct Mirror {
    pub(super) blocks: Vec<Vec<u8>>,
    pub(super) conditions: Vec<u64>,
}

impl Mirror {
    pub(super) fn new(plan: &Plan, random: &mut SmallRng) -> Mirror {
        let mut mirror = Mirror {
            blocks: plan.sizes.iter().map(|size| vec![0; *size]).collect(),
            conditions: vec![0; plan.conditions.len()],
        };
        mirror.renew(plan, random);
        mirror
    }

    /// Other bytes, and the conditions as they were at the beginning.
    pub(super) fn renew(&mut self, plan: &Plan, random: &mut SmallRng) {
        for block in &mut self.blocks {
            random.fill(block.as_mut_slice());
        }
        for (value, condition) in self.conditions.iter_mut().zip(&plan.conditions) {
            *value = condition.default.into();
        }
    }

    /// A run of the model.
    pub(super) fn run(&mut self, plan: &Plan) {
        self.body(plan, &plan.body);
    }

    fn body(&mut self, plan: &Plan, body: &Body) {
        for number in &body.conditions {
            let condition = &plan.conditions[*number];
            if condition.assigned {
                self.conditions[*number] = condition.default.into();
            }
        }
        self.steps(plan, &body.steps);
    }

    fn bytes(&self, piece: Piece) -> Vec<u8> {
        self.blocks[piece.block][piece.at..piece.at + piece.bytes].to_vec()
    }

    fn bytes_mut(&mut self, piece: Piece) -> &mut [u8] {
        &mut self.blocks[piece.block][piece.at..piece.at + piece.bytes]
    }

    fn steps(&mut self, plan: &Plan, steps: &[Step]) {
        for step in steps {
            self.step(plan, step);
        }
    }

    fn step(&mut self, plan: &Plan, step: &Step) {
        match step {
            Step::Fill { to, value } => self.bytes_mut(*to).fill(*value),
            Step::Copy { to, from } => {
                let bytes = self.bytes(*from);
                self.bytes_mut(*to).copy_from_slice(&bytes);
            }
            Step::Add { to, from } => {
                let bytes = self.bytes(*from);
                let words = self.bytes_mut(*to).chunks_exact_mut(4);
                for (word, other) in words.zip(bytes.chunks_exact(4)) {
                    let number = |word: &[u8]| u32::from_ne_bytes(word.try_into().expect("four"));
                    let sum = number(word).wrapping_add(number(other));
                    word.copy_from_slice(&sum.to_ne_bytes());
                }
            }
            Step::Set { condition, value } => self.conditions[*condition] = (*value).into(),
            Step::Take { condition, from } => {
                let byte = self.bytes(*from)[0];
                let value = &mut self.conditions[*condition];
                *value = *value & !0xff | u64::from(byte);
            }
            Step::If { condition, bodies } => {
                let number = usize::from(self.conditions[*condition] == 0);
                if let Some(body) = bodies.get(number) {
                    self.body(plan, body);
                }
            }
            Step::While { condition, body } => {
                while self.conditions[*condition] != 0 {
                    self.body(plan, body);
                    self.conditions[*condition] -= 1;
                }
            }
            Step::Switch { condition, bodies } => {
                let number = usize::try_from(self.conditions[*condition]).unwrap_or(usize::MAX);
                if let Some(body) = bodies.get(number) {
                    self.body(plan, body);
                }
            }
            Step::Fork { sides } => {
                for side in sides {
                    self.steps(plan, side);
                }
            }
        }
    }
}
