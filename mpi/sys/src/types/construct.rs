//! Types made of types. Counts are of elements; what MPI calls h-types have displacements and strides in bytes.

use super::Datatype;
use crate::error::int;
use crate::{Error, Mpi};
use std::ffi::CStr;
use std::fmt;

/// A block of an indexed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many elements.
    pub length: i64,
    /// Where it begins, in extents of the element or in bytes, as the constructor says.
    pub start: i64,
}

/// A block of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// How many elements.
    pub length: i64,
    /// Where it begins, in bytes.
    pub start: i64,
    /// What they are.
    pub child: &'a Datatype,
}

/// How the elements of an array follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last index changes first.
    C,
    /// The first index changes first.
    Fortran,
}

/// A dimension of an array, and the part of it that is meant, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The whole.
    pub size: i64,
    /// How many of them.
    pub length: i64,
    /// The first of them, from 0.
    pub start: i64,
}

/// How a dimension is dealt out to processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// One block for each; so many elements, or as few as do.
    Block(Option<u32>),
    /// Blocks in turn; so many elements each, or one.
    Cyclic(Option<u32>),
    /// All to each.
    None,
}

/// A dimension of an array, and how it is dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distributed {
    /// How many elements it has.
    pub size: i64,
    /// How they are dealt out.
    pub distribution: Distribution,
    /// To how many processes.
    pub processes: u32,
}

impl Mpi {
    /// Blocks of different types, at any places.
    ///
    /// # Errors
    /// If a length is negative, or MPI refuses.
    pub fn structure(&self, fields: &[Field<'_>]) -> Result<Datatype, Error> {
        let lengths: Vec<i64> = fields.iter().map(|field| field.length).collect();
        let starts: Vec<i64> = fields.iter().map(|field| field.start).collect();
        check("structure", lengths.iter().copied())?;
        let children: Vec<u64> = fields.iter().map(|field| field.child.raw).collect();
        let mut raw = 0;
        // SAFETY: there are as many of each, and the children are alive.
        let code = unsafe {
            let (lengths, starts, children) = (lengths.as_ptr(), starts.as_ptr(), children.as_ptr());
            (self.session.functions.structure)(fields.len() as i64, lengths, starts, children, &mut raw)
        };
        self.session.check("MPI_Type_create_struct", code)?;
        Ok(Datatype::new(&self.session, raw, true, false))
    }
}

/// Fails if a count or a length is negative: MPICH takes some of them.
fn check(call: &'static str, lengths: impl IntoIterator<Item = i64>) -> Result<(), Error> {
    match lengths.into_iter().find(|length| *length < 0) {
        Some(length) => Err(Error::Argument {
            call,
            reason: format!("a count or length of {length}; give 0 or more"),
        }),
        None => Ok(()),
    }
}

impl Datatype {
    /// Elements that follow one another.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn contiguous(&self, count: i64) -> Result<Self, Error> {
        check("contiguous", [count])?;
        let make = self.session.functions.contiguous;
        // SAFETY: the handle is alive, and the new one has a place; so it is for all that follow.
        self.make("MPI_Type_contiguous", |raw, made| unsafe {
            make(count, raw, made)
        })
    }

