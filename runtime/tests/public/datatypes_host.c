/*
 * The host's part of the public example `datatypes`. It compiles with that example's own host code, typebuilder and MPITypes
 * from a checkout of FPsPIN (see `datatypes` next to it), and with MPICH, whose datatypes are numbers of 32 bits.
 *
 *     datatypes_host image FILE ADDRESS BYTES COUNT STEP...
 *     datatypes_host message STREAM UNPACKED SEED COUNT STEP...
 *
 * `image` writes the description of COUNT elements of a type, for handler memory of BYTES bytes at ADDRESS on the NIC.
 * `message` writes a message of these elements, and memory full of FILL after MPI_Unpack of that message. Steps construct the
 * type from MPI_FLOAT, the innermost first: contiguous:COUNT, vector:COUNT:BLOCK:STRIDE, hvector:COUNT:BLOCK:BYTES.
 */
#include "../include/datatypes_host.h"
#include "mpitypes.h"
#include "typebuilder/ddt_io_write.h"

#define FILL 0x5a

static void fail(const char *what, const char *name) {
    fprintf(stderr, "datatypes_host: %s %s\n", what, name);
    exit(2);
}

static long number(const char *text) {
    char *end;
    long value = strtol(text, &end, 0);
    if (*text == 0 || *end != 0)
        fail("not a number:", text);
    return value;
}

static MPI_Datatype type_of(char **steps) {
    MPI_Datatype type = MPI_FLOAT;
    for (; *steps; steps++) {
        int count, block, used = 0;
        long stride;
        MPI_Datatype inner = type;
        if (sscanf(*steps, "contiguous:%d%n", &count, &used) == 1 && (*steps)[used] == 0)
            MPI_Type_contiguous(count, inner, &type);
        else if (sscanf(*steps, "vector:%d:%d:%ld%n", &count, &block, &stride, &used) == 3 && (*steps)[used] == 0)
            MPI_Type_vector(count, block, (int)stride, inner, &type);
        else if (sscanf(*steps, "hvector:%d:%d:%ld%n", &count, &block, &stride, &used) == 3 && (*steps)[used] == 0)
            MPI_Type_create_hvector(count, block, stride, inner, &type);
        else
            fail("not a step of a type:", *steps);
        if (inner != MPI_FLOAT)
            MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail("cannot write", path);
}

/* The steps of the public typebuilder, then those of the public host program. */
static void image(const char *path, struct mem_area memory, int count, MPI_Datatype type) {
    FILE *description = fopen(path, "wb");
    if (!description)
        fail("cannot write", path);
    MPIT_Type_init(type);
    MPIT_Segment *segment = MPIT_Segment_alloc();
    if (MPIT_Segment_init(NULL, count, type, segment, 0) != MPI_SUCCESS)
        fail("MPITypes refuses the type of", path);
    write_spin_datatype(type, segment, count, description);
    fclose(description);
    void *bytes = NULL;
    size_t size = 0;
    uint32_t elements, userbuf, streambuf;
    prepare_ddt_nicmem(path, memory, &bytes, &size, &elements, &userbuf, &streambuf);
    if (!bytes || size > memory.size)
        fail("handler memory is too small for", path);
    write_file(path, bytes, size);
}

static void message(const char *stream, const char *unpacked, uint32_t seed, int count, MPI_Datatype type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    int packed, position = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Pack_size(count, type, MPI_COMM_SELF, &packed);
    size_t size = true_lower + MAX(extent, true_extent) * count;
    uint8_t *from = malloc(size), *bytes = malloc(packed);
    for (size_t at = 0; at < size; at++)
        from[at] = (uint8_t)((at + 0x9e3779b9u * (seed + 1)) * 0x85ebca6bu >> 24);
    MPI_Pack(from, count, type, bytes, packed, &position, MPI_COMM_SELF);
    write_file(stream, bytes, position);
    packed = position;
    position = 0;
    memset(from, FILL, size);
    MPI_Unpack(bytes, packed, &position, from, count, type, MPI_COMM_SELF);
    write_file(unpacked, from, size);
}

int main(int argc, char **argv) {
    if (argc < 7 || (strcmp(argv[1], "image") && strcmp(argv[1], "message")))
        fail("usage: image FILE ADDRESS BYTES COUNT STEP..., or", "message STREAM UNPACKED SEED COUNT STEP...");
    MPI_Init(NULL, NULL);
    int count = (int)number(argv[5]);
    MPI_Datatype type = type_of(argv + 6);
    if (!strcmp(argv[1], "image")) {
        struct mem_area memory = {.addr = (fpspin_addr_t)number(argv[3]), .size = (uint32_t)number(argv[4])};
        image(argv[2], memory, count, type);
    } else {
        message(argv[2], argv[3], (uint32_t)number(argv[4]), count, type);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
