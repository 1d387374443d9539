//! Datatypes under MPICH. A process can start one MPI only, and once, so that there is one test.

mod types;

#[test]
fn datatypes_of_mpich() {
    types::run("datatypes_of_mpich", "mpicc.mpich", types::Faults::MPICH);
}
