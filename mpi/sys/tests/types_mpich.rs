//! Datatypes under MPICH. A process can start one MPI only, and once, so that there is one test.

mod types;

#[test]
fn datatypes_of_mpich() {
    // Those of 4.0.2.
    let faults = types::Faults {
        backward_bytes: false,
        backward_extents: true,
        empty_fields: false,
        empty_parts: true,
        empty_arrays: false,
    };
    types::run("datatypes_of_mpich", "mpicc.mpich", faults);
}