    /// Blocks of so many elements, with a stride in extents.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn vector(&self, count: i64, length: i64, stride: i64) -> Result<Self, Error> {
        check("vector", [count, length])?;
        let make = self.session.functions.vector;
        // SAFETY: as above.
        self.make("MPI_Type_vector", |raw, made| unsafe {
            make(count, length, stride, raw, made)
        })
    }

    /// Blocks of so many elements, with a stride in bytes.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn hvector(&self, count: i64, length: i64, stride: i64) -> Result<Self, Error> {
        check("hvector", [count, length])?;
        let make = self.session.functions.hvector;
        // SAFETY: as above.
        self.make("MPI_Type_create_hvector", |raw, made| unsafe {
            make(count, length, stride, raw, made)
        })
    }

    /// Blocks of any length, at places in extents.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn indexed(&self, blocks: &[Block]) -> Result<Self, Error> {
        self.make_blocks("MPI_Type_indexed", self.session.functions.indexed, blocks)
    }

    /// Blocks of any length, at places in bytes.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn hindexed(&self, blocks: &[Block]) -> Result<Self, Error> {
        self.make_blocks(
            "MPI_Type_create_hindexed",
            self.session.functions.hindexed,
            blocks,
        )
    }

    /// Blocks of one length, at places in extents.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn indexed_block(&self, length: i64, starts: &[i64]) -> Result<Self, Error> {
        check("indexed_block", [length])?;
        let (make, count) = (self.session.functions.indexed_block, starts.len() as i64);
        // SAFETY: there are as many starts.
        self.make("MPI_Type_create_indexed_block", |raw, made| unsafe {
            make(count, length, starts.as_ptr(), raw, made)
        })
    }

    /// Blocks of one length, at places in bytes.
    ///
    /// # Errors
    /// If a count or length is negative, or MPI refuses.
    pub fn hindexed_block(&self, length: i64, starts: &[i64]) -> Result<Self, Error> {
        check("hindexed_block", [length])?;
        let (make, count) = (self.session.functions.hindexed_block, starts.len() as i64);
        // SAFETY: there are as many starts.
        self.make("MPI_Type_create_hindexed_block", |raw, made| unsafe {
            make(count, length, starts.as_ptr(), raw, made)
        })
    }

    /// A part of an array.
    ///
    /// # Errors
    /// If a part is not in its dimension, there is no dimension, or MPI refuses otherwise.
    pub fn subarray(&self, parts: &[Part], order: Order) -> Result<Self, Error> {
        let dimensions = int("dimensions of an array", parts.len())?;
        // MPICH takes parts that reach out of the array.
        let is_inside = |part: &Part| {
            part.start >= 0 && part.length >= 1 && part.start.saturating_add(part.length) <= part.size
        };
        if let Some(part) = parts.iter().find(|part| !is_inside(part)) {
            return Err(Error::Argument {
                call: "subarray",
                reason: format!(
                    "{} elements from {} on are not in a dimension of {}; give at least one that is",
                    part.length, part.start, part.size
                ),
            });
        }
        let each = |number: fn(&Part) -> i64| parts.iter().map(number).collect::<Vec<_>>();
        let (sizes, lengths) = (each(|part| part.size), each(|part| part.length));
        let starts = each(|part| part.start);
        let make = self.session.functions.subarray;
        let is_fortran = (order == Order::Fortran).into();
        // SAFETY: there are as many of each as dimensions.
        self.make("MPI_Type_create_subarray", |raw, made| unsafe {
            let (sizes, lengths) = (sizes.as_ptr(), lengths.as_ptr());
            make(dimensions, sizes, lengths, starts.as_ptr(), is_fortran, raw, made)
        })
    }

    /// The part of an array that one of several processes has.
    ///
    /// # Errors
    /// If the processes of the dimensions are not those that there are, there is no such rank, a dimension is empty, or MPI
    /// refuses otherwise.
    pub fn darray(
        &self,
        processes: u32,
        rank: u32,
        dimensions: &[Distributed],
        order: Order,
    ) -> Result<Self, Error> {
        let count = int("dimensions of an array", dimensions.len())?;
        let number = |what, value: u32| int(what, value as usize);
        let (mut kinds, mut arguments, mut grid) = (Vec::new(), Vec::new(), Vec::new());
        for dimension in dimensions {
            // As `shim/spinneret_mpi.h` numbers them.
            let (kind, argument) = match dimension.distribution {
                Distribution::Block(argument) => (0, argument),
                Distribution::Cyclic(argument) => (1, argument),
                Distribution::None => (2, None),
            };
            kinds.push(kind);
            arguments.push(argument.map_or(Ok(-1), |argument| number("elements of a block", argument))?);
            grid.push(number("processes of a dimension", dimension.processes)?);
        }
        let sizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.size).collect();
        let (processes, rank) = (number("processes", processes)?, number("a rank", rank)?);
        let is_fortran = (order == Order::Fortran).into();
        let make = self.session.functions.darray;
        // SAFETY: there are as many of each as dimensions.
        self.make("MPI_Type_create_darray", |raw, made| unsafe {
            let (sizes, kinds) = (sizes.as_ptr(), kinds.as_ptr());
            let (arguments, grid) = (arguments.as_ptr(), grid.as_ptr());
            make(
                processes, rank, count, sizes, kinds, arguments, grid, is_fortran, raw, made,
            )
        })
    }

    /// The same elements, with another lower bound and extent, in bytes.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn resized(&self, lower_bound: i64, extent: i64) -> Result<Self, Error> {
        let make = self.session.functions.resized;
        // SAFETY: as above.
        self.make("MPI_Type_create_resized", |raw, made| unsafe {
            make(lower_bound, extent, raw, made)
        })
    }

    /// The same type, with a handle of its own. It is committed if this is.
    ///
    /// # Errors
    /// What MPI refuses.
    pub fn dup(&self) -> Result<Self, Error> {
        let make = self.session.functions.type_dup;
        // SAFETY: as above.
        self.make("MPI_Type_dup", |raw, made| unsafe { make(raw, made) })
    }

    fn make_blocks(
        &self,
        call: &'static str,
        make: unsafe extern "C" fn(i64, *const i64, *const i64, u64, *mut u64) -> i32,
        blocks: &[Block],
    ) -> Result<Self, Error> {
        let lengths: Vec<i64> = blocks.iter().map(|block| block.length).collect();
        check(call, lengths.iter().copied())?;
        let starts: Vec<i64> = blocks.iter().map(|block| block.start).collect();
        let count = blocks.len() as i64;
        // SAFETY: there are as many of each as blocks.
        self.make(call, |raw, made| unsafe {
            make(count, lengths.as_ptr(), starts.as_ptr(), raw, made)
        })
    }

    fn make(&self, call: &'static str, make: impl FnOnce(u64, *mut u64) -> i32) -> Result<Self, Error> {
        let mut made = 0;
        let code = make(self.raw, &mut made);
        self.session.check(call, code)?;
        Ok(Self::new(&self.session, made, true, false))
    }
}

