//! `mpi/include/spinneret_rank.h` is up to date, and valid C and C++ with both MPIs.

#[path = "../../../host/c/tests/header/header.rs"]
mod header;

use header::Header;
use spinneret_rank::{spinneret_rank_counts, spinneret_rank_options, spinneret_status};

const INTRODUCTION: &str = "\
/*
 * Messages of an MPI program over a spinneret NIC. Made from mpi/c; docs/host/mpi.md explains it.
 *
 * Calls return the values of those of spinneret.h. Those that take an MPI_Comm or an MPI_Datatype take what spinneret_comm() and
 * spinneret_type() make of it.
 */";

/// The part that needs the user's own `mpi.h`: handles are numbers in some MPIs and pointers in others, and
/// `MPI_ANY_SOURCE` of one is `MPI_PROC_NULL` of another.
const HANDLES: &str = "
/* Other names of MPI_ANY_SOURCE and MPI_ANY_TAG. */
#define SPINNERET_ANY_SOURCE MPI_ANY_SOURCE
#define SPINNERET_ANY_TAG MPI_ANY_TAG

/* A communicator, as the calls below take it. */
static inline uint64_t spinneret_comm(MPI_Comm comm) {
    uint64_t bytes = 0;
    memcpy(&bytes, &comm, sizeof comm);
    return bytes;
}

/* A datatype, as the calls below take it. */
static inline uint64_t spinneret_type(MPI_Datatype type) {
    uint64_t bytes = 0;
    memcpy(&bytes, &type, sizeof type);
    return bytes;
}
";

/// Elements of a message that is shorter than its receive are counted by MPI itself.
const STATUS: &str = "
/* Result of a request, for MPI_Get_count and MPI_Get_elements with its type, as MPI_Wait would store it. */
static inline int spinneret_status_of_mpi(const spinneret_status *ended, MPI_Status *status) {
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = ended->source;
    status->MPI_TAG = ended->tag;
    status->MPI_ERROR = MPI_SUCCESS;
    int code = MPI_Status_set_cancelled(status, 0);
    return code != MPI_SUCCESS ? code : MPI_Status_set_elements(status, MPI_BYTE, (int)ended->bytes);
}
";

const HEADER: Header = Header {
    folder: env!("CARGO_MANIFEST_DIR"),
    path: "../include/spinneret_rank.h",
    sources: &["rank", "requests"],
    introduction: INTRODUCTION,
    guard: "SPINNERET_RANK_H",
    includes: [&["mpi.h", "stddef.h", "stdint.h", "string.h"], &["spinneret.h"]],
    prelude: HANDLES,
    epilogue: STATUS,
    update: "SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-mpi-c --test rank_header",
};

#[test]
fn the_header_is_up_to_date() {
    HEADER.check();
}

#[test]
fn no_call_is_left_out() {
    HEADER.check_calls();
}

#[test]
fn the_header_compiles_as_c_and_cpp_with_both_mpis() {
    let structures = [
        ("spinneret_status", size_of::<spinneret_status>()),
        ("spinneret_rank_options", size_of::<spinneret_rank_options>()),
        ("spinneret_rank_counts", size_of::<spinneret_rank_counts>()),
    ];
    let main = "return spinneret_type(MPI_INT) == spinneret_comm(MPI_COMM_WORLD);";
    let c: &[&str] = &["-std=c11"];
    // The old bindings for C++ of both MPIs have warnings of their own.
    let cpp: &[&str] = &[
        "-std=c++11",
        "-x",
        "c++",
        "-DOMPI_SKIP_MPICXX",
        "-DMPICH_SKIP_MPICXX",
    ];
    let compilers = [
        ("mpicc.openmpi", c),
        ("mpicc.mpich", c),
        ("mpicxx.openmpi", cpp),
        ("mpicxx.mpich", cpp),
    ];
    HEADER.compile(&structures, main, &["../../host/include"], &compilers);
}
