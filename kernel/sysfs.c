// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Registers as text, in decimal, in the folder of the device that the driver is bound to:
 * GROUP/NAME/ELEMENT, as the public driver has them.
 */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "spinneret.h"

struct reg_file {
	struct kobj_attribute attr;
	struct card *card;
	u32 offset;
	char name[4];
};

static ssize_t reg_show(struct kobject *folder, struct kobj_attribute *attr, char *text)
{
	struct reg_file *file = container_of(attr, struct reg_file, attr);
	u32 value = 0;
	int error;

	mutex_lock(&file->card->lock);
	error = reg_read(file->card, file->offset, &value);
	mutex_unlock(&file->card->lock);
	return error ?: sysfs_emit(text, "%u\n", value);
}

static ssize_t reg_store(struct kobject *folder, struct kobj_attribute *attr, const char *text, size_t count)
{
	struct reg_file *file = container_of(attr, struct reg_file, attr);
	u32 value;
	int error = kstrtou32(text, 0, &value);

	if (error)
		return error;
	mutex_lock(&file->card->lock);
	error = reg_write(file->card, file->offset, value);
	mutex_unlock(&file->card->lock);
	return error ?: count;
}

/* Reading these takes words out of queues, so they are for root. */
static umode_t mode_of(const struct reg_info *info)
{
	umode_t mode = 0;

	if (info->access & REG_READ)
		mode |= info->access & REG_POPS ? 0400 : 0444;
	if (info->access & REG_WRITE)
		mode |= 0200;
	return mode;
}

static int add_file(struct reg_file *file, struct kobject *folder, const struct reg_info *info, unsigned int element)
{
	snprintf(file->name, sizeof(file->name), "%u", element);
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = file->name;
	file->attr.attr.mode = mode_of(info);
	file->attr.show = reg_show;
	file->attr.store = reg_store;
	file->offset = reg_at(info->offset, element);
	return sysfs_create_file(folder, &file->attr.attr);
}

/* Registers of a group follow one another in the table. */
static bool begins_group(unsigned int i)
{
	return i == 0 || strcmp(reg_table[i].group, reg_table[i - 1].group);
}

static int add_all(struct card *card)
{
	struct reg_file *file = card->reg_files;
	struct kobject **folder = card->folders;
	struct kobject *group = NULL;
	unsigned int i, element;
	int error;

	for (i = 0; i < reg_table_length; i++) {
		const struct reg_info *info = &reg_table[i];

		if (begins_group(i))
			group = NULL;
		if (!reg_is_there(card, info))
			continue;
		if (!group) {
			group = kobject_create_and_add(info->group, &card->dev->kobj);
			if (!group)
				return -ENOMEM;
			*folder++ = group;
		}
		*folder = kobject_create_and_add(info->name, group);
		if (!*folder)
			return -ENOMEM;
		for (element = 0; element < info->count; element++, file++) {
			file->card = card;
			error = add_file(file, *folder, info, element);
			if (error)
				return error;
		}
		folder++;
	}
	return 0;
}

int sysfs_add(struct card *card)
{
	unsigned int i, files = 0;
	int error;

	for (i = 0; i < reg_table_length; i++)
		files += reg_table[i].count;
	/* No more groups than registers, and a NULL behind the last one. */
	card->folders = kcalloc(2 * reg_table_length + 1, sizeof(*card->folders), GFP_KERNEL);
	card->reg_files = kvcalloc(files, sizeof(*card->reg_files), GFP_KERNEL);
	error = card->folders && card->reg_files ? add_all(card) : -ENOMEM;
	if (error)
		sysfs_remove(card);
	return error;
}

/* Waits for reads and writes of registers. */
void sysfs_remove(struct card *card)
{
	unsigned int i;

	/* The last ones first, as others contain them. */
	for (i = 2 * reg_table_length + 1; card->folders && i-- > 0;)
		kobject_put(card->folders[i]);
	kfree(card->folders);
	kvfree(card->reg_files);
	card->folders = NULL;
	card->reg_files = NULL;
}
