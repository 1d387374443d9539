//! The conditions of a convex set as numbers: what isl knows of it, without isl's notation.

use crate::context::{Error, Result};
use crate::ffi;
use crate::object::{Given, object};
use crate::sets::{BasicSetList, SET, Set, Val};

/// `isl_dim_param`, `isl_dim_div` and `isl_dim_cst`.
pub(crate) const PARAM: i32 = 1;
pub(crate) const DIV: i32 = 4;
pub(crate) const CONSTANT: i32 = 0;

/// What the sum of a constant and of coordinates times coefficients has to be.
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
    /// What the sum has to be.
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
        // What isl divides by is in one condition only where that says that something is a multiple.
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
