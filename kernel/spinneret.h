/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A card, on its own PCI function or on Corundum's:
 *
 *	pci.c	our own PCI function	--+			   +-- file.c	/dev/spinneretN, /dev/pspin(2N)
 *					  +-- card.c		   +-- calls.c	their ioctl()
 *	mqnic.c	part of Corundum's	--+   control.c		   +-- memory.c	their mmap()
 *					      registers.c	   +-- events.c	poll(), /dev/pspin(2N + 1)
 *								   +-- lend.c	host memory for other processes
 *								   +-- sysfs.c	registers as text
 *
 * Order of locks: mmap_lock of a process, then the lock of a card. So memory of programs is never
 * accessed while the lock of a card is held.
 */
#ifndef SPINNERET_H
#define SPINNERET_H

#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "spinneret_regs.h"
#include "uapi.h"

#define LINES SPINNERET_PCI_VECTORS
#define ALL_LINES GENMASK(LINES - 1, 0)
/* Bytes that are copied between a program and the card while its lock is held. */
#define BLOCK 4096

/* A control register of the table, or an array of them. */
struct reg_info {
	const char *group;
	const char *name;
	u16 offset;
	u8 count;
	u8 access;
	bool extension;
};

#define REG_READ 1
#define REG_WRITE 2
#define REG_POPS 4

extern const struct reg_info reg_table[];
extern const unsigned int reg_table_length;

/* Nodes of a card, by the lowest bits of their minor number. */
enum node { NODE_CARD, NODE_PSPIN, NODE_STDOUT, NODES };

/*
 * Host memory of a context. The context owns it as long as it is mapped, the card as long as the
 * card exists.
 */
struct area {
	void *memory;
	dma_addr_t address;
	size_t bytes;
	/* No other memory of the card has it. */
	u64 number;
	pgprot_t protection;
	/* The inode with mappings of processes that it was lent to, if any. */
	struct inode *node;
};

/* A mapping of host memory, with its copies in children. */
struct mapping {
	struct kref users;
	struct card *card;
	unsigned int context;
	/* Of which file, and by which process it was made, to find all of it when the card goes. */
	struct file *file;
	struct mm_struct *mm;
	/* The page that processes see after the card was removed. */
	struct page *instead;
};

/* A line of events, which are counted. */
struct line {
	struct card *card;
	unsigned int number;
	atomic_t events;
};

struct card {
	struct kref users;
	unsigned int number;
	/*
	 * The bound device: our PCI device, or an auxiliary device of mqnic. Its sysfs folder has
	 * the registers.
	 */
	struct device *dev;
	struct pci_dev *pdev;
	u8 __iomem *bar;
	/* The function is ours, so that we say whether it may write to host memory at all. */
	bool owns_function;
	bool has_extensions;
	bool has_events;
	bool has_guard;
	bool has_interrupts;

	/* Held for each access to the card, and for all that follows. */
	struct mutex lock;
	/* The driver is unbound or the card is off the bus: nothing is accessed any more. */
	bool gone;
	/* The cluster is held in reset. */
	bool held;
	/* Nothing keeps the card from writing to host memory, which is kept for ever then. */
	bool runs_wild;
	/* Open files: all of them, and those of each node. */
	unsigned int open;
	unsigned int open_nodes[NODES];
	struct area areas[SPINNERET_CONTEXTS];
	/* How many areas there were. */
	u64 areas_taken;
	struct mapping *mappings[SPINNERET_CONTEXTS];

	struct line lines[LINES];
	wait_queue_head_t wait;
	/* Replaces interrupts while a file waits. */
	struct delayed_work tick;

	struct kobject **folders;
	struct reg_file *reg_files;
};

/* An open file. */
struct opened {
	struct card *card;
	enum node node;
	/* Lines that it waits for, and the number of reported events of each. */
	u32 lines;
	u32 seen[LINES];
	/* One call at a time moves the position and uses the block. */
	struct mutex lock;
	u32 *block;
};

/* card.c */
struct card *card_add(struct device *dev, struct pci_dev *pdev, u8 __iomem *bar, bool owns_function);
int card_publish(struct card *card);
void card_remove(struct card *card);
void card_put(struct card *card);
int card_open(unsigned int minor, struct opened *opened);
void card_close(struct opened *opened);
void card_event(struct line *line);
int cards_init(void);
void cards_exit(void);

/* control.c */
void card_prepare(struct card *card);
void card_halt(struct card *card);
void card_start(struct card *card);
void card_open_window(struct card *card, unsigned int context);
bool card_close_window(struct card *card, unsigned int context);

/* registers.c */
static inline u32 reg_get(struct card *card, u32 offset)
{
	return ioread32(card->bar + SPINNERET_BAR_REGISTERS_OFFSET + offset);
}

static inline void reg_set(struct card *card, u32 offset, u32 value)
{
	iowrite32(value, card->bar + SPINNERET_BAR_REGISTERS_OFFSET + offset);
}

static inline u32 reg_at(u32 first, unsigned int element)
{
	return first + SPINNERET_REGISTER_BYTES * element;
}

/* Other processes run between accesses, of which a card that is simulated takes a while for each. */
static inline void let_others(size_t done)
{
	if (done % 16 == 0)
		cond_resched();
}

bool reg_is_there(const struct card *card, const struct reg_info *info);
int reg_read(struct card *card, u32 offset, u32 *value);
int reg_write(struct card *card, u32 offset, u32 value);
bool card_answers(struct card *card);

/* file.c, calls.c, events.c, memory.c, lend.c, sysfs.c */
#define WORD SPINNERET_REGISTER_BYTES
/*
 * Memory of the cluster in the BAR: that of handlers and packets, that of programs, one behind the
 * other.
 */
#define MEMORY_BYTES SPINNERET_BAR_REGISTERS_OFFSET

s64 position_of(u64 address);
int memory_state(const struct card *card);
long card_ioctl(struct file *file, unsigned int call, unsigned long argument);
extern const struct file_operations card_fops;
ssize_t stdout_read(struct file *file, char __user *to, size_t count, loff_t *position);
__poll_t card_poll(struct file *file, poll_table *table);
u32 events_take(struct opened *opened);
void events_expect(struct opened *opened, u32 lines);
void events_tick(struct work_struct *work);
int memory_map(struct file *file, struct vm_area_struct *vma);
void memory_withdraw(struct card *card);
int memory_lend(struct file *owner, unsigned long context);
void memory_recall(struct area *area, unsigned int context);
int sysfs_add(struct card *card);
void sysfs_remove(struct card *card);

/* pci.c, mqnic.c */
int pci_init(void);
void pci_exit(void);
int mqnic_init(void);
void mqnic_exit(void);

#endif
