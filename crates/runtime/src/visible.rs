//! `ASCEND_RT_VISIBLE_DEVICES`: which devices the process sees, renumbered from 0.

/// A list that leaves no device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BadList {
    /// Message code.
    pub(crate) message: &'static str,
    pub(crate) cause: String,
}

/// The visible devices, as physical ids in the order of the user ids.
///
/// Reading stops at the first foreign character or unknown id; earlier ids stay. A list that does
/// not ascend, or names a device twice, is refused as a whole.
pub(crate) fn parse(list: Option<&str>, devices: u32) -> Result<Vec<u32>, BadList> {
    let Some(list) = list else {
        return Ok((0..devices).collect());
    };
    let mut ids: Vec<u32> = Vec::new();
    for part in list.split(',') {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let Some(id) = part[..digits].parse().ok().filter(|id| *id < devices) else {
            break;
        };
        if let Some(last) = ids.last().filter(|last| **last >= id) {
            return Err(BadList {
                message: if *last == id { "EE2002" } else { "EE1001" },
                cause: format!(
                    "ASCEND_RT_VISIBLE_DEVICES={list}: ids must ascend, each once; {id} stands after {last}"
                ),
            });
        }
        ids.push(id);
        if digits != part.len() {
            break;
        }
    }
    if ids.is_empty() {
        return Err(BadList {
            message: "EE1001",
            cause: format!(
                "ASCEND_RT_VISIBLE_DEVICES={list} leaves no device; ids from 0 to {} exist",
                devices - 1
            ),
        });
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lists() {
        let ids = |list| parse(Some(list), 4).ok();
        assert_eq!(parse(None, 3), Ok(vec![0, 1, 2]));
        assert_eq!(ids("0,2"), Some(vec![0, 2]));
        assert_eq!(ids("1"), Some(vec![1]));
        assert_eq!(ids("0,1 ,2"), Some(vec![0, 1]));
        assert_eq!(ids("1,9,2"), Some(vec![1]));
        for bad in ["2,0", "1,1", "", "x", "9", " 0"] {
            assert_eq!(ids(bad), None, "{bad:?}");
        }
    }
}
