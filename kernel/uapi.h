/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Interface between programs and the driver spinneret; docs/host/driver.md describes it.
 *
 * The three calls of the public driver, mqnic_app_pspin, are numbers and layouts of that driver:
 * its magic number is wider than the eight bits that such numbers have, and reaches into those of
 * the size.
 */
#ifndef SPINNERET_UAPI_H
#define SPINNERET_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Host memory of a context: asked for by its number in `address`; the lowest byte of `is_there` is
 * 1 if there is some.
 */
struct spinneret_area {
	__u64 address;
	__u64 bytes;
	__u64 is_there;
};

/*
 * Eight bytes of the cluster's memory, at a multiple of 4, the lower half accessed first. A read
 * returns them in `address`.
 */
struct spinneret_word {
	__u64 address;
	__u64 data;
	__u64 unused;
};

#define SPINNERET_QUERY 0xc9591001u
#define SPINNERET_WRITE_WORD 0x49591002u
#define SPINNERET_READ_WORD 0x89591003u

/* A control register, by its offset in their window. */
struct spinneret_register {
	__u32 offset;
	__u32 value;
};

/* Features of the card. */
struct spinneret_info {
	__u32 contexts;
	/* Lines of events; line n is bit n of `events.pending`. */
	__u32 lines;
	/* Bits SPINNERET_HAS_... */
	__u32 features;
	__u32 unused;
};

/* The registers of spinneret are there, not only those of the public design. */
#define SPINNERET_HAS_EXTENSIONS 1u
/*
 * Events are interrupts; without, poll() returns after a few milliseconds, and programs have to
 * look.
 */
#define SPINNERET_HAS_INTERRUPTS 2u

/*
 * Bits of lines: those that poll() waits for from now on, and, as an answer, those that had an
 * event since the last call.
 */
struct spinneret_events {
	__u32 lines;
};

#define SPINNERET_MAGIC_NUMBER 0xb5
#define SPINNERET_GET_INFO _IOR(SPINNERET_MAGIC_NUMBER, 1, struct spinneret_info)
#define SPINNERET_READ_REGISTER _IOWR(SPINNERET_MAGIC_NUMBER, 2, struct spinneret_register)
#define SPINNERET_WRITE_REGISTER _IOW(SPINNERET_MAGIC_NUMBER, 3, struct spinneret_register)
#define SPINNERET_EVENTS _IOWR(SPINNERET_MAGIC_NUMBER, 4, struct spinneret_events)
/*
 * The argument is the number of a context whose host memory is for another process as well. The
 * call returns a file that can be mapped, shared and for reading and writing, from offset 0. When
 * the memory is freed, a page of zeros is there instead.
 */
#define SPINNERET_LEND _IO(SPINNERET_MAGIC_NUMBER, 5)

#endif
