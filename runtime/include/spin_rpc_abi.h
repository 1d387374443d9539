/*
 * Numbers and layouts of calls to the host.
 *
 * Generated from the tables of the crate spinneret-rpc: change those, then run `./dev docs`.
 */
#ifndef SPIN_RPC_ABI_H
#define SPIN_RPC_ABI_H

#include <stdint.h>

#include "spin_conf.h"

#define SPIN_RPC_MAILBOX_BYTES 4
#define SPIN_RPC_HEADER_BYTES 16
#define SPIN_RPC_PACKET_BYTES 64
#define SPIN_RPC_DOORBELL_BYTES 64
#define SPIN_RPC_WORDS 8
#define SPIN_RPC_FIRST_BYTES 56
#define SPIN_RPC_CONTEXTS 4
#define SPIN_RPC_PORTS_PER_HPU 2
#define SPIN_RPC_COPY_INBOX 1
#define SPIN_RPC_COPY_HAS_VALUE 2
#define SPIN_RPC_COPY_SHIFT 2
#define SPIN_RPC_WORDS_COPIED 1
#define SPIN_RPC_BITS_COPIED 2
#define SPIN_RPC_BITS_HPUS 8
#define SPIN_RPC_BITS_SHIFT 16
#define SPIN_RPC_VERSION_22 0x52504316u
#define SPIN_RPC_VERSION_23 0x52504317u
#define SPIN_RPC_PORTS (SPIN_RPC_PORTS_PER_HPU * CORE_COUNT)

/* The host's settings of a context, in L2. */
struct spin_rpc_place {
    uint32_t version; /* SPIN_RPC_VERSION_22 or SPIN_RPC_VERSION_23 */
    uint32_t offset; /* where the buffer begins in host memory */
    uint32_t ports; /* ports of all HPUs */
    uint32_t lanes; /* always 1 */
    uint32_t session; /* another one each time that services are opened; 0 while they are closed */
    uint32_t host_low; /* the context's host memory, by which handlers find their place */
    uint32_t host_high; /* upper half of its address */
    uint32_t hpus; /* from an HPU's port to its next one */
    uint32_t copies; /* how `inbox` is written: SPIN_RPC_WORDS_COPIED, SPIN_RPC_BITS_COPIED, or 0 if it is not */
    uint32_t sessions; /* the last session that there was */
    uint32_t bulk; /* host memory for data too long for packets, that of port 0 */
    uint32_t bulk_bytes; /* bytes of each port's part of them */
    uint32_t reserved[4];
    uint32_t inbox[SPIN_RPC_PORTS]; /* the inboxes: by words SPIN_RPC_COPY_..., or by bits */
};

