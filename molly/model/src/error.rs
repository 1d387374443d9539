//! Why there is no plan.

use crate::program::Site;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An element that the field does not have.
    #[error(
        "{site}: `{field}` has no element {element:?}; it is accessed where the loops' variables are {instance:?}"
    )]
    OutOfBounds {
        /// The access.
        site: Site,
        /// The field.
        field: String,
        /// Such an element.
        element: Vec<i64>,
        /// An instance that accesses it: the values of the loops' variables.
        instance: Vec<i64>,
    },
    /// Parameters or sizes do not fit the program.
    #[error("{program}: {what}")]
    Sizes {
        /// The program.
        program: String,
        /// What does not fit.
        what: String,
    },
    /// A product of two variables, or a division by one or by what is not positive.
    #[error("{site}: not affine with these sizes: {what}")]
    NotAffine {
        /// The body it belongs to.
        site: Site,
        /// What is not.
        what: String,
    },
    /// Coordinates that are no geometry.
    #[error("{0}")]
    Geometry(String),
    /// A pair of ranks would need more messages under way.
    #[error(
        "messages of `{field}` would need more than {limit} buffers for each pair of ranks; put fewer iterations \
             between what is written and what is read"
    )]
    Depth {
        /// The field.
        field: String,
        /// Buffers that are possible.
        limit: usize,
    },
    /// The analysis needs more than it is allowed.
    #[error(
        "{site}: there is no plan for `{program}` in {limit} operations of isl; allow more in `Options::operations`, or make the \
         loops simpler"
    )]
    Limit {
        /// The first body.
        site: Site,
        /// The program.
        program: String,
        /// Operations that were allowed.
        limit: u64,
    },
    /// isl gave no answer.
    #[error("the analysis gave up: {0}")]
    Isl(#[from] spinneret_isl::Error),
}

/// A plan, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;
