/* Datatypes: names, constructors, bounds, contents, packing. */
#include "spinneret_mpi.h"
#include <limits.h>
#include <stdio.h>

/* A call of MPI 4, for counts that do not fit into an int, or a refusal. */
#if MPI_VERSION >= 4
#define LARGE(call) (call)
_Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "a count has 64 bits");
#define COUNTS(array) ((const MPI_Count *)(array))
#else
#define LARGE(call) MPI_ERR_COUNT
#endif
_Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "an address has 64 bits");
#define ADDRESSES(array) ((const MPI_Aint *)(array))

struct name {
    const char *name;
    MPI_Datatype type;
};

/* The name, or the handle, of a type that MPI brings; a null handle if this MPI has no such type. */
static struct name find(const char *name, MPI_Datatype type) {
#define NAME(type) {#type, type}
    const struct name names[] = {
        NAME(MPI_BYTE), NAME(MPI_PACKED), NAME(MPI_CHAR), NAME(MPI_SIGNED_CHAR), NAME(MPI_UNSIGNED_CHAR),
        NAME(MPI_WCHAR), NAME(MPI_SHORT), NAME(MPI_UNSIGNED_SHORT), NAME(MPI_INT), NAME(MPI_UNSIGNED),
        NAME(MPI_LONG), NAME(MPI_UNSIGNED_LONG), NAME(MPI_LONG_LONG), NAME(MPI_UNSIGNED_LONG_LONG),
        NAME(MPI_FLOAT), NAME(MPI_DOUBLE), NAME(MPI_LONG_DOUBLE), NAME(MPI_C_BOOL),
        NAME(MPI_INT8_T), NAME(MPI_INT16_T), NAME(MPI_INT32_T), NAME(MPI_INT64_T),
        NAME(MPI_UINT8_T), NAME(MPI_UINT16_T), NAME(MPI_UINT32_T), NAME(MPI_UINT64_T),
        NAME(MPI_AINT), NAME(MPI_OFFSET), NAME(MPI_COUNT),
        NAME(MPI_C_FLOAT_COMPLEX), NAME(MPI_C_DOUBLE_COMPLEX), NAME(MPI_C_LONG_DOUBLE_COMPLEX),
        NAME(MPI_FLOAT_INT), NAME(MPI_DOUBLE_INT), NAME(MPI_LONG_INT), NAME(MPI_SHORT_INT), NAME(MPI_2INT),
        NAME(MPI_LONG_DOUBLE_INT),
        NAME(MPI_CHARACTER), NAME(MPI_LOGICAL), NAME(MPI_INTEGER), NAME(MPI_REAL), NAME(MPI_DOUBLE_PRECISION),
        NAME(MPI_COMPLEX), NAME(MPI_DOUBLE_COMPLEX),
        NAME(MPI_2REAL), NAME(MPI_2DOUBLE_PRECISION), NAME(MPI_2INTEGER),
    };
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++)
        if (name ? strcmp(names[index].name, name) == 0 : names[index].type == type)
            return names[index];
    return (struct name){NULL, MPI_DATATYPE_NULL};
}