/* Calls: the top byte is the class. */
#define SPIN_RPC_NOOP 0x63000000u /* Nothing, without an answer. */
#define SPIN_RPC_EXIT 0x63000001u /* Ends the client. */
#define SPIN_RPC_WRITE_TO_STDOUT 0x63000002u /* Bytes to standard output. */
#define SPIN_RPC_WRITE_TO_STDERR 0x63000003u /* Bytes to standard error. */
#define SPIN_RPC_WRITE_TO_STREAM 0x63000004u /* Bytes to a stream. */
#define SPIN_RPC_WRITE_TO_STDOUT_NEWLINE 0x63000005u /* Bytes and a newline to standard output, `puts`. */
#define SPIN_RPC_READ_FROM_STREAM 0x63000006u /* `fread` and `fgetc`. */
#define SPIN_RPC_READ_FGETS 0x63000007u /* `fgets`. */
#define SPIN_RPC_OPEN_FILE 0x63000008u /* `fopen`. */
#define SPIN_RPC_CLOSE_FILE 0x63000009u /* `fclose`. */
#define SPIN_RPC_MALLOC 0x6300000au /* Memory for the device's heap. */
#define SPIN_RPC_FREE 0x6300000bu /* Gives it back, without an answer. */
#define SPIN_RPC_HOST_CALL 0x6300000cu /* A function of the host by its number. */
#define SPIN_RPC_ABORT 0x6300000du /* Ends the client abnormally. */
#define SPIN_RPC_FEOF 0x6300000eu /* `feof`. */
#define SPIN_RPC_FERROR 0x6300000fu /* `ferror`. */
#define SPIN_RPC_CLEARERR 0x63000010u /* `clearerr`. */
#define SPIN_RPC_FSEEK 0x63000011u /* `fseek`. */
#define SPIN_RPC_FTELL 0x63000012u /* `ftell`. */
#define SPIN_RPC_FFLUSH 0x63000013u /* `fflush`. */
#define SPIN_RPC_UNGETC 0x63000014u /* `ungetc`. */
#define SPIN_RPC_PRINTF_TO_STDOUT 0x63000015u /* `printf`, arguments at multiples of their sizes. */
#define SPIN_RPC_PRINTF_TO_STDERR 0x63000016u /* `printf` to standard error, aligned. */
#define SPIN_RPC_PRINTF_TO_STREAM 0x63000017u /* `fprintf`, aligned. */
#define SPIN_RPC_PRINTF_TO_STDOUT_PACKED 0x63000018u /* `printf`, arguments packed without padding. */
#define SPIN_RPC_PRINTF_TO_STDERR_PACKED 0x63000019u /* `printf` to standard error, packed. */
#define SPIN_RPC_PRINTF_TO_STREAM_PACKED 0x6300001au /* `fprintf`, packed. */
#define SPIN_RPC_REMOVE 0x6300001bu /* `remove`. */
#define SPIN_RPC_RENAME 0x6300001cu /* `rename`. */
#define SPIN_RPC_SYSTEM 0x6300001du /* `system`. */
#define SPIN_RPC_TEST_INCREMENT 0x63008000u /* Adds 1 to a word. */
#define SPIN_RPC_TEST_INTERFACE 0x63008001u /* Sends and receives in every order. */
#define SPIN_RPC_TEST_STREAM 0x63008002u /* Sends a stream back. */
#define SPIN_RPC_PRINT 0x73010001u /* Text of `printf` with everything that it takes in one stream. */
#define SPIN_RPC_EMISSARY_CALL 0x65000001u /* A function of an Emissary API. */
#define SPIN_RPC_EMISSARY_CALL_WITH_DATA 0x65000002u /* The same with transfers of memory. */

/* Emissary APIs: their numbers, and keys of arguments (emissary.h). */
#define EMIS_ID_FORTRT 0x1u
#define EMIS_ID_PRINT 0x2u
#define EMIS_ID_MPI 0x3u
#define EMIS_ID_HDF5 0x4u
#define EMIS_ID_RESERVE 0x5u
#define EMIS_KEY_DOUBLE 0x10040u
#define EMIS_KEY_INTEGER_32 0x20020u
#define EMIS_KEY_INTEGER_64 0x20040u
#define EMIS_KEY_POINTER 0x30000u
#define EMIS_KEY_STRING 0x30001u
#define EMIS_MOST_ARGUMENTS 0x20u

/* Outcome of a typed call, in the lowest byte of its status. */
#define SPIN_SERVICE_DONE 0u /* It is done. */
#define SPIN_SERVICE_NOBODY 1u /* The host has no such function. A request begins with this, because it returns unchanged if no service takes it. */
#define SPIN_SERVICE_GONE 2u /* The host offers nothing, or not any more. */
#define SPIN_SERVICE_DROPPED 3u /* The answer of a ticket is lost, because its port was needed for another call. */
#define SPIN_SERVICE_ROOM 4u /* Data are longer than what packet and host memory have room for. */
#define SPIN_SERVICE_OFF 5u /* The function is off. */
#define SPIN_SERVICE_LENGTH 6u /* A length is not what the parameters say, or no length. */
#define SPIN_SERVICE_OUTSIDE 7u /* Data are outside of the port's part of host memory. */
#define SPIN_SERVICE_VALUE 8u /* A value that its type does not have. */
#define SPIN_SERVICE_TEXT 9u /* A string that is too long, has no NUL at its end, or is no UTF-8. */
#define SPIN_SERVICE_HANDLE 10u /* A handle of another kind, or of what is not there any more. */
#define SPIN_SERVICE_FAILED 11u /* The host's function has refused, and may have given a number. */

/* The address that means data in the packet, and how many bytes fit. */
#define SPIN_SLICE_INLINE 0xffffffffu
#define SPIN_SLICE_INLINE_BYTES 48

/* A handle that is always there. */
#define SPIN_SERVICE_PREDEFINED(kind, index) ((uint32_t)(kind) << 10 | (uint32_t)(index) << 2)

#endif
