//! Manual chapter: tensor data transfer. Tensors (items) and lists of them (datasets).

use std::ffi::CString;
use std::sync::Arc;

use cannery_abi as abi;

use super::parcel::{Parcel, Segment};
use super::ring::no_memory;
use super::table::Table;
use super::user_bytes::UserBytes;
use crate::error::{Error, Result};
use crate::os::block::Block;
use crate::process::current;

/// Dimensions of a tensor.
const MOST_DIMENSIONS: usize = 128;

/// Where the bytes of an item are.
#[derive(Clone)]
enum Data {
    /// Memory of the program, which stays the program's.
    Theirs(u64),
    /// Memory of a dataset that was received.
    Ours(Arc<Segment>),
}

#[derive(Clone)]
struct Item {
    kind: i32,
    dims: Vec<i64>,
    data_type: i32,
    data: Data,
    bytes: u64,
}

/// What a tensor is, but for its bytes.
#[derive(Debug)]
pub struct Description<'a> {
    /// acltdtTensorType.
    pub kind: i32,
    /// Shape.
    pub dims: &'a [i64],
    /// aclDataType.
    pub data_type: i32,
}

#[derive(Default)]
struct Dataset {
    /// Never moves while the object keeps it: the program gets its address.
    name: CString,
    items: Vec<u64>,
    /// Whether the items go with it.
    received: bool,
}

static ITEMS: Table<Item> = Table::new(0xcb, "data item", "acltdtCreateDataItem");
static DATASETS: Table<Dataset> = Table::new(0xcc, "data set", "acltdtCreateDataset");

fn check(param: &'static str, handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null(param));
    }
    Ok(())
}

/// acltdtCreateDataItem. The bytes stay the program's; they are read when the item is sent.
///
/// # Errors
/// 100000 for an unknown kind, more than 128 or negative dimensions, and no data with a size.
pub fn create_item(tensor: &Description<'_>, data: u64, bytes: u64) -> Result<u64> {
    let Description {
        kind,
        dims,
        data_type,
    } = *tensor;
    if !(abi::ACL_TENSOR_DATA_TENSOR..=abi::ACL_TENSOR_DATA_END_TENSOR).contains(&kind) {
        return Err(Error::value(
            "tdtType",
            kind,
            "must be in [0, 4] (acltdtTensorType)",
        ));
    }
    if dims.len() > MOST_DIMENSIONS {
        return Err(Error::value(
            "dimNum",
            dims.len(),
            format!("must be at most {MOST_DIMENSIONS}"),
        ));
    }
    if let Some(dim) = dims.iter().find(|dim| **dim < 0) {
        return Err(Error::value("dims", *dim, "must not be negative"));
    }
    if data == 0 && bytes > 0 {
        return Err(Error::cause("size", bytes, "must be 0 when data is NULL"));
    }
    ITEMS.add(Item {
        kind,
        dims: dims.to_vec(),
        data_type,
        data: Data::Theirs(data),
        bytes,
    })
}

/// acltdtDestroyDataItem. The program's bytes are not released; those of a received item go with its
/// dataset.
///
/// # Errors
/// 100000 for NULL, what is no living item, and a received item.
pub fn destroy_item(handle: u64) -> Result<()> {
    check("dataItem", handle)?;
    let free = |item: &Item| match item.data {
        Data::Theirs(_) => Ok(()),
        Data::Ours(_) => Err(Error::cause(
            "dataItem",
            format!("{handle:#x}"),
            "was received; it goes with its data set (acltdtDestroyDataset)",
        )),
    };
    ITEMS.remove_if("dataItem", handle, free).map(drop)
}

fn of_item<R>(handle: u64, read: impl FnOnce(&Item) -> R) -> Result<R> {
    check("dataItem", handle)?;
    ITEMS.with("dataItem", handle, |item| Ok(read(item)))
}

/// acltdtGetTensorTypeFromItem.
///
/// # Errors
/// 100000 for NULL and what is no living item.
pub fn kind(handle: u64) -> Result<i32> {
    of_item(handle, |item| item.kind)
}

/// acltdtGetDataTypeFromItem.
///
/// # Errors
/// As [`kind`].
pub fn data_type(handle: u64) -> Result<i32> {
    of_item(handle, |item| item.data_type)
}

/// acltdtGetDataAddrFromItem.
///
/// # Errors
/// As [`kind`].
pub fn address(handle: u64) -> Result<u64> {
    of_item(handle, |item| match &item.data {
        Data::Theirs(at) => *at,
        Data::Ours(segment) => segment.block.at(),
    })
}

/// acltdtGetDataSizeFromItem, in bytes.
///
/// # Errors
/// As [`kind`].
pub fn size(handle: u64) -> Result<u64> {
    of_item(handle, |item| item.bytes)
}

/// acltdtGetDimNumFromItem.
///
/// # Errors
/// As [`kind`].
pub fn dimensions(handle: u64) -> Result<u64> {
    of_item(handle, |item| item.dims.len() as u64)
}

/// acltdtGetDimsFromItem.
///
/// # Errors
/// As [`kind`], and 100000 when there is room for fewer dimensions than the item has.
pub fn dims(handle: u64, room: Option<&mut [i64]>, number: u64) -> Result<()> {
    let dims = of_item(handle, |item| item.dims.clone())?;
    if number < dims.len() as u64 {
        return Err(Error::value(
            "dimNum",
            number,
            format!(
                "must be at least {}, the dimensions of the item",
                dims.len()
            ),
        ));
    }
    match room {
        Some(room) => room[..dims.len()].copy_from_slice(&dims),
        None if dims.is_empty() => {}
        None => return Err(Error::null("dims")),
    }
    Ok(())
}

