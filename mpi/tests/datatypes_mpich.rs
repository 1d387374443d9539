//! Datatypes and layouts under MPICH. A process can start one MPI only, and once, so there is one test.

mod datatypes;

#[test]
fn datatypes_of_mpich() {
    datatypes::run("datatypes_of_mpich", "mpicc.mpich", datatypes::Faults::MPICH);
}
