// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Calls by ioctl: those of the public driver, and those for registers and events. uapi.h has their
 * numbers and layouts.
 */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/uaccess.h>

#include "spinneret.h"

static int query(struct card *card, struct spinneret_area *answer)
{
	/* The public driver takes the number as an int at the beginning. */
	u32 context = *(const u32 *)answer;
	const struct area *area;

	if (context >= SPINNERET_CONTEXTS)
		return -EINVAL;
	area = &card->areas[context];
	answer->address = area->address;
	answer->bytes = area->bytes;
	answer->is_there = !!area->memory;
	return card->gone ? -ENODEV : 0;
}

/*
 * Eight bytes are two words, the lower one first, of which the second one has to be memory as well.
 */
static int access_word(struct card *card, struct spinneret_word *word, bool write)
{
	s64 position = position_of(word->address);
	int error = memory_state(card);

	if (error)
		return error;
	if (position < 0 || position % WORD || position > MEMORY_BYTES - 2 * WORD)
		return -EFAULT;
	if (write) {
		lo_hi_writeq(word->data, card->bar + position);
		return 0;
	}
	word->address = lo_hi_readq(card->bar + position);
	return word->address == ~0ull && !card_answers(card) ? -ENODEV : 0;
}

static int get_info(struct card *card, struct spinneret_info *info)
{
	*info = (struct spinneret_info) {
		.contexts = SPINNERET_CONTEXTS,
		.lines = LINES,
		.features = (card->has_extensions ? SPINNERET_HAS_EXTENSIONS : 0) |
			    (card->has_interrupts ? SPINNERET_HAS_INTERRUPTS : 0),
	};
	return card->gone ? -ENODEV : 0;
}

/* Arguments and results of a call. */
union message {
	struct spinneret_area area;
	struct spinneret_word word;
	struct spinneret_register reg;
	struct spinneret_info info;
	struct spinneret_events events;
};

static int answer(struct opened *opened, unsigned int call, union message *message)
{
	struct card *card = opened->card;
	u32 lines;

	switch (call) {
	case SPINNERET_QUERY:
		return query(card, &message->area);
	case SPINNERET_WRITE_WORD:
		return access_word(card, &message->word, true);
	case SPINNERET_READ_WORD:
		return access_word(card, &message->word, false);
	case SPINNERET_GET_INFO:
		return get_info(card, &message->info);
	case SPINNERET_READ_REGISTER:
		return reg_read(card, message->reg.offset, &message->reg.value);
	case SPINNERET_WRITE_REGISTER:
		return reg_write(card, message->reg.offset, message->reg.value);
	default:
		lines = message->events.lines;
		if (lines & ~ALL_LINES)
			return -EINVAL;
		message->events.lines = events_take(opened);
		events_expect(opened, lines);
		return card->gone ? -ENODEV : 0;
	}
}

/*
 * Bytes of a call's message; 0 if the node has no such call. The public driver's nodes have those
 * of that driver.
 */
static size_t message_bytes(enum node node, unsigned int call)
{
	if (node == NODE_STDOUT)
		return 0;
	switch (call) {
	case SPINNERET_QUERY:
	case SPINNERET_WRITE_WORD:
	case SPINNERET_READ_WORD:
		return sizeof(struct spinneret_word);
	case SPINNERET_GET_INFO:
	case SPINNERET_READ_REGISTER:
	case SPINNERET_WRITE_REGISTER:
	case SPINNERET_EVENTS:
		return node == NODE_CARD ? _IOC_SIZE(call) : 0;
	default:
		return 0;
	}
}

long card_ioctl(struct file *file, unsigned int call, unsigned long argument)
{
	struct opened *opened = file->private_data;
	void __user *at = (void __user *)argument;
	size_t bytes = message_bytes(opened->node, call);
	union message message = {};
	int error;

	if (opened->node == NODE_CARD && call == SPINNERET_LEND)
		return memory_lend(file, argument);
	if (!bytes)
		return -ENOTTY;
	if (copy_from_user(&message, at, bytes))
		return -EFAULT;
	mutex_lock(&opened->card->lock);
	error = answer(opened, call, &message);
	mutex_unlock(&opened->card->lock);
	if (error)
		return error;
	if (call == SPINNERET_WRITE_WORD || call == SPINNERET_WRITE_REGISTER)
		return 0;
	return copy_to_user(at, &message, bytes) ? -EFAULT : 0;
}
