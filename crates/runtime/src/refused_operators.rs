//! What is answered to a call for operators: Cannery runs memory, not operators.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::patient;

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

/// Refuses a function of an operator library, or of the library of collectives.
///
/// # Errors
/// Always: 207000, with the function's name.
pub fn function(name: &str) -> Result<()> {
    if name.starts_with("Hccl") {
        return Err(Error::unsupported(
            "nothing was sent or received: Cannery runs memory, not collectives; exchange data through the \
             host, as the backend \"gloo\" of PyTorch does",
        ));
    }
    let operator = name
        .strip_prefix("aclnn")
        .map(|rest| rest.strip_suffix("GetWorkspaceSize").unwrap_or(rest));
    let what = match operator {
        Some(operator) => {
            format!("operator {operator} was not run, and its outputs are as they were")
        }
        None => "nothing was done".to_owned(),
    };
    Err(Error::unsupported(format!(
        "{what}: Cannery runs memory, not operators; compute on the host, or put a library that has \
         {name} in front in LD_LIBRARY_PATH"
    )))
}

/// The name of a function that refused, kept for the texts. There are as many as functions.
#[must_use]
pub fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let Some(mut names) = patient::lock(&NAMES) else {
        return "an operator";
    };
    if let Some(kept) = names.get(name) {
        return kept;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
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
