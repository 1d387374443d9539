//! Layouts against MPICH. A process can start one MPI only, and once, so that there is one test.

mod layouts;

#[test]
fn layouts_of_mpich() {
    layouts::run("layouts_of_mpich", "mpicc.mpich", layouts::faults::Faults::MPICH);
}
