//! Sets and relations built from rows of numbers.

use crate::conditions::{CONSTANT, DIV, Matrix, PARAM};
use crate::context::{Context, Result};
use crate::ffi;
use crate::object::{Given, object};
use crate::reader::{Conjunction, Description, Linear, Tuple};
use crate::sets::{IN, Map, OUT, SET, Set, c_string};

object!(Space, isl_space, isl_space_free);

impl Set {
    /// The set that a text describes; nothing if it describes a relation, or has numbers of more than 32 bits.
    pub(crate) fn built(found: &Description, context: &Context) -> Option<Result<Self>> {
        let [tuple] = &found.tuples[..] else { return None };
        let space = || {
            // SAFETY: the context is valid; the space is owned.
            let space = unsafe {
                Space::own(
                    ffi::isl_space_set_alloc(context.raw(), 0, tuple.dims as u32),
                    context.clone(),
                )?
            };
            space.named(SET, tuple)
        };
        let part = |rows: &Rows| -> Result<Self> {
            let (zero, not_negative) = rows.matrices(context)?;
            // SAFETY: what is given away is owned, as is the answer.
            unsafe {
                let part = ffi::isl_basic_set_from_constraint_matrices(
                    space()?.give(),
                    zero.give(),
                    not_negative.give(),
                    CONSTANT,
                    PARAM,
                    SET,
                    DIV,
                );
                Self::own(ffi::isl_set_from_basic_set(part), context.clone())
            }
        };
        // SAFETY: as above.
        let none = || unsafe { Self::own(ffi::isl_set_empty(space()?.give()), context.clone()) };
        let parts = rows_of(&found.parts, tuple.dims)?;
        Some(united(parts.iter().map(part), none, Self::union))
    }
}

impl Map {
    /// The relation that a text describes; nothing if it describes a set, or has numbers of more than 32 bits.
    pub(crate) fn built(found: &Description, context: &Context) -> Option<Result<Self>> {
        let [from, to] = &found.tuples[..] else {
            return None;
        };
        let space = || {
            // SAFETY: the context is valid; the space is owned.
            let space = unsafe {
                Space::own(
                    ffi::isl_space_alloc(context.raw(), 0, from.dims as u32, to.dims as u32),
                    context.clone(),
                )?
            };
            space.named(IN, from)?.named(OUT, to)
        };
        let part = |rows: &Rows| -> Result<Self> {
            let (zero, not_negative) = rows.matrices(context)?;
            // SAFETY: what is given away is owned, as is the answer.
            unsafe {
                let part = ffi::isl_basic_map_from_constraint_matrices(
                    space()?.give(),
                    zero.give(),
                    not_negative.give(),
                    CONSTANT,
                    PARAM,
                    IN,
                    OUT,
                    DIV,
                );
                Self::own(ffi::isl_map_from_basic_map(part), context.clone())
            }
        };
        // SAFETY: as above.
        let none = || unsafe { Self::own(ffi::isl_map_empty(space()?.give()), context.clone()) };
        let parts = rows_of(&found.parts, from.dims + to.dims)?;
        Some(united(parts.iter().map(part), none, Self::union))
    }
}

fn united<T>(
    mut parts: impl Iterator<Item = Result<T>>,
    none: impl FnOnce() -> Result<T>,
    union: impl Fn(T, T) -> Result<T>,
) -> Result<T> {
    let Some(first) = parts.next() else { return none() };
    parts.try_fold(first?, |all, part| union(all, part?))
}

/// Conditions as rows: the constant, and a coefficient for each coordinate and for each hidden variable.
struct Rows {
    columns: usize,
    zero: Vec<Vec<i32>>,
    not_negative: Vec<Vec<i32>>,
}

fn rows_of(parts: &[Conjunction], dims: usize) -> Option<Vec<Rows>> {
    parts.iter().map(|part| Rows::of(part, dims)).collect()
}

impl Rows {
    fn of(part: &Conjunction, dims: usize) -> Option<Self> {
        let hidden = part.hidden(dims);
        let columns = 1 + dims + hidden.len();
        let row = |condition: &Linear| {
            let mut row = vec![0; columns];
            row[0] = i32::try_from(condition.constant).ok()?;
            for &(variable, coefficient) in &condition.terms {
                let at = hidden.binary_search(&variable).map_or(variable, |at| dims + at);
                row[1 + at] = i32::try_from(coefficient).ok()?;
            }
            Some(row)
        };
        Some(Self {
            columns,
            zero: part.zero.iter().map(row).collect::<Option<_>>()?,
            not_negative: part.not_negative.iter().map(row).collect::<Option<_>>()?,
        })
    }

    fn matrices(&self, context: &Context) -> Result<(Matrix, Matrix)> {
        Ok((
            Matrix::of(&self.zero, self.columns, context)?,
            Matrix::of(&self.not_negative, self.columns, context)?,
        ))
    }
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
