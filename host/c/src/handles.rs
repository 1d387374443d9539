//! What programs in C have of ours. Handles look like pointers, but are numbers that nobody follows, and none is used twice:
//! whoever uses a handle after it was closed, or in place of another one, gets an error.

use crate::border::Failure;
use crate::context::OpenContext;
use crate::nic::OpenNic;
use spinneret_host::Program;
use std::collections::BTreeMap;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Anything that has a handle.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Nic(Arc<OpenNic>),
    Program(Arc<Program>),
    Context(Arc<OpenContext>),
}

/// One kind of it.
pub(crate) trait Kind: Sized {
    /// Its name in messages.
    const NAME: &str;
    fn wrap(this: Arc<Self>) -> Object;
    fn unwrap(object: &Object) -> Option<&Arc<Self>>;
}

macro_rules! kinds {
    ($($type:ty, $variant:ident, $name:literal;)*) => { $(
        impl Kind for $type {
            const NAME: &str = $name;

            fn wrap(this: Arc<Self>) -> Object {
                Object::$variant(this)
            }

            fn unwrap(object: &Object) -> Option<&Arc<Self>> {
                match object {
                    Object::$variant(this) => Some(this),
                    _ => None,
                }
            }
        }
    )* };
}
kinds! {
    OpenNic, Nic, "NIC";
    Program, Program, "program";
    OpenContext, Context, "context";
}

#[derive(Debug)]
struct Table {
    last: usize,
    objects: BTreeMap<usize, Object>,
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
pub(crate) fn insert<K: Kind, C>(object: K) -> *mut C {
    let mut table = table();
    table.last += 1;
    let handle = table.last;
    table.objects.insert(handle, K::wrap(Arc::new(object)));
    without_provenance_mut(handle)
}

/// What a handle is for.
pub(crate) fn get<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let table = table();
    let object = table.objects.get(&handle.addr());
    object
        .and_then(K::unwrap)
        .cloned()
        .ok_or_else(|| wrong::<K, C>(handle))
}

/// Takes a handle away.
pub(crate) fn remove<K: Kind, C>(handle: *mut C) -> Result<Arc<K>, Failure> {
    let found = get::<K, C>(handle)?;
    table().objects.remove(&handle.addr());
    Ok(found)
}

/// Takes the handles of everything away that belongs to something else.
pub(crate) fn remove_all<K: Kind>(belongs: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
    let mut table = table();
    let is_meant = |object: &Object| K::unwrap(object).is_some_and(|found| belongs(found));
    let removed = table.objects.extract_if(.., |_, object| is_meant(object));
    removed
        .filter_map(|(_, object)| K::unwrap(&object).cloned())
        .collect()
}

fn wrong<K: Kind, C>(handle: *mut C) -> Failure {
    Failure::argument(match handle.is_null() {
        true => format!("the {} is a null pointer", K::NAME),
        false => format!("{handle:p} is no {} that is open", K::NAME),
    })
}
