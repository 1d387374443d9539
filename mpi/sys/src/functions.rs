//! The functions of the layer in C, by name. `shim/spinneret_mpi.h` says what each does.

use libloading::os::unix::Library;
use std::sync::atomic::AtomicU64;

/// The status of a message, as the layer returns it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawStatus {
    pub(crate) bytes: i64,
    pub(crate) source: i32,
    pub(crate) tag: i32,
    pub(crate) cancelled: i32,
}

/// The target of pointers to empty areas. Rust's are small numbers, and one of them is `MPI_IN_PLACE` in Open MPI.
static NOTHING: AtomicU64 = AtomicU64::new(0);

/// Where an area begins, for MPI to read.
pub(crate) fn first<T>(area: &[T]) -> *const T {
    if area.is_empty() {
        NOTHING.as_ptr().cast_const().cast()
    } else {
        area.as_ptr()
    }
}

/// Where an area begins, for MPI to write.
pub(crate) fn first_mut<T>(area: &mut [T]) -> *mut T {
    if area.is_empty() {
        NOTHING.as_ptr().cast()
    } else {
        area.as_mut_ptr()
    }
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// All functions of the layer. Each gives 0 or MPI's code of an error.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument: $type),*) -> i32,)*
        }

        impl Functions {
            /// Finds all of them.
            ///
            /// # Safety
            /// The library is made of `shim/`, so that they have these signatures, and is never unloaded.
            pub(crate) unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $(
                        // SAFETY: the caller guarantees it, and a test compares the signatures.
                        $name: unsafe { *library.get(concat!("spinneret_mpi_", stringify!($name)).as_bytes())? },
                    )*
                })
            }
        }

        #[cfg(test)]
        const DECLARATIONS: &[(&str, &[(&str, &str)])] = &[
            $((stringify!($name), &[$((stringify!($argument), stringify!($type))),*])),*
        ];
    };
}

functions! {
    is_same_library();
    init();
    attach(is_initialised: *mut i32);
    finalize();
    abort(code: i32);
    error(code: i32, error_class: *mut i32, text: *mut u8, capacity: i32);
    version(text: *mut u8, capacity: i32, version: *mut i32, subversion: *mut i32);
    wildcards(three: *mut i32);

    world(comm: *mut u64);
    alone(comm: *mut u64);
    rank(comm: u64, rank: *mut i32);
    size(comm: u64, size: *mut i32);
    dup(comm: u64, copy: *mut u64);
    world_ranks(comm: u64, ranks: *mut i32);
    comm_free(comm: u64);

    barrier(comm: u64);
    allgather(comm: u64, from: *const u8, count: i32, to: *mut u8);
    ibarrier(comm: u64, request: *mut u64);
    ibcast(comm: u64, bytes: *mut u8, count: i32, root: i32, request: *mut u64);
    ireduce(comm: u64, root: i32, operation: i32, kind: i32, numbers: *mut u8, count: i32, request: *mut u64);
    igather(comm: u64, root: i32, parts: *mut u8, count: i32, request: *mut u64);
    iscatter(comm: u64, root: i32, parts: *mut u8, count: i32, request: *mut u64);

    send(comm: u64, bytes: *const u8, count: i32, destination: i32, tag: i32);
    recv(comm: u64, bytes: *mut u8, count: i32, source: i32, tag: i32, status: *mut RawStatus);
    iprobe(comm: u64, source: i32, tag: i32, is_there: *mut i32, status: *mut RawStatus);
    mprobe(comm: u64, source: i32, tag: i32, message: *mut u64, status: *mut RawStatus);
    mrecv(message: u64, bytes: *mut u8, count: i32, status: *mut RawStatus);
    begin(kind: i32, comm: u64, memory: *mut u8, count: i32, type_: u64, peer: i32, tag: i32, request: *mut u64);
    start(request: *mut u64);
    test(request: *mut u64, is_done: *mut i32, status: *mut RawStatus);
    wait(request: *mut u64, status: *mut RawStatus);
    cancel(request: *mut u64);
    request_free(request: *mut u64);

    named(name: *const u8, type_: *mut u64);
    type_name(type_: u64, text: *mut u8, capacity: i32);
    make(combiner: i32, length: i32, integers: *const i64, addresses: *const i64, children: *const u64, type_: *mut u64);
    commit(type_: u64);
    type_free(type_: u64);
    bounds(type_: u64, five: *mut i64);

    envelope(type_: u64, combiner: *mut i32, four: *mut i64);
    contents(type_: u64, combiner: i32, four: *const i64, integers: *mut i64, addresses: *mut i64, counts: *mut i64, types: *mut u64);
    pack(type_: u64, memory: *const u8, count: i32, packed: *mut u8, size: i32, position: *mut i32);
    unpack(type_: u64, packed: *const u8, size: i32, position: *mut i32, memory: *mut u8, count: i32);
}