int32_t spinneret_mpi_named(const uint8_t *name, uint64_t *type) {
    MPI_Datatype found = find((const char *)name, MPI_DATATYPE_NULL).type;
    *type = type_bits(found);
    return found == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

int32_t spinneret_mpi_type_name(uint64_t type, uint8_t *text, int32_t capacity) {
    char own[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0, code = MPI_SUCCESS;
    /* The table comes first: a program can give types other names. */
    const char *name = find(NULL, type_of(type)).name;
    if (!name)
        code = MPI_Type_get_name(type_of(type), own, &length);
    snprintf((char *)text, (size_t)capacity, "%s", name ? name : own);
    return code;
}

static int fits(int64_t number) { return number >= INT_MIN && number <= INT_MAX; }

/* The same numbers as ints, to be freed; nothing if one does not fit. */
static int *narrow(int64_t count, const int64_t *numbers) {
    int *ints = fits(count) ? malloc(((size_t)count + 1) * sizeof *ints) : NULL;
    for (int64_t index = 0; ints && index < count; index++) {
        if (!fits(numbers[index])) {
            free(ints);
            return NULL;
        }
        ints[index] = (int)numbers[index];
    }
    return ints;
}

static int order_of(int64_t number) { return number == 1 ? MPI_ORDER_FORTRAN : MPI_ORDER_C; }

static int make_struct(int64_t count, const int *lengths, const int64_t *numbers, const int64_t *bytes,
                       const uint64_t *children, MPI_Datatype *made) {
    MPI_Datatype *of = malloc(((size_t)count + 1) * sizeof *of);
    int code = MPI_ERR_NO_MEM;
    for (int64_t index = 0; of && index < count; index++)
        of[index] = type_of(children[index]);
    if (of)
        code = lengths ? MPI_Type_create_struct((int)count, lengths, ADDRESSES(bytes), of, made)
                       : LARGE(MPI_Type_create_struct_c(count, COUNTS(numbers + 1), COUNTS(bytes), of, made));
    free(of);
    return code;
}

/* Replaces our numbers of distributions by those of this MPI. */
static int make_darray(int *ints, MPI_Datatype of, MPI_Datatype *made) {
    const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int dimensions = ints[2];
    int *sizes = ints + 3, *kind = sizes + dimensions, *argument = kind + dimensions, *grid = argument + dimensions;
    for (int index = 0; index < dimensions; index++) {
        kind[index] = kinds[kind[index]];
        if (argument[index] < 0)
            argument[index] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    return MPI_Type_create_darray(ints[0], ints[1], dimensions, sizes, kind, argument, grid, order_of(grid[dimensions]),
                                  of, made);
}

int32_t spinneret_mpi_make(int32_t combiner, int32_t length, const int64_t *numbers, const int64_t *bytes,
                           const uint64_t *children, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(children[0]);
    const int64_t count = length > 0 ? numbers[0] : 0;
    int code = MPI_ERR_ARG, *ints = narrow(length, numbers);
    switch (combiner) {
    case SPINNERET_DUP: code = MPI_Type_dup(of, &made); break;
    case SPINNERET_CONTIGUOUS:
        code = ints ? MPI_Type_contiguous(ints[0], of, &made) : LARGE(MPI_Type_contiguous_c(count, of, &made));
        break;
    case SPINNERET_VECTOR:
        code = ints ? MPI_Type_vector(ints[0], ints[1], ints[2], of, &made)
                    : LARGE(MPI_Type_vector_c(count, numbers[1], numbers[2], of, &made));
        break;
    case SPINNERET_HVECTOR:
        code = ints ? MPI_Type_create_hvector(ints[0], ints[1], bytes[0], of, &made)
                    : LARGE(MPI_Type_create_hvector_c(count, numbers[1], bytes[0], of, &made));
        break;
    case SPINNERET_INDEXED:
        code = ints ? MPI_Type_indexed(ints[0], ints + 1, ints + 1 + count, of, &made)
                    : LARGE(MPI_Type_indexed_c(count, COUNTS(numbers + 1), COUNTS(numbers + 1 + count), of, &made));
        break;
    case SPINNERET_HINDEXED:
        code = ints ? MPI_Type_create_hindexed(ints[0], ints + 1, ADDRESSES(bytes), of, &made)
                    : LARGE(MPI_Type_create_hindexed_c(count, COUNTS(numbers + 1), COUNTS(bytes), of, &made));
        break;
    case SPINNERET_INDEXED_BLOCK:
        code = ints ? MPI_Type_create_indexed_block(ints[0], ints[1], ints + 2, of, &made)
                    : LARGE(MPI_Type_create_indexed_block_c(count, numbers[1], COUNTS(numbers + 2), of, &made));
        break;
    case SPINNERET_HINDEXED_BLOCK:
        code = ints ? MPI_Type_create_hindexed_block(ints[0], ints[1], ADDRESSES(bytes), of, &made)
                    : LARGE(MPI_Type_create_hindexed_block_c(count, numbers[1], COUNTS(bytes), of, &made));
        break;
    case SPINNERET_STRUCT: code = make_struct(count, ints ? ints + 1 : NULL, numbers, bytes, children, &made); break;
    case SPINNERET_SUBARRAY:
        code = ints ? MPI_Type_create_subarray(ints[0], ints + 1, ints + 1 + count, ints + 1 + 2 * count,
                                               order_of(numbers[length - 1]), of, &made)
                    : LARGE(MPI_Type_create_subarray_c((int)count, COUNTS(numbers + 1), COUNTS(numbers + 1 + count),
                                                       COUNTS(numbers + 1 + 2 * count), order_of(numbers[length - 1]),
                                                       of, &made));
        break;
    case SPINNERET_DARRAY: code = ints ? make_darray(ints, of, &made) : MPI_ERR_COUNT; break;
    case SPINNERET_RESIZED: code = MPI_Type_create_resized(of, bytes[0], bytes[1], &made); break;
    }
    free(ints);
    *type = type_bits(made);
    return code;
}

int32_t spinneret_mpi_commit(uint64_t type) {
    MPI_Datatype handle = type_of(type);
    return MPI_Type_commit(&handle);
}

int32_t spinneret_mpi_type_free(uint64_t type) {
    MPI_Datatype handle = type_of(type);
    return MPI_Type_free(&handle);
}

int32_t spinneret_mpi_bounds(uint64_t type, int64_t *five) {
    MPI_Datatype handle = type_of(type);
    MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    int code = MPI_Type_size_x(handle, &size);
    if (code == MPI_SUCCESS)
        code = MPI_Type_get_extent_x(handle, &lower, &extent);
    if (code == MPI_SUCCESS)
        code = MPI_Type_get_true_extent_x(handle, &true_lower, &true_extent);
    const int64_t found[] = {size, lower, extent, true_lower, true_extent};
    memcpy(five, found, sizeof found);
    return code;
}

/* Our number of a combiner: its place in the enumeration of src/tree.rs. */
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

/* Our numbers in place of this MPI's. With large counts, sizes are not among the integers. */
static void translate(int32_t combiner, const int64_t *four, int64_t *integers) {
    if ((combiner != SPINNERET_SUBARRAY && combiner != SPINNERET_DARRAY) || four[0] < 1)
        return;
    int64_t *order = &integers[four[0] - 1];
    *order = *order == MPI_ORDER_FORTRAN;
    if (combiner != SPINNERET_DARRAY || four[0] < 4)
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

int32_t spinneret_mpi_pack(uint64_t type, const uint8_t *memory, int32_t count, uint8_t *packed, int32_t size,
                           int32_t *position) {
    return MPI_Pack(memory, count, type_of(type), packed, size, position, MPI_COMM_SELF);
}

int32_t spinneret_mpi_unpack(uint64_t type, const uint8_t *packed, int32_t size, int32_t *position, uint8_t *memory,
                             int32_t count) {
    return MPI_Unpack(packed, size, position, memory, count, type_of(type), MPI_COMM_SELF);
}
