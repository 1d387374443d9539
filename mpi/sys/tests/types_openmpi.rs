//! Datatypes under Open MPI. A process can start one MPI only, and once, so that there is one test.

mod types;

#[test]
fn datatypes_of_open_mpi() {
    types::run("datatypes_of_open_mpi", "mpicc.openmpi", types::Faults::OPEN_MPI);
}
