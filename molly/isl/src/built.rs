//! Sets and relations built from rows of numbers.

use crate::conditions::{CONSTANT, DIV, Matrix, PARAM};
use crate::context::{Context, Result};
use crate::ffi;
use crate::object::{Given, object};
use crate::reader::{Conjunction, Linear, Tuple};
use crate::sets::{IN, Map, OUT, SET, Set, c_string};

object!(Space, isl_space, isl_space_free);

impl Set {
    /// The set that a conjunction says; nothing if it says a relation, or has numbers of more than 32 bits.
    pub(crate) fn built(found: &Conjunction, context: &Context) -> Option<Result<Self>> {
        let [tuple] = &found.tuples[..] else { return None };
        let (zero, not_negative) = (
            rows(&found.zero, tuple.dims)?,
            rows(&found.not_negative, tuple.dims)?,
        );
        let build = || {
            // SAFETY: the context is valid; what is made is owned, and given away in the next call.
            unsafe {
                let space = ffi::isl_space_set_alloc(context.raw(), 0, tuple.dims as u32);
                let space = Space::own(space, context.clone())?.named(SET, tuple)?;
                let zero = Matrix::of(&zero, 1 + tuple.dims, context)?.give();
                let not_negative = Matrix::of(&not_negative, 1 + tuple.dims, context)?.give();
                let part = ffi::isl_basic_set_from_constraint_matrices(
                    space.give(),
                    zero,
                    not_negative,
                    CONSTANT,
                    PARAM,
                    SET,
                    DIV,
                );
                Self::own(ffi::isl_set_from_basic_set(part), context.clone())
            }
        };
        Some(build())
    }
}

impl Map {
    /// The relation that a conjunction says; nothing if it says a set, or has numbers of more than 32 bits.
    pub(crate) fn built(found: &Conjunction, context: &Context) -> Option<Result<Self>> {
        let [from, to] = &found.tuples[..] else {
            return None;
        };
        let dims = from.dims + to.dims;
        let (zero, not_negative) = (rows(&found.zero, dims)?, rows(&found.not_negative, dims)?);
        let build = || {
            // SAFETY: the context is valid; what is made is owned, and given away in the next call.
            unsafe {
                let space = ffi::isl_space_alloc(context.raw(), 0, from.dims as u32, to.dims as u32);
                let space = Space::own(space, context.clone())?
                    .named(IN, from)?
                    .named(OUT, to)?;
                let zero = Matrix::of(&zero, 1 + dims, context)?.give();
                let not_negative = Matrix::of(&not_negative, 1 + dims, context)?.give();
                let part = ffi::isl_basic_map_from_constraint_matrices(
                    space.give(),
                    zero,
                    not_negative,
                    CONSTANT,
                    PARAM,
                    IN,
                    OUT,
                    DIV,
                );
                Self::own(ffi::isl_map_from_basic_map(part), context.clone())
            }
        };
        Some(build())
    }
}

/// Conditions as rows: the constant, and a coefficient for each coordinate.
fn rows(conditions: &[Linear], dims: usize) -> Option<Vec<Vec<i32>>> {
    let row = |condition: &Linear| {
        let mut row = vec![0; 1 + dims];
        row[0] = i32::try_from(condition.constant).ok()?;
        for &(variable, coefficient) in &condition.terms {
            row[1 + variable] = i32::try_from(coefficient).ok()?;
        }
        Some(row)
    };
    conditions.iter().map(row).collect()
}

impl Space {
    fn named(self, side: i32, tuple: &Tuple) -> Result<Self> {
        let Some(name) = &tuple.name else {
            return Ok(self);
        };
        let (context, name) = (self.context.clone(), c_string(name)?);
        // SAFETY: the space is given away, the name is copied; the answer is owned.
        unsafe {
            let named = ffi::isl_space_set_tuple_name(self.give(), side, name.as_ptr());
            Self::own(named, context)
        }
    }
}

impl Matrix {
    fn of(rows: &[Vec<i32>], columns: usize, context: &Context) -> Result<Self> {
        // SAFETY: the context is valid; the matrix is owned.
        let mut matrix = unsafe {
            let matrix = ffi::isl_mat_alloc(context.raw(), rows.len() as u32, columns as u32);
            Self::own(matrix, context.clone())?
        };
        for (row, numbers) in rows.iter().enumerate() {
            for (column, &number) in numbers.iter().enumerate() {
                // SAFETY: the matrix is given away and comes back; it has this row and this column.
                matrix = unsafe {
                    let set = ffi::isl_mat_set_element_si(matrix.give(), row as i32, column as i32, number);
                    Self::own(set, context.clone())?
                };
            }
        }
        Ok(matrix)
    }
}