// Types that MPI brings.

macro_rules! names {
    ($($name:ident = $text:literal,)*) => {
        /// The types that MPI brings, by their names in C, without `MPI_`. Those of Fortran may be missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the standard's own")]
        #[non_exhaustive]
        pub enum Named {
            $($name,)*
        }

        impl Named {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub(super) fn c_name(self) -> &'static CStr {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

names! {
    Byte = c"MPI_BYTE",
    Packed = c"MPI_PACKED",
    Char = c"MPI_CHAR",
    SignedChar = c"MPI_SIGNED_CHAR",
    UnsignedChar = c"MPI_UNSIGNED_CHAR",
    Wchar = c"MPI_WCHAR",
    Short = c"MPI_SHORT",
    UnsignedShort = c"MPI_UNSIGNED_SHORT",
    Int = c"MPI_INT",
    Unsigned = c"MPI_UNSIGNED",
    Long = c"MPI_LONG",
    UnsignedLong = c"MPI_UNSIGNED_LONG",
    LongLong = c"MPI_LONG_LONG",
    UnsignedLongLong = c"MPI_UNSIGNED_LONG_LONG",
    Float = c"MPI_FLOAT",
    Double = c"MPI_DOUBLE",
    LongDouble = c"MPI_LONG_DOUBLE",
    CBool = c"MPI_C_BOOL",
    Int8 = c"MPI_INT8_T",
    Int16 = c"MPI_INT16_T",
    Int32 = c"MPI_INT32_T",
    Int64 = c"MPI_INT64_T",
    Uint8 = c"MPI_UINT8_T",
    Uint16 = c"MPI_UINT16_T",
    Uint32 = c"MPI_UINT32_T",
    Uint64 = c"MPI_UINT64_T",
    Aint = c"MPI_AINT",
    Offset = c"MPI_OFFSET",
    Count = c"MPI_COUNT",
    CFloatComplex = c"MPI_C_FLOAT_COMPLEX",
    CDoubleComplex = c"MPI_C_DOUBLE_COMPLEX",
    CLongDoubleComplex = c"MPI_C_LONG_DOUBLE_COMPLEX",
    FloatInt = c"MPI_FLOAT_INT",
    DoubleInt = c"MPI_DOUBLE_INT",
    LongInt = c"MPI_LONG_INT",
    ShortInt = c"MPI_SHORT_INT",
    TwoInt = c"MPI_2INT",
    LongDoubleInt = c"MPI_LONG_DOUBLE_INT",
    Character = c"MPI_CHARACTER",
    Logical = c"MPI_LOGICAL",
    Integer = c"MPI_INTEGER",
    Real = c"MPI_REAL",
    DoublePrecision = c"MPI_DOUBLE_PRECISION",
    Complex = c"MPI_COMPLEX",
    DoubleComplex = c"MPI_DOUBLE_COMPLEX",
    TwoReal = c"MPI_2REAL",
    TwoDoublePrecision = c"MPI_2DOUBLE_PRECISION",
    TwoInteger = c"MPI_2INTEGER",
}

impl Named {
    /// Its name in C, such as `MPI_FLOAT_INT`.
    pub fn name(self) -> &'static str {
        // The names above are ASCII.
        self.c_name().to_str().unwrap_or_default()
    }

    /// The type of a name in C.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|named| named.name() == name)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
