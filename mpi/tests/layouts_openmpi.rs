//! Layouts against Open MPI. A process can start one MPI only, and once, so that there is one test.

mod layouts;

#[test]
fn layouts_of_open_mpi() {
    layouts::run(
        "layouts_of_open_mpi",
        "mpicc.openmpi",
        layouts::faults::Faults::OPEN_MPI,
    );
}
