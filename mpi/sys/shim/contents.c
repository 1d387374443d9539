/* How a datatype was made, and bytes in its order. */
#include "spinneret_mpi.h"

/* Our number of a combiner: its place in the enumeration of src/types/tree.rs. */
static int32_t number_of(int combiner) {
    const int combiners[] = {
        MPI_COMBINER_NAMED,         MPI_COMBINER_DUP,         MPI_COMBINER_CONTIGUOUS,    MPI_COMBINER_VECTOR,
        MPI_COMBINER_HVECTOR,       MPI_COMBINER_INDEXED,     MPI_COMBINER_HINDEXED,      MPI_COMBINER_INDEXED_BLOCK,
        MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT,     MPI_COMBINER_SUBARRAY,      MPI_COMBINER_DARRAY,
        MPI_COMBINER_RESIZED,       MPI_COMBINER_F90_REAL,    MPI_COMBINER_F90_COMPLEX,   MPI_COMBINER_F90_INTEGER,
    };
    for (size_t index = 0; index < sizeof combiners / sizeof combiners[0]; index++)
        if (combiners[index] == combiner)
            return (int32_t)index;
    return -1;
}

enum { SUBARRAY = 10, DARRAY = 11 };

int32_t spinneret_mpi_envelope(uint64_t type, int32_t *combiner, int64_t *four) {
    int own = -1;
    /* With the errors of a program whose handler was not set, MPI itself would end it. */
    if (type_of(type) == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
#if MPI_VERSION >= 4
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    int code = MPI_Type_get_envelope_c(type_of(type), &integers, &addresses, &counts, &types, &own);
#else
    int integers = 0, addresses = 0, counts = 0, types = 0;
    int code = MPI_Type_get_envelope(type_of(type), &integers, &addresses, &types, &own);
#endif
    const int64_t found[] = {integers, addresses, counts, types};
    memcpy(four, found, sizeof found);
    *combiner = number_of(own);
    return code;
}

/* Numbers of ours in place of this MPI's. With large counts, sizes are not among the integers. */
static void translate(int32_t combiner, const int64_t *four, int64_t *integers) {
    if ((combiner != SUBARRAY && combiner != DARRAY) || four[0] < 1)
        return;
    int64_t *order = &integers[four[0] - 1];
    *order = *order == MPI_ORDER_FORTRAN;
    if (combiner != DARRAY || four[0] < 4)
        return;
    const int64_t dimensions = integers[2], first = four[2] > 0 ? 3 : 3 + dimensions;
    for (int64_t index = first; index < first + dimensions && index + dimensions < four[0]; index++) {
        int64_t *kind = &integers[index], *argument = &integers[index + dimensions];
        *kind = *kind == MPI_DISTRIBUTE_BLOCK    ? SPINNERET_BLOCK
                : *kind == MPI_DISTRIBUTE_CYCLIC ? SPINNERET_CYCLIC
                                                 : SPINNERET_NONE;
        if (*argument == MPI_DISTRIBUTE_DFLT_DARG)
            *argument = -1;
    }
}

/* The numbers are those of the envelope: Open MPI 4.1 crashes if there is more room. */
int32_t spinneret_mpi_contents(uint64_t type, int32_t combiner, const int64_t *four, int64_t *integers,
                               int64_t *addresses, int64_t *counts, uint64_t *types) {
    int *ints = malloc(((size_t)four[0] + 1) * sizeof *ints);
    MPI_Aint *aints = malloc(((size_t)four[1] + 1) * sizeof *aints);
    MPI_Datatype *handles = malloc(((size_t)four[3] + 1) * sizeof *handles);
    int code = MPI_ERR_NO_MEM;
    if (ints && aints && handles) {
#if MPI_VERSION >= 4
        code = MPI_Type_get_contents_c(type_of(type), four[0], four[1], four[2], four[3], ints, aints,
                                       (MPI_Count *)counts, handles);
#else
        (void)counts;
        code = MPI_Type_get_contents(type_of(type), (int)four[0], (int)four[1], (int)four[3], ints, aints, handles);
#endif
    }
    if (code == MPI_SUCCESS) {
        for (int64_t index = 0; index < four[0]; index++)
            integers[index] = ints[index];
        for (int64_t index = 0; index < four[1]; index++)
            addresses[index] = aints[index];
        for (int64_t index = 0; index < four[3]; index++)
            types[index] = type_bits(handles[index]);
        translate(combiner, four, integers);
    }
    free(ints);
    free(aints);
    free(handles);
    return code;
}

int32_t spinneret_mpi_pack_size(uint64_t type, int32_t count, int32_t *bytes) {
    return MPI_Pack_size(count, type_of(type), MPI_COMM_SELF, bytes);
}

int32_t spinneret_mpi_pack(uint64_t type, const uint8_t *memory, int32_t count, uint8_t *packed, int32_t size,
                           int32_t *position) {
    return MPI_Pack(memory, count, type_of(type), packed, size, position, MPI_COMM_SELF);
}

int32_t spinneret_mpi_unpack(uint64_t type, const uint8_t *packed, int32_t size, int32_t *position, uint8_t *memory,
                             int32_t count) {
    return MPI_Unpack(packed, size, position, memory, count, type_of(type), MPI_COMM_SELF);
}
