//! Types that MPI brings.

use std::ffi::CStr;
use std::fmt;

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
