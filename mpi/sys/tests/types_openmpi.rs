//! Datatypes under Open MPI. A process can start one MPI only, and once, so that there is one test.

mod types;

#[test]
fn datatypes_of_open_mpi() {
    // Those of 4.1.4.
    let faults = types::Faults {
        backward_bytes: true,
        backward_extents: false,
        empty_fields: true,
        empty_parts: false,
        empty_arrays: true,
    };
    types::run("datatypes_of_open_mpi", "mpicc.openmpi", faults);
}
