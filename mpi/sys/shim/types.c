/* Datatypes: names, constructors, bounds. */
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

static int32_t give(int code, MPI_Datatype made, uint64_t *type) {
    *type = type_bits(made);
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

int32_t spinneret_mpi_contiguous(int64_t count, uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int code = fits(count) ? MPI_Type_contiguous((int)count, of, &made) : LARGE(MPI_Type_contiguous_c(count, of, &made));
    return give(code, made, type);
}

int32_t spinneret_mpi_vector(int64_t count, int64_t block, int64_t stride, uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int code = fits(count) && fits(block) && fits(stride)
                   ? MPI_Type_vector((int)count, (int)block, (int)stride, of, &made)
                   : LARGE(MPI_Type_vector_c(count, block, stride, of, &made));
    return give(code, made, type);
}

int32_t spinneret_mpi_hvector(int64_t count, int64_t block, int64_t stride, uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int code = fits(count) && fits(block) ? MPI_Type_create_hvector((int)count, (int)block, stride, of, &made)
                                          : LARGE(MPI_Type_create_hvector_c(count, block, stride, of, &made));
    return give(code, made, type);
}

int32_t spinneret_mpi_indexed(int64_t count, const int64_t *blocks, const int64_t *starts, uint64_t child,
                              uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int *lengths = narrow(count, blocks), *places = narrow(count, starts);
    int code = lengths && places ? MPI_Type_indexed((int)count, lengths, places, of, &made)
                                 : LARGE(MPI_Type_indexed_c(count, COUNTS(blocks), COUNTS(starts), of, &made));
    free(lengths);
    free(places);
    return give(code, made, type);
}

int32_t spinneret_mpi_hindexed(int64_t count, const int64_t *blocks, const int64_t *starts, uint64_t child,
                               uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int *lengths = narrow(count, blocks);
    int code = lengths ? MPI_Type_create_hindexed((int)count, lengths, ADDRESSES(starts), of, &made)
                       : LARGE(MPI_Type_create_hindexed_c(count, COUNTS(blocks), COUNTS(starts), of, &made));
    free(lengths);
    return give(code, made, type);
}

int32_t spinneret_mpi_indexed_block(int64_t count, int64_t block, const int64_t *starts, uint64_t child,
                                    uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int *places = fits(block) ? narrow(count, starts) : NULL;
    int code = places ? MPI_Type_create_indexed_block((int)count, (int)block, places, of, &made)
                      : LARGE(MPI_Type_create_indexed_block_c(count, block, COUNTS(starts), of, &made));
    free(places);
    return give(code, made, type);
}

int32_t spinneret_mpi_hindexed_block(int64_t count, int64_t block, const int64_t *starts, uint64_t child,
                                     uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int code = fits(count) && fits(block)
                   ? MPI_Type_create_hindexed_block((int)count, (int)block, ADDRESSES(starts), of, &made)
                   : LARGE(MPI_Type_create_hindexed_block_c(count, block, COUNTS(starts), of, &made));
    return give(code, made, type);
}

int32_t spinneret_mpi_structure(int64_t count, const int64_t *blocks, const int64_t *starts, const uint64_t *children,
                                uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Datatype *of = malloc(((size_t)count + 1) * sizeof *of);
    int *lengths = narrow(count, blocks);
    int code = MPI_ERR_NO_MEM;
    for (int64_t index = 0; of && index < count; index++)
        of[index] = type_of(children[index]);
    if (of && lengths)
        code = MPI_Type_create_struct((int)count, lengths, ADDRESSES(starts), of, &made);
    else if (of)
        code = LARGE(MPI_Type_create_struct_c(count, COUNTS(blocks), COUNTS(starts), of, &made));
    free(of);
    free(lengths);
    return give(code, made, type);
}

int32_t spinneret_mpi_subarray(int32_t dimensions, const int64_t *sizes, const int64_t *subsizes,
                               const int64_t *starts, int32_t is_fortran, uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int order = is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    int *whole = narrow(dimensions, sizes), *part = narrow(dimensions, subsizes), *places = narrow(dimensions, starts);
    int code = whole && part && places
                   ? MPI_Type_create_subarray(dimensions, whole, part, places, order, of, &made)
                   : LARGE(MPI_Type_create_subarray_c(dimensions, COUNTS(sizes), COUNTS(subsizes), COUNTS(starts), order,
                                                      of, &made));
    free(whole);
    free(part);
    free(places);
    return give(code, made, type);
}

int32_t spinneret_mpi_darray(int32_t size, int32_t rank, int32_t dimensions, const int64_t *sizes,
                             const int32_t *distributions, const int32_t *arguments, const int32_t *grid,
                             int32_t is_fortran, uint64_t child, uint64_t *type) {
    const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    MPI_Datatype made = MPI_DATATYPE_NULL, of = type_of(child);
    int order = is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, code = MPI_ERR_NO_MEM;
    int *whole = narrow(dimensions, sizes);
    int *kind = malloc(((size_t)dimensions + 1) * sizeof *kind), *own = malloc(((size_t)dimensions + 1) * sizeof *own);
    if (kind && own) {
        for (int32_t index = 0; index < dimensions; index++) {
            kind[index] = kinds[distributions[index]];
            own[index] = arguments[index] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : arguments[index];
        }
        code = whole ? MPI_Type_create_darray(size, rank, dimensions, whole, kind, own, grid, order, of, &made)
                     : LARGE(MPI_Type_create_darray_c(size, rank, dimensions, COUNTS(sizes), kind, own, grid, order, of,
                                                      &made));
    }
    free(whole);
    free(kind);
    free(own);
    return give(code, made, type);
}

int32_t spinneret_mpi_resized(int64_t lower_bound, int64_t extent, uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int code = MPI_Type_create_resized(type_of(child), lower_bound, extent, &made);
    return give(code, made, type);
}

int32_t spinneret_mpi_type_dup(uint64_t child, uint64_t *type) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int code = MPI_Type_dup(type_of(child), &made);
    return give(code, made, type);
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
