// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Waiting for the card: poll(), and standard output, whose reads wait.
 *
 * Interrupts count events by line, and each file keeps the counts that it has reported. A newly
 * opened file has reported none, so its first poll() returns at once: check first, then wait. A card
 * without interrupts has an event on each line with each tick while a file waits.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "spinneret.h"

/* Between two looks at a card without interrupts. */
#define TICK msecs_to_jiffies(2)

void card_event(struct line *line)
{
	atomic_inc(&line->events);
	wake_up_all(&line->card->wait);
}

void events_tick(struct work_struct *work)
{
	struct card *card = container_of(to_delayed_work(work), struct card, tick);
	unsigned int line;

	for (line = 0; line < LINES; line++)
		card_event(&card->lines[line]);
}

static u32 happened(const struct opened *opened)
{
	unsigned int line;
	u32 lines = 0;

	for (line = 0; line < LINES; line++)
		if (atomic_read(&opened->card->lines[line].events) != READ_ONCE(opened->seen[line]))
			lines |= BIT(line);
	return lines;
}

/* Returns lines with unreported events, and marks them as reported. */
u32 events_take(struct opened *opened)
{
	unsigned int line;
	u32 lines = 0;

	for (line = 0; line < LINES; line++) {
		u32 count = atomic_read(&opened->card->lines[line].events);

		if (count != opened->seen[line])
			lines |= BIT(line);
		WRITE_ONCE(opened->seen[line], count);
	}
	return lines;
}

/* The lines that poll() waits for. */
void events_expect(struct opened *opened, u32 lines)
{
	WRITE_ONCE(opened->lines, lines);
}

__poll_t card_poll(struct file *file, poll_table *table)
{
	struct opened *opened = file->private_data;
	struct card *card = opened->card;
	__poll_t ready = opened->node == NODE_STDOUT ? 0 : EPOLLOUT | EPOLLWRNORM;

	poll_wait(file, &card->wait, table);
	if (READ_ONCE(card->gone))
		return EPOLLERR | EPOLLHUP;
	if (happened(opened) & READ_ONCE(opened->lines))
		return ready | EPOLLIN | EPOLLRDNORM;
	if (!card->has_interrupts)
		schedule_delayed_work(&card->tick, TICK);
	return ready;
}

/* Takes words of standard output, including all from before the file's events are taken. */
static ssize_t pop(struct opened *opened, size_t most)
{
	struct card *card = opened->card;
	size_t words = 0;
	ssize_t error = 0;

	mutex_lock(&card->lock);
	if (card->gone) {
		error = -ENODEV;
	} else {
		events_take(opened);
		while (words < most) {
			u32 word = reg_get(card, SPINNERET_CL_FIFO_OFFSET);

			if (word == ~0u)
				break;
			let_others(words);
			opened->block[words++] = word;
		}
		/* There may be more: do not wait for the next event. */
		if (words == most)
			opened->seen[SPINNERET_EVENTS_PENDING_STDOUT_SHIFT]--;
		else if (!words && !card_answers(card))
			error = -ENODEV;
	}
	mutex_unlock(&card->lock);
	return error ?: words * sizeof(u32);
}

static int wait_for_output(struct opened *opened)
{
	struct card *card = opened->card;
	long left;

	/*
	 * Also with interrupts one looks now and then, as a reader of the card's registers may have
	 * taken the words.
	 */
	left = wait_event_interruptible_timeout(card->wait,
						READ_ONCE(card->gone) ||
						(happened(opened) & SPINNERET_EVENTS_PENDING_STDOUT_MASK),
						card->has_interrupts ? HZ : TICK);
	return left < 0 ? left : 0;
}

/*
 * Reads words of standard output; waits for at least one. A short read loses nothing.
 */
ssize_t stdout_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct opened *opened = file->private_data;
	size_t most = min_t(size_t, count, BLOCK) / sizeof(u32);
	ssize_t bytes;
	int error;

	if (!most)
		return count ? -EINVAL : 0;
	if (mutex_lock_interruptible(&opened->lock))
		return -ERESTARTSYS;
	while ((bytes = pop(opened, most)) == 0) {
		error = file->f_flags & O_NONBLOCK ? -EAGAIN : wait_for_output(opened);
		if (error) {
			bytes = error;
			break;
		}
	}
	if (bytes > 0 && copy_to_user(to, opened->block, bytes))
		bytes = -EFAULT;
	mutex_unlock(&opened->lock);
	return bytes;
}
