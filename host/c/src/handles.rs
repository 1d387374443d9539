//! What programs in C have of ours. Handles look like pointers, but are numbers that nobody follows, and none is used twice:
//! whoever uses a handle after it was closed, or in place of another one, gets an error.

use crate::border::Failure;
use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What can have a handle.
pub trait Kind: Object {
    /// Its name in messages.
    const NAME: &str;
}

/// The same, of any kind.
pub trait Object: Any + Send + Sync {
    /// The handle of what it belongs to, and is closed with.
    fn owner(&self) -> Option<usize> {
        None
    }

    /// Ends it, once it has no handle any more.
    fn close(self: Arc<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

struct Table {
    last: usize,
    objects: BTreeMap<usize, Arc<dyn Object>>,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    last: 0,
    objects: BTreeMap::new(),
});

/// Nothing that is done to the table can panic half-way.
fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives it a handle.
pub fn insert<K: Kind, C>(object: K) -> *mut C {
    let mut table = table();
    table.last += 1;
    let handle = table.last;
    table.objects.insert(handle, Arc::new(object));
    without_provenance_mut(handle)
}

/// What a handle is for.
pub fn get<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let table = table();
    let object = table.objects.get(&handle.addr()).cloned();
    object
        .and_then(|object| (object as Arc<dyn Any + Send + Sync>).downcast().ok())
        .ok_or_else(|| wrong::<K, C>(handle))
}

/// Takes a handle away.
pub fn remove<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let found = get::<K, C>(handle)?;
    table().objects.remove(&handle.addr());
    Ok(found)
}

/// Takes the handles of everything away that belongs to another one.
pub fn remove_all<C>(owner: *mut C) -> Vec<Arc<dyn Object>> {
    let mut table = table();
    let belongs = |object: &mut Arc<dyn Object>| object.owner() == Some(owner.addr());
    let removed = table.objects.extract_if(.., |_, object| belongs(object));
    removed.map(|(_, object)| object).collect()
}

fn wrong<K: Kind, C>(handle: *mut C) -> Failure {
    Failure::argument(match handle.is_null() {
        true => format!("the {} is a null pointer", K::NAME),
        false => format!("{handle:p} is no {} that is open", K::NAME),
    })
}