#[cfg(test)]
mod tests {
    use super::DECLARATIONS;

    fn c_type(rust: &str) -> &str {
        match rust {
            "i32" => "int32_t ",
            "i64" => "int64_t ",
            "u64" => "uint64_t ",
            "*mut i32" => "int32_t *",
            "*mut i64" => "int64_t *",
            "*mut u64" => "uint64_t *",
            "*mut u8" => "uint8_t *",
            "*const i64" => "const int64_t *",
            "*const u64" => "const uint64_t *",
            "*const u8" => "const uint8_t *",
            "*mut RawStatus" => "struct spinneret_mpi_status *",
            other => panic!("{other} has no counterpart in C"),
        }
    }

    #[test]
    fn the_header_declares_the_same() {
        let header = include_str!("../shim/spinneret_mpi.h");
        let declared: Vec<&str> = header
            .lines()
            .filter(|line| line.starts_with("int32_t spinneret_mpi_"))
            .collect();
        let expected: Vec<String> = DECLARATIONS
            .iter()
            .map(|(name, arguments)| {
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|(name, rust)| format!("{}{}", c_type(rust), name.trim_end_matches('_')))
                    .collect();
                let arguments = if arguments.is_empty() {
                    "void".to_owned()
                } else {
                    arguments.join(", ")
                };
                format!("int32_t spinneret_mpi_{name}({arguments});")
            })
            .collect();
        assert_eq!(declared, expected);
    }
}

macro_rules! combiners {
    ($($(#[$doc:meta])* $name:ident = $call:literal,)*) => {
        /// MPI's constructors of types.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Combiner {
            $($(#[$doc])* $name,)*
        }

        impl Combiner {
            /// In the order of the table in `shim/types.c`.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// MPI's function.
            pub(crate) fn call(self) -> &'static str {
                match self {
                    $(Self::$name => $call,)*
                }
            }
        }
    };
}

combiners! {
    /// MPI brings it.
    Named = "a predefined type",
    /// No numbers; one child.
    Dup = "MPI_Type_dup",
    /// Count.
    Contiguous = "MPI_Type_contiguous",
    /// Count, length of a block, stride in extents.
    Vector = "MPI_Type_vector",
    /// Count, length of a block; address: stride in bytes.
    Hvector = "MPI_Type_create_hvector",
    /// Count, lengths, starts in extents.
    Indexed = "MPI_Type_indexed",
    /// Count, lengths; addresses: starts in bytes.
    Hindexed = "MPI_Type_create_hindexed",
    /// Count, length of all blocks, starts in extents.
    IndexedBlock = "MPI_Type_create_indexed_block",
    /// Count, length of all blocks; addresses: starts in bytes.
    HindexedBlock = "MPI_Type_create_hindexed_block",
    /// Count, lengths; addresses: starts in bytes; a child for each.
    Struct = "MPI_Type_create_struct",
    /// Dimensions, sizes, lengths of the part, its starts, order (0 as in C, 1 as in Fortran).
    Subarray = "MPI_Type_create_subarray",
    /// Processes, rank, dimensions, sizes, distributions (0 block, 1 cyclic, 2 none), their arguments (-1 if MPI chooses),
    /// processes of the dimensions, order (as for a subarray).
    Darray = "MPI_Type_create_darray",
    /// Addresses: lower bound, extent.
    Resized = "MPI_Type_create_resized",
    /// Fortran's, of a precision and a range; no children.
    F90Real = "a predefined type",
    /// Fortran's, of a precision and a range; no children.
    F90Complex = "a predefined type",
    /// Fortran's, of a range; no children.
    F90Integer = "a predefined type",
}

impl Combiner {
    /// Whether it is predefined, so that its contents cannot be read and it must not be freed.
    pub(crate) fn is_predefined(self) -> bool {
        matches!(
            self,
            Self::Named | Self::F90Real | Self::F90Complex | Self::F90Integer
        )
    }
}
