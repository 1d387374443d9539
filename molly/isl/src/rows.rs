//! Conditions of convex sets as rows of numbers, and sets built from such rows.

use crate::ffi::{self, Context, Error, Given, Result, object};
use crate::reader::{Conjunction, Description, Linear, Tuple};
use crate::sets::{BasicSetList, IN, Map, OUT, SET, Set, Val, c_string};

/// `isl_dim_param`, `isl_dim_div` and `isl_dim_cst`.
pub(crate) const PARAM: i32 = 1;
pub(crate) const DIV: i32 = 4;
pub(crate) const CONSTANT: i32 = 0;

/// The kind of a condition on a sum of a constant and of coordinates times coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Zero.
    Zero,
    /// Zero or more.
    NotNegative,
    /// A multiple of this, which is more than 1.
    Multiple(i64),
}

/// A condition on the coordinates of a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The condition on the sum.
    pub kind: Kind,
    /// The constant.
    pub constant: i64,
    /// One for each coordinate.
    pub coefficients: Vec<i64>,
}

impl Condition {
    /// The last coordinate that it is about.
    pub fn last(&self) -> Option<usize> {
        self.coefficients
            .iter()
            .rposition(|coefficient| *coefficient != 0)
    }
}

/// Conditions of which all points fulfil all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// The conditions.
    pub all: Vec<Condition>,
    /// Whether every point that fulfils them is in the set. If not, there are conditions of another form.
    pub is_exact: bool,
}

object!(BasicSet, isl_basic_set, isl_basic_set_free);
object!(pub(crate) Matrix, isl_mat, isl_mat_free);

impl Matrix {
    fn rows(&self) -> Result<Vec<Vec<i64>>> {
        // SAFETY: the matrix is valid and stays.
        let (rows, columns) = unsafe { (ffi::isl_mat_rows(self.keep()), ffi::isl_mat_cols(self.keep())) };
        let (rows, columns) = (self.context.number(rows)?, self.context.number(columns)?);
        let element = |row: usize, column: usize| {
            // SAFETY: the matrix is valid and stays; the value is owned.
            unsafe {
                let value = ffi::isl_mat_get_element_val(self.keep(), row as i32, column as i32);
                Val::from_raw(value, self.context.clone())
            }?
            .number()
        };
        (0..rows)
            .map(|row| (0..columns).map(|column| element(row, column)).collect())
            .collect()
    }
}

impl Set {
    /// The conditions of a set of one part, as [`Set::parts`] gives them, without parameters.
    ///
    /// # Errors
    /// If the set has several parts, or a number has more than 64 bits.
    pub fn conditions(&self) -> Result<Conditions> {
        let dims = self.dims()?;
        let context = self.context.clone();
        let part = self.only_part()?;
        // SAFETY: the part is given away, what comes is owned, and stays while its matrices are made.
        let (equal, not_negative) = unsafe {
            let part = BasicSet::own(
                ffi::isl_basic_set_remove_redundancies(part.give()),
                context.clone(),
            )?;
            let equal = ffi::isl_basic_set_equalities_matrix(part.keep(), CONSTANT, PARAM, SET, DIV);
            let equal = Matrix::own(equal, context.clone())?.rows()?;
            let rest = ffi::isl_basic_set_inequalities_matrix(part.keep(), CONSTANT, PARAM, SET, DIV);
            (equal, Matrix::own(rest, context)?.rows()?)
        };
        let mut found = Conditions {
            all: Vec::new(),
            is_exact: true,
        };
        let all = || equal.iter().chain(&not_negative);
        // A divisor of isl's is in one condition only if that condition says that something is a multiple.
        let appears = |hidden: usize| all().filter(|row| row[hidden] != 0).count();
        for (row, kind) in equal
            .iter()
            .map(|row| (row, Kind::Zero))
            .chain(not_negative.iter().map(|row| (row, Kind::NotNegative)))
        {
            let hidden: Vec<usize> = (1 + dims..row.len()).filter(|&at| row[at] != 0).collect();
            let kind = match (&hidden[..], kind) {
                ([], kind) => Some(kind),
                ([one], Kind::Zero) if appears(*one) == 1 => Some(Kind::Multiple(row[*one].abs())),
                _ => None,
            };
            match kind {
                Some(Kind::Multiple(1)) => {}
                Some(kind) => found.all.push(Condition {
                    kind,
                    constant: row[0],
                    coefficients: row[1..=dims].to_vec(),
                }),
                None => found.is_exact = false,
            }
        }
        Ok(found)
    }

    fn only_part(&self) -> Result<BasicSet> {
        let context = &self.context;
        // SAFETY: the set stays, the list is owned, and so is its member.
        unsafe {
            let list = BasicSetList::own(ffi::isl_set_get_basic_set_list(self.keep()), context.clone())?;
            match context.number(ffi::isl_basic_set_list_n_basic_set(list.keep()))? {
                1 => BasicSet::own(
                    ffi::isl_basic_set_list_get_basic_set(list.keep(), 0),
                    context.clone(),
                ),
                parts => Err(Error::Isl(format!("the conditions of a set of {parts} parts"))),
            }
        }
    }
}

// Sets and relations built from rows of numbers.

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
