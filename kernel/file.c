// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Files of /dev/spinneretN and of the public driver's nodes: the cluster's memory by seek, read and
 * write.
 *
 * As in the public driver, a seek takes an address of the cluster and returns a position, which is
 * an offset in the BAR.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "spinneret.h"

/* The position of an address of the cluster, or a negative one. */
s64 position_of(u64 address)
{
	u64 handler = address - SPINNERET_BAR_HANDLER_MEMORY_PSPIN_ADDRESS;
	u64 program = address - SPINNERET_BAR_PROGRAM_MEMORY_PSPIN_ADDRESS;

	if (handler < SPINNERET_BAR_HANDLER_MEMORY_SIZE)
		return SPINNERET_BAR_HANDLER_MEMORY_OFFSET + handler;
	if (program < SPINNERET_BAR_PROGRAM_MEMORY_SIZE)
		return SPINNERET_BAR_PROGRAM_MEMORY_OFFSET + program;
	return -EINVAL;
}

/* Whether the cluster's memory can be accessed. The caller holds the lock of the card. */
int memory_state(const struct card *card)
{
	if (card->gone)
		return -ENODEV;
	return card->held ? -EPERM : 0;
}

static int locked_state(struct card *card)
{
	int error;

	mutex_lock(&card->lock);
	error = memory_state(card);
	mutex_unlock(&card->lock);
	return error;
}

static loff_t card_seek(struct file *file, loff_t offset, int whence)
{
	struct opened *opened = file->private_data;
	int error = locked_state(opened->card);
	loff_t to;

	if (error)
		return error;
	switch (whence) {
	case SEEK_SET:
		to = position_of(offset);
		break;
	case SEEK_CUR:
		if (check_add_overflow(file->f_pos, offset, &to))
			return -EINVAL;
		break;
	case SEEK_END:
		if (check_add_overflow((loff_t)MEMORY_BYTES, offset, &to))
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (to < 0 || to > MEMORY_BYTES)
		return -EINVAL;
	file->f_pos = to;
	return to;
}

/*
 * Bytes of one call at a position: whole words, as many as fit into a block; 0 at the end of
 * memory.
 */
static ssize_t piece(loff_t position, size_t count)
{
	if (position % WORD || (count && count < WORD))
		return -EINVAL;
	if (position >= MEMORY_BYTES)
		return 0;
	return round_down(min3(count, (size_t)BLOCK, (size_t)(MEMORY_BYTES - position)), WORD);
}

static int fetch(struct card *card, loff_t position, u32 *block, size_t words)
{
	size_t i;
	int error;

	mutex_lock(&card->lock);
	error = memory_state(card);
	for (i = 0; i < words && !error; i++) {
		block[i] = ioread32(card->bar + position + WORD * i);
		let_others(i);
	}
	if (!error && words && block[words - 1] == ~0u && !card_answers(card))
		error = -ENODEV;
	mutex_unlock(&card->lock);
	return error;
}

static int store(struct card *card, loff_t position, const u32 *block, size_t words)
{
	size_t i;
	int error;

	mutex_lock(&card->lock);
	error = memory_state(card);
	for (i = 0; i < words && !error; i++) {
		iowrite32(block[i], card->bar + position + WORD * i);
		let_others(i);
	}
	mutex_unlock(&card->lock);
	return error;
}

static ssize_t card_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct opened *opened = file->private_data;
	ssize_t bytes;
	int error;

	if (opened->node == NODE_STDOUT)
		return stdout_read(file, to, count, position);
	if (mutex_lock_interruptible(&opened->lock))
		return -ERESTARTSYS;
	bytes = piece(*position, count);
	if (bytes > 0) {
		error = fetch(opened->card, *position, opened->block, bytes / WORD);
		if (!error && copy_to_user(to, opened->block, bytes))
			error = -EFAULT;
		if (error)
			bytes = error;
		else
			*position += bytes;
	}
	mutex_unlock(&opened->lock);
	return bytes;
}

static ssize_t card_write(struct file *file, const char __user *from, size_t count, loff_t *position)
{
	struct opened *opened = file->private_data;
	ssize_t bytes;
	int error;

	if (opened->node == NODE_STDOUT)
		return -EINVAL;
	if (mutex_lock_interruptible(&opened->lock))
		return -ERESTARTSYS;
	bytes = piece(*position, count);
	if (!bytes && count)
		bytes = -ENOSPC;
	if (bytes > 0) {
		error = copy_from_user(opened->block, from, bytes) ? -EFAULT : 0;
		if (!error)
			error = store(opened->card, *position, opened->block, bytes / WORD);
		if (error)
			bytes = error;
		else
			*position += bytes;
	}
	mutex_unlock(&opened->lock);
	return bytes;
}

static int card_file_open(struct inode *inode, struct file *file)
{
	struct opened *opened = kzalloc(sizeof(*opened), GFP_KERNEL);
	int error = -ENOMEM;

	if (!opened)
		return error;
	opened->block = kmalloc(BLOCK, GFP_KERNEL);
	if (!opened->block)
		goto free;
	mutex_init(&opened->lock);
	error = card_open(iminor(inode), opened);
	if (error)
		goto free;
	events_expect(opened, opened->node == NODE_STDOUT ? SPINNERET_EVENTS_PENDING_STDOUT_MASK : ALL_LINES);
	file->private_data = opened;
	return 0;

free:
	kfree(opened->block);
	kfree(opened);
	return error;
}

static int card_file_release(struct inode *inode, struct file *file)
{
	struct opened *opened = file->private_data;

	card_close(opened);
	kfree(opened->block);
	kfree(opened);
	return 0;
}

const struct file_operations card_fops = {
	.owner = THIS_MODULE,
	.open = card_file_open,
	.release = card_file_release,
	.llseek = card_seek,
	.read = card_read,
	.write = card_write,
	.unlocked_ioctl = card_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = card_poll,
	.mmap = memory_map,
};