/// acltdtGetSliceInfoFromItem: number of slices and which one it is. Nothing is sliced here: 1 and 0.
///
/// # Errors
/// As [`kind`].
pub fn slices(handle: u64) -> Result<(usize, usize)> {
    of_item(handle, |_| (1, 0))
}

/// acltdtCreateDataset: empty.
///
/// # Errors
/// 207000 where the product has no channels.
pub fn create() -> Result<u64> {
    DATASETS.add(Dataset::default())
}

/// acltdtDestroyDataset: received items go with it, those of the program stay.
///
/// # Errors
/// 100000 for NULL and what is no living dataset.
pub fn destroy(handle: u64) -> Result<()> {
    check("dataset", handle)?;
    let dataset = DATASETS.remove("dataset", handle)?;
    if dataset.received {
        for item in dataset.items {
            ITEMS.remove("dataItem", item)?;
        }
    }
    Ok(())
}

/// acltdtAddDataItem. The item stays the program's.
///
/// # Errors
/// 100000 for NULL, what is no living object, and a dataset that was received.
pub fn add(dataset: u64, item: u64) -> Result<()> {
    check("dataset", dataset)?;
    check("dataItem", item)?;
    kind(item)?;
    DATASETS.with("dataset", dataset, |set| {
        if set.received {
            return Err(Error::cause(
                "dataset",
                format!("{dataset:#x}"),
                "was received; make another one to send",
            ));
        }
        set.items.push(item);
        Ok(())
    })
}

/// acltdtGetDataItem.
///
/// # Errors
/// 100000 for NULL, what is no living dataset, and an index beyond its items.
pub fn item(dataset: u64, index: u64) -> Result<u64> {
    check("dataset", dataset)?;
    DATASETS.with("dataset", dataset, |set| {
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| set.items.get(index));
        found.copied().ok_or_else(|| {
            Error::value(
                "index",
                index,
                format!(
                    "must be below {}, the items of the data set",
                    set.items.len()
                ),
            )
        })
    })
}

/// acltdtGetDatasetSize: number of items.
///
/// # Errors
/// 100000 for NULL and what is no living dataset.
pub fn length(dataset: u64) -> Result<u64> {
    check("dataset", dataset)?;
    DATASETS.with("dataset", dataset, |set| Ok(set.items.len() as u64))
}

/// acltdtGetDatasetName: where the name is kept; that of its channel once it was received, else empty.
///
/// # Errors
/// As [`length`].
pub fn name_address(dataset: u64) -> Result<u64> {
    check("dataset", dataset)?;
    DATASETS.with("dataset", dataset, |set| Ok(set.name.as_ptr() as u64))
}

/// A dataset as a message: for each item what it is, and its bytes.
pub(crate) fn pack(dataset: u64) -> Result<Parcel> {
    let items = DATASETS.with("dataset", dataset, |set| Ok(set.items.clone()))?;
    let runtime = current()?;
    let mut segments = Vec::with_capacity(items.len() * 2);
    for handle in items {
        let item = ITEMS.with("dataItem", handle, |item| Ok(item.clone()))?;
        segments.push(Arc::new(describe(&item)?));
        segments.push(match item.data {
            Data::Ours(segment) => segment,
            Data::Theirs(_) if item.bytes == 0 => {
                Arc::new(Segment::new(Block::new(0).ok_or_else(|| no_memory(0))?, 0))
            }
            Data::Theirs(at) => {
                let from = UserBytes::check(runtime, "data", at, item.bytes)?;
                let block = from.to_block().ok_or_else(|| no_memory(item.bytes))?;
                Arc::new(Segment::new(block, item.bytes))
            }
        });
    }
    Ok(Parcel { segments })
}

/// Kind, data type and shape, as numbers of 8 bytes.
fn describe(item: &Item) -> Result<Segment> {
    let mut numbers = vec![i64::from(item.kind), i64::from(item.data_type)];
    numbers.extend(&item.dims);
    let bytes = size_of_val(numbers.as_slice()) as u64;
    let block = Block::from_numbers(&numbers).ok_or_else(|| no_memory(bytes))?;
    Ok(Segment::new(block, bytes))
}

/// Whether a dataset can receive a message: it exists and is empty.
pub(crate) fn check_empty(dataset: u64) -> Result<()> {
    match length(dataset)? {
        0 => Ok(()),
        items => Err(Error::cause(
            "dataset",
            format!("{dataset:#x}"),
            format!("has {items} items already; receive into an empty one"),
        )),
    }
}

/// Makes the items of a message those of an empty dataset.
pub(crate) fn unpack(dataset: u64, parcel: &Parcel, name: &[u8]) -> Result<()> {
    let mut items = Vec::with_capacity(parcel.segments.len() / 2);
    for pair in parcel.segments.chunks_exact(2) {
        let numbers = pair[0].block.to_numbers();
        let (head, dims) = numbers.split_at(numbers.len().min(2));
        let number = |at: usize| head.get(at).map_or(-1, |number| *number as i32);
        items.push(ITEMS.add(Item {
            kind: number(0),
            data_type: number(1),
            dims: dims.to_vec(),
            bytes: pair[1].valid(),
            data: Data::Ours(pair[1].clone()),
        })?);
    }
    DATASETS.with("dataset", dataset, |set| {
        set.items = items;
        set.received = true;
        set.name = CString::new(name).unwrap_or_default();
        Ok(())
    })
}
