//! Datatypes and layouts under Open MPI. A process can start one MPI only, and once, so there is one test.

mod datatypes;

#[test]
fn datatypes_of_open_mpi() {
    datatypes::run(
        "datatypes_of_open_mpi",
        "mpicc.openmpi",
        datatypes::Faults::OPEN_MPI,
    );
}
