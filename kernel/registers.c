// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Control registers: which there are, and what programs may write. The driver alone says where the
 * card may write in host memory; programs may say the same.
 */
#include "spinneret.h"

const struct reg_info reg_table[] = {
#define SPINNERET_REGISTER(group, name, offset, count, access, extension) \
	{ group, name, offset, count, access, extension },
#include "table.h"
#undef SPINNERET_REGISTER
};

const unsigned int reg_table_length = ARRAY_SIZE(reg_table);

/*
 * Whether the card has a register: the public design has no additional ones, and older versions of
 * spinneret have no events.
 */
bool reg_is_there(const struct card *card, const struct reg_info *info)
{
	if (info->offset >= SPINNERET_EVENTS_PENDING_OFFSET && info->offset <= SPINNERET_EVENTS_SENT_OFFSET)
		return card->has_events;
	return card->has_extensions || !info->extension;
}

static const struct reg_info *reg_find(const struct card *card, u32 offset)
{
	unsigned int i;

	if (offset % SPINNERET_REGISTER_BYTES)
		return NULL;
	for (i = 0; i < reg_table_length; i++) {
		const struct reg_info *info = &reg_table[i];

		if (offset >= info->offset && offset < reg_at(info->offset, info->count))
			return reg_is_there(card, info) ? info : NULL;
	}
	return NULL;
}

/* Whether the card is on the bus and answers. All ones come from one that is not. */
bool card_answers(struct card *card)
{
	return reg_get(card, SPINNERET_CL_AUX_RESET_OFFSET) != ~0u;
}

/* Whether a context may be active: its host memory is that which the driver has for it. */
static bool memory_agrees(struct card *card, unsigned int context)
{
	const struct area *area = &card->areas[context];
	u64 size = reg_get(card, reg_at(SPINNERET_HER_META_HOST_MEM_SIZE_OFFSET, context));
	u64 address = reg_get(card, reg_at(SPINNERET_HER_META_HOST_MEM_ADDR_0_OFFSET, context));

	if (!size || !reg_get(card, reg_at(SPINNERET_HER_CTX_ENABLED_OFFSET, context)))
		return true;
	address |= (u64)reg_get(card, reg_at(SPINNERET_HER_META_HOST_MEM_ADDR_1_OFFSET, context)) << 32;
	return area->memory && address >= area->address && size <= area->bytes &&
	       address - area->address <= area->bytes - size;
}

static bool in_array(u32 offset, u32 first, unsigned int *context)
{
	*context = (offset - first) / SPINNERET_REGISTER_BYTES;
	return offset >= first && *context < SPINNERET_CONTEXTS;
}

/* Whether a program may write a value. */
static bool reg_allows(struct card *card, u32 offset, u32 value)
{
	unsigned int c;

	if (offset == SPINNERET_CL_FETCH_ENABLE_OFFSET)
		return !(value & ~SPINNERET_CL_FETCH_ENABLE_BITS);
	if (offset == SPINNERET_CL_AUX_RESET_OFFSET)
		return value <= 1;
	if (offset == SPINNERET_GUARD_ENFORCE_OFFSET)
		return value == 1;
	if (offset == SPINNERET_HER_VALID_OFFSET && value) {
		for (c = 0; c < SPINNERET_CONTEXTS; c++)
			if (!memory_agrees(card, c))
				return false;
		return true;
	}
	if (in_array(offset, SPINNERET_GUARD_ENABLED_OFFSET, &c))
		return !value || card->areas[c].memory;
	if (in_array(offset, SPINNERET_GUARD_BASE_0_OFFSET, &c))
		return value == lower_32_bits(card->areas[c].address);
	if (in_array(offset, SPINNERET_GUARD_BASE_1_OFFSET, &c))
		return value == upper_32_bits(card->areas[c].address);
	if (in_array(offset, SPINNERET_GUARD_SIZE_OFFSET, &c))
		return value == card->areas[c].bytes;
	return true;
}

/* Reads a register for a program. The caller holds the lock of the card. */
int reg_read(struct card *card, u32 offset, u32 *value)
{
	const struct reg_info *info = reg_find(card, offset);

	if (card->gone)
		return -ENODEV;
	if (!info)
		return -EINVAL;
	if (!(info->access & REG_READ))
		return -EACCES;
	*value = reg_get(card, offset);
	if (*value == ~0u && !(info->access & REG_POPS) && !card_answers(card))
		return -ENODEV;
	return 0;
}

/* Writes a register for a program. The caller holds the lock of the card. */
int reg_write(struct card *card, u32 offset, u32 value)
{
	const struct reg_info *info = reg_find(card, offset);

	if (card->gone)
		return -ENODEV;
	if (!info)
		return -EINVAL;
	if (!(info->access & REG_WRITE))
		return -EACCES;
	if (!reg_allows(card, offset, value))
		return -EINVAL;
	reg_set(card, offset, value);
	if (offset == SPINNERET_CL_AUX_RESET_OFFSET)
		card->held = value;
	return 0;
}
