// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Control of the card by the driver. The caller of each function holds the lock of the card.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>

#include "spinneret.h"

/* Longest that the cluster takes to leave its reset, or to be in it. */
#define RESET_US 20000
/*
 * Transfers that have passed the guard are done with after so long: PCI Express gives a posted
 * write some microseconds.
 */
#define DRAIN_US 1000
/* Least distance of two interrupts of a line. */
#define MODERATION_US 10

static void wait_for_reset(struct card *card, bool wanted)
{
	u32 status;

	if (card->has_extensions)
		read_poll_timeout(reg_get, status, !!(status & SPINNERET_CL_STATUS_HELD_MASK) == wanted, 10,
				  RESET_US, false, card, SPINNERET_CL_STATUS_OFFSET);
}

static void set_windows(struct card *card)
{
	unsigned int c;

	for (c = 0; c < SPINNERET_CONTEXTS; c++)
		card_open_window(card, c);
	reg_set(card, SPINNERET_GUARD_ENFORCE_OFFSET, 1);
}

static void set_events(struct card *card)
{
	u32 clocks = reg_get(card, SPINNERET_CAPS_CORE_CLOCK_KHZ_OFFSET) / 1000 * MODERATION_US;

	reg_set(card, SPINNERET_EVENTS_MODERATION_OFFSET, min(clocks, SPINNERET_EVENTS_MODERATION_BITS));
	reg_set(card, SPINNERET_EVENTS_PENDING_OFFSET, ALL_LINES);
	reg_set(card, SPINNERET_EVENTS_ENABLE_OFFSET, card->has_interrupts ? ALL_LINES : 0);
}

/*
 * Sets up the card after power-up and reset: it writes to the memory of its contexts only, and
 * reports events.
 */
void card_prepare(struct card *card)
{
	card->held = reg_get(card, SPINNERET_CL_AUX_RESET_OFFSET) & 1;
	if (card->has_guard)
		set_windows(card);
	if (card->has_events)
		set_events(card);
}

/* No packet is matched any more, and the cluster is in reset. */
void card_halt(struct card *card)
{
	reg_set(card, SPINNERET_ME_VALID_OFFSET, 0);
	reg_set(card, SPINNERET_CL_FETCH_ENABLE_OFFSET, 0);
	reg_set(card, SPINNERET_CL_AUX_RESET_OFFSET, 1);
	card->held = true;
	wait_for_reset(card, true);
}

/*
 * The cluster leaves its reset, and executes nothing: programs of the public driver expect it like
 * this.
 */
void card_start(struct card *card)
{
	reg_set(card, SPINNERET_ME_VALID_OFFSET, 0);
	reg_set(card, SPINNERET_CL_AUX_RESET_OFFSET, 0);
	card->held = false;
	wait_for_reset(card, false);
}

/*
 * The card may write to the memory of a context, if it has some; programs of the public driver do
 * not open windows.
 */
void card_open_window(struct card *card, unsigned int context)
{
	const struct area *area = &card->areas[context];

	if (!card->has_guard)
		return;
	reg_set(card, reg_at(SPINNERET_GUARD_ENABLED_OFFSET, context), 0);
	reg_set(card, reg_at(SPINNERET_GUARD_BASE_0_OFFSET, context), lower_32_bits(area->address));
	reg_set(card, reg_at(SPINNERET_GUARD_BASE_1_OFFSET, context), upper_32_bits(area->address));
	reg_set(card, reg_at(SPINNERET_GUARD_SIZE_OFFSET, context), area->bytes);
	reg_set(card, reg_at(SPINNERET_GUARD_ENABLED_OFFSET, context), !!area->memory);
}

/* Whether handlers of a context cannot run, for cards without enforced windows. */
static bool is_let_go(struct card *card, unsigned int context)
{
	return card->held || (reg_get(card, SPINNERET_HER_VALID_OFFSET) == 1 &&
			      reg_get(card, reg_at(SPINNERET_HER_CTX_ENABLED_OFFSET, context)) == 0);
}

/*
 * The card does not write to the memory of a context any more: false if nothing could be done about
 * it. Without a guard the cluster has to stop for that, unless the context was closed before.
 */
bool card_close_window(struct card *card, unsigned int context)
{
	bool closed;

	if (card->has_guard) {
		u32 enabled = reg_at(SPINNERET_GUARD_ENABLED_OFFSET, context);

		reg_set(card, enabled, 0);
		closed = reg_get(card, enabled) == 0;
	} else {
		if (!is_let_go(card, context))
			card_halt(card);
		closed = card_answers(card);
	}
	usleep_range(DRAIN_US, 2 * DRAIN_US);
	/* Writes of the card arrive before its answer. */
	closed &= card_answers(card);
	if (!closed && card->owns_function) {
		pci_clear_master(card->pdev);
		return true;
	}
	return closed || !pci_device_is_present(card->pdev);
}
