//! What is answered to a call for operators: Cannery runs memory, not operators.

use crate::error::{Error, Result};

/// Names end somewhere; a longer one is cut.
const LONGEST: usize = 128;

/// Refuses to run an operator.
///
/// # Errors
/// Always: 207000, with the operator's name.
pub fn run(operator: Option<&str>) -> Result<()> {
    let name = match operator {
        Some(name) => format!(
            "operator {:?}",
            name.chars().take(LONGEST).collect::<String>()
        ),
        None => "an operator without a name".to_owned(),
    };
    Err(Error::unsupported(format!(
        "{name} was not run, and its outputs are as they were: Cannery runs memory, not operators; \
         compute on the host, or put a library with this operator in front"
    )))
}

/// Refuses what only operators need: descriptions, attributes, kernels by number.
///
/// # Errors
/// Always: 207000.
pub fn facility() -> Result<()> {
    Err(Error::unsupported(
        "serves operators only: Cannery runs memory, not operators",
    ))
}
