// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Host memory of contexts: allocated by mmap() at offset context * length, and freed with the last
 * mapping, when the card no longer writes to it.
 *
 * If the card is removed first, its memory is freed, and processes see pages of zeros instead: a
 * program that reads its memory is not killed, and its next call returns -ENODEV.
 */
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "spinneret.h"

/*
 * Frees the memory of a context, which no process sees any more. The caller holds the lock of the
 * card.
 */
static void free_area(struct card *card, unsigned int context)
{
	struct area *area = &card->areas[context];

	if (!area->memory)
		return;
	memory_recall(area, context);
	if (card->runs_wild)
		dev_err(card->dev, "the card does not stop: %zu bytes that it may write to are kept\n", area->bytes);
	else
		dma_free_coherent(&card->pdev->dev, area->bytes, area->memory, area->address);
	memset(area, 0, sizeof(*area));
}

/* The last mapping was removed, and its page tables. */
static void mapping_free(struct kref *users)
{
	struct mapping *mapping = container_of(users, struct mapping, users);
	struct card *card = mapping->card;

	mutex_lock(&card->lock);
	card->mappings[mapping->context] = NULL;
	if (card->areas[mapping->context].memory) {
		if (!card->gone && !card_close_window(card, mapping->context))
			card->runs_wild = true;
		free_area(card, mapping->context);
	}
	mutex_unlock(&card->lock);
	if (mapping->instead)
		put_page(mapping->instead);
	mmdrop(mapping->mm);
	kfree(mapping);
}

static void mapping_open(struct vm_area_struct *vma)
{
	struct mapping *mapping = vma->vm_private_data;

	kref_get(&mapping->users);
}

static void mapping_close(struct vm_area_struct *vma)
{
	struct mapping *mapping = vma->vm_private_data;

	kref_put(&mapping->users, mapping_free);
}

/* A part of the memory can neither be freed nor moved. */
static int mapping_may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

/* The page that a process sees at an offset, which was mapped once; NULL if there is none. */
static struct page *page_at(struct mapping *mapping, unsigned long offset)
{
	const struct area *area = &mapping->card->areas[mapping->context];

	if (area->memory)
		return is_vmalloc_addr(area->memory) ? vmalloc_to_page(area->memory + offset) : NULL;
	if (!mapping->instead)
		mapping->instead = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return mapping->instead;
}

static vm_fault_t mapping_fault(struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	struct mapping *mapping = vma->vm_private_data;
	struct card *card = mapping->card;
	vm_fault_t result = VM_FAULT_SIGBUS;
	struct page *page;

	mutex_lock(&card->lock);
	page = page_at(mapping, (fault->address & PAGE_MASK) - vma->vm_start);
	if (page && vma->vm_flags & VM_PFNMAP) {
		result = vmf_insert_pfn(vma, fault->address, page_to_pfn(page));
	} else if (page) {
		get_page(page);
		fault->page = page;
		result = 0;
	}
	mutex_unlock(&card->lock);
	return result;
}

static const struct vm_operations_struct mapping_ops = {
	.open = mapping_open,
	.close = mapping_close,
	.may_split = mapping_may_split,
	.fault = mapping_fault,
};

/* Takes memory for a context, all of it 0, and maps it. The caller holds the lock of the card. */
static int take_area(struct card *card, unsigned int context, struct vm_area_struct *vma)
{
	struct device *dev = &card->pdev->dev;
	size_t bytes = vma->vm_end - vma->vm_start;
	unsigned long offset = vma->vm_pgoff;
	dma_addr_t address;
	void *memory;
	int error;

	/* Too large a request fails, without the OOM killer. */
	memory = dma_alloc_coherent(dev, bytes, &address, GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!memory)
		return -ENOMEM;
	vma->vm_pgoff = 0;
	error = dma_mmap_coherent(dev, vma, memory, address, bytes);
	vma->vm_pgoff = offset;
	if (error) {
		/* Nothing of it is mapped: kernels since 6.11, and 6.1.111, clean up themselves. */
		dma_free_coherent(dev, bytes, memory, address);
		return error;
	}
	card->areas[context] = (struct area) {
		.memory = memory,
		.address = address,
		.bytes = bytes,
		.number = ++card->areas_taken,
		.protection = vma->vm_page_prot,
	};
	card_open_window(card, context);
	return 0;
}

static int take_and_enter(struct card *card, struct mapping *mapping, struct vm_area_struct *vma)
{
	int error;

	if (card->gone)
		return -ENODEV;
	if (card->runs_wild)
		return -EIO;
	if (card->mappings[mapping->context])
		return -EAGAIN;
	error = take_area(card, mapping->context, vma);
	if (!error)
		card->mappings[mapping->context] = mapping;
	return error;
}

int memory_map(struct file *file, struct vm_area_struct *vma)
{
	struct opened *opened = file->private_data;
	struct card *card = opened->card;
	unsigned long pages = vma_pages(vma);
	struct mapping *mapping;
	int error;

	if (opened->node == NODE_STDOUT)
		return -ENODEV;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff % pages || vma->vm_pgoff / pages >= SPINNERET_CONTEXTS ||
	    pages > U32_MAX / PAGE_SIZE)
		return -EINVAL;
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;
	kref_init(&mapping->users);
	mapping->card = card;
	mapping->context = vma->vm_pgoff / pages;
	mapping->file = file;
	mapping->mm = current->mm;

	mutex_lock(&card->lock);
	error = take_and_enter(card, mapping, vma);
	mutex_unlock(&card->lock);
	if (error) {
		kfree(mapping);
		return error;
	}
	mmgrab(mapping->mm);
	vma->vm_ops = &mapping_ops;
	vma->vm_private_data = mapping;
	return 0;
}

/* A mapping that is still in use, with its file, until release(). */
static struct mapping *hold(struct card *card, unsigned int context)
{
	struct mapping *mapping;

	mutex_lock(&card->lock);
	mapping = card->mappings[context];
	if (mapping && !kref_get_unless_zero(&mapping->users))
		mapping = NULL;
	if (mapping)
		get_file(mapping->file);
	mutex_unlock(&card->lock);
	return mapping;
}

static void release(struct mapping *mapping)
{
	struct file *file = mapping->file;

	kref_put(&mapping->users, mapping_free);
	fput(file);
}

/* The card was removed: its memory is no longer visible, and is freed. */
void memory_withdraw(struct card *card)
{
	unsigned int context;

	for (context = 0; context < SPINNERET_CONTEXTS; context++) {
		struct mapping *mapping = hold(card, context);

		if (mapping) {
			/* A concurrent mapping is complete when its lock is released. */
			mmap_write_lock(mapping->mm);
			mmap_write_unlock(mapping->mm);
			unmap_mapping_range(mapping->file->f_mapping, 0, 0, 1);
		}
		mutex_lock(&card->lock);
		free_area(card, context);
		mutex_unlock(&card->lock);
		if (mapping)
			release(mapping);
	}
}
