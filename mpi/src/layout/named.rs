//! The types that MPI brings.

use super::LayoutError;
use super::Run;
use super::form::{Form, List};
use spinneret_mpi_sys::Tree;

/// Most are one run. Of the pairs that C has, `MPI_SHORT_INT` alone has a gap between its parts; gaps behind are for the extent.
pub(super) fn form(tree: &Tree) -> Result<Form, LayoutError> {
    let bytes = u64::try_from(tree.bounds.size).map_err(|_| LayoutError::Contents(tree.combiner))?;
    match tree.name.as_deref() {
        Some("MPI_SHORT_INT") if bytes == 6 => {
            let mut list = List::default();
            list.push(Run { start: 0, bytes: 2 })?;
            list.push(Run { start: 4, bytes: 4 })?;
            Ok(list.into_form())
        }
        _ => Ok(Form::run(0, bytes)),
    }
}
