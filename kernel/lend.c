// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Host memory of a context for another process: the program that has the card gets a file for it,
 * and passes that on. The file can be mapped, and nothing else.
 *
 * The memory stays the owner's. It is freed with the owner's last mapping. Processes that borrowed
 * it then see a page of zeros instead, so that none can keep it, or reach that of the next context.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "spinneret.h"

/*
 * Where mappings of lent memory are in the address space of the card's node, in pages: the owner's
 * are below.
 */
#define FIRST_PAGE(context) ((unsigned long)((context) + 1) << 24)

/* An open file for memory that was lent. */
struct lent {
	struct card *card;
	unsigned int context;
	/* The memory is this one as long as its area has the same number. */
	u64 number;
	struct inode *node;
	/* The page that processes see afterwards. */
	struct page *instead;
};

static vm_fault_t lent_fault(struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	struct lent *lent = vma->vm_private_data;
	struct area *area = &lent->card->areas[lent->context];
	size_t offset = (fault->pgoff - FIRST_PAGE(lent->context)) << PAGE_SHIFT;
	struct page *page = lent->instead;
	vm_fault_t result;

	mutex_lock(&lent->card->lock);
	if (area->memory && area->number == lent->number && offset < area->bytes)
		page = is_vmalloc_addr(area->memory) ? vmalloc_to_page(area->memory + offset) :
						       virt_to_page(area->memory + offset);
	result = vmf_insert_pfn(vma, fault->address, page_to_pfn(page));
	mutex_unlock(&lent->card->lock);
	return result;
}

static const struct vm_operations_struct lent_vm_ops = {
	.fault = lent_fault,
};

static void set_flags(struct vm_area_struct *vma)
{
	const unsigned long flags = VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags |= flags;
#else
	vm_flags_set(vma, flags);
#endif
}

static int lent_map(struct file *file, struct vm_area_struct *vma)
{
	const unsigned long needed = VM_SHARED | VM_READ | VM_WRITE;
	struct lent *lent = file->private_data;
	struct card *card = lent->card;
	struct area *area = &card->areas[lent->context];
	int error = 0;

	if ((vma->vm_flags & needed) != needed || vma->vm_pgoff)
		return -EINVAL;
	mutex_lock(&card->lock);
	if (!area->memory || area->number != lent->number)
		error = -ENODEV;
	else if (vma->vm_end - vma->vm_start > area->bytes)
		error = -EINVAL;
	else
		vma->vm_page_prot = area->protection;
	mutex_unlock(&card->lock);
	if (error)
		return error;
	vma->vm_pgoff = FIRST_PAGE(lent->context);
	set_flags(vma);
	vma->vm_ops = &lent_vm_ops;
	vma->vm_private_data = lent;
	return 0;
}

static void lent_free(struct lent *lent)
{
	iput(lent->node);
	put_page(lent->instead);
	card_put(lent->card);
	kfree(lent);
}

static int lent_release(struct inode *inode, struct file *file)
{
	lent_free(file->private_data);
	return 0;
}

static const struct file_operations lent_fops = {
	.owner = THIS_MODULE,
	.release = lent_release,
	.mmap = lent_map,
};

/* Memory of a context by which it is known from now on. The caller holds the lock of the card. */
static int lend_area(struct lent *lent)
{
	struct area *area = &lent->card->areas[lent->context];

	if (lent->card->gone)
		return -ENODEV;
	if (!area->memory)
		return -EINVAL;
	lent->number = area->number;
	if (!area->node) {
		ihold(lent->node);
		area->node = lent->node;
	}
	return 0;
}

/* Makes a file for the memory of a context: returns its descriptor. */
int memory_lend(struct file *owner, unsigned long context)
{
	struct opened *opened = owner->private_data;
	struct lent *lent;
	struct file *file;
	int descriptor, error;

	if (context >= SPINNERET_CONTEXTS)
		return -EINVAL;
	lent = kzalloc(sizeof(*lent), GFP_KERNEL);
	if (!lent)
		return -ENOMEM;
	lent->instead = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!lent->instead) {
		kfree(lent);
		return -ENOMEM;
	}
	lent->card = opened->card;
	kref_get(&lent->card->users);
	lent->context = context;
	/* All mappings are in one address space, so that those of a context can be removed. */
	lent->node = owner->f_mapping->host;
	ihold(lent->node);

	mutex_lock(&lent->card->lock);
	error = lend_area(lent);
	mutex_unlock(&lent->card->lock);
	if (error)
		goto free;
	descriptor = get_unused_fd_flags(O_CLOEXEC);
	if (descriptor < 0) {
		error = descriptor;
		goto free;
	}
	file = anon_inode_getfile("spinneret-memory", &lent_fops, lent, O_RDWR);
	if (IS_ERR(file)) {
		put_unused_fd(descriptor);
		error = PTR_ERR(file);
		goto free;
	}
	file->f_mapping = owner->f_mapping;
	fd_install(descriptor, file);
	return descriptor;

free:
	lent_free(lent);
	return error;
}

/*
 * The memory of a context is about to be freed: processes that borrowed it no longer see it. The
 * caller holds the lock of the card until the area is empty, so that no fault brings it back.
 */
void memory_recall(struct area *area, unsigned int context)
{
	if (!area->node)
		return;
	unmap_mapping_range(area->node->i_mapping, (loff_t)FIRST_PAGE(context) << PAGE_SHIFT, area->bytes, 1);
	iput(area->node);
}
