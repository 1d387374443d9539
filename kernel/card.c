// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Life cycle of cards, from binding to the last reference: nodes, open files, removal.
 *
 * A card is freed when the driver is unbound and its last file is closed; until then calls of that
 * file answer -ENODEV.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "spinneret.h"

#define MOST_CARDS 64
#define MINORS (MOST_CARDS * NODES)

static DEFINE_XARRAY_ALLOC(cards);
/* Held while a card is looked up, and while it is taken out. */
static DEFINE_MUTEX(cards_lock);
static dev_t first_node;
static struct cdev nodes;
static struct class card_class = { .name = "spinneret" };
/* The public driver's name, by which udev rules know it. */
static struct class pspin_class = { .name = "pspin" };

static void card_free(struct kref *users)
{
	struct card *card = container_of(users, struct card, users);

	cancel_delayed_work_sync(&card->tick);
	put_device(card->dev);
	pci_dev_put(card->pdev);
	kfree(card);
}

void card_put(struct card *card)
{
	kref_put(&card->users, card_free);
}

static void find_features(struct card *card)
{
	u32 features;

	if (reg_get(card, SPINNERET_CAPS_MAGIC_OFFSET) != SPINNERET_MAGIC)
		return;
	card->has_extensions = true;
	features = reg_get(card, SPINNERET_CAPS_FEATURES_OFFSET);
	card->has_guard = features & SPINNERET_CAPS_FEATURES_GUARD_MASK;
	card->has_events = features & SPINNERET_CAPS_FEATURES_EVENTS_MASK;
}

/* Allocates a card that is not visible yet. Release it with card_put(). */
struct card *card_add(struct device *dev, struct pci_dev *pdev, u8 __iomem *bar, bool owns_function)
{
	struct card *card = kzalloc(sizeof(*card), GFP_KERNEL);
	unsigned int line;

	if (!card)
		return ERR_PTR(-ENOMEM);
	kref_init(&card->users);
	mutex_init(&card->lock);
	init_waitqueue_head(&card->wait);
	INIT_DELAYED_WORK(&card->tick, events_tick);
	for (line = 0; line < LINES; line++) {
		card->lines[line].card = card;
		card->lines[line].number = line;
		/* Files that are opened know of no event. */
		atomic_set(&card->lines[line].events, 1);
	}
	card->dev = get_device(dev);
	card->pdev = pci_dev_get(pdev);
	card->bar = bar;
	card->owns_function = owns_function;
	if (!card_answers(card)) {
		card_put(card);
		return ERR_PTR(-ENODEV);
	}
	find_features(card);
	return card;
}

static dev_t node_number(const struct card *card, enum node node)
{
	return first_node + card->number * NODES + node;
}

static void remove_nodes(struct card *card)
{
	device_destroy(&pspin_class, node_number(card, NODE_STDOUT));
	device_destroy(&pspin_class, node_number(card, NODE_PSPIN));
	device_destroy(&card_class, node_number(card, NODE_CARD));
}

static int add_nodes(struct card *card)
{
	struct device *made[NODES];
	int node;

	made[NODE_CARD] = device_create(&card_class, card->dev, node_number(card, NODE_CARD), NULL, "spinneret%u",
					card->number);
	made[NODE_PSPIN] = device_create(&pspin_class, card->dev, node_number(card, NODE_PSPIN), NULL, "pspin%u",
					 2 * card->number);
	made[NODE_STDOUT] = device_create(&pspin_class, card->dev, node_number(card, NODE_STDOUT), NULL, "pspin%u",
					  2 * card->number + 1);
	for (node = 0; node < NODES; node++) {
		if (IS_ERR(made[node])) {
			remove_nodes(card);
			return PTR_ERR(made[node]);
		}
	}
	return 0;
}

/* Makes the card known to programs. */
int card_publish(struct card *card)
{
	int error;

	mutex_lock(&card->lock);
	card_prepare(card);
	card_halt(card);
	mutex_unlock(&card->lock);
	mutex_lock(&cards_lock);
	error = xa_alloc(&cards, &card->number, card, XA_LIMIT(0, MOST_CARDS - 1), GFP_KERNEL);
	mutex_unlock(&cards_lock);
	if (error)
		return error;
	error = sysfs_add(card);
	if (error)
		goto unlist;
	error = add_nodes(card);
	if (error)
		goto hide;
	dev_info(card->dev, "spinneret%u: %s, %s\n", card->number,
		 card->has_extensions ? "spinneret" : "public design",
		 card->has_interrupts ? "with interrupts" : "without interrupts");
	return 0;

hide:
	sysfs_remove(card);
unlist:
	mutex_lock(&cards_lock);
	xa_erase(&cards, card->number);
	mutex_unlock(&cards_lock);
	return error;
}

/* Takes the card away from programs, whatever they do with it. It is not accessed afterwards. */
void card_remove(struct card *card)
{
	unsigned int c;

	remove_nodes(card);
	sysfs_remove(card);
	mutex_lock(&cards_lock);
	xa_erase(&cards, card->number);
	mutex_unlock(&cards_lock);

	mutex_lock(&card->lock);
	if (card->has_events)
		reg_set(card, SPINNERET_EVENTS_ENABLE_OFFSET, 0);
	card_halt(card);
	for (c = 0; c < SPINNERET_CONTEXTS; c++)
		if (card->areas[c].memory && !card_close_window(card, c))
			card->runs_wild = true;
	/* As after power-up: the public driver, which may come next, opens no windows. The cluster is in reset. */
	if (card->has_guard && !card->runs_wild)
		reg_set(card, SPINNERET_GUARD_ENFORCE_OFFSET, 0);
	if (card->owns_function)
		pci_clear_master(card->pdev);
	card->gone = true;
	mutex_unlock(&card->lock);
	wake_up_all(&card->wait);
	memory_withdraw(card);
}

static bool is_taken(const struct card *card, enum node node)
{
	switch (node) {
	case NODE_CARD:
		return card->open_nodes[NODE_CARD] || card->open_nodes[NODE_PSPIN];
	case NODE_PSPIN:
		return card->open_nodes[NODE_CARD];
	default:
		return false;
	}
}

/*
 * /dev/spinneretN is for one at a time; programs of the public driver may open theirs as often as
 * they like.
 */
static int start_using(struct card *card, enum node node)
{
	if (card->gone)
		return -ENODEV;
	if (is_taken(card, node))
		return -EBUSY;
	if (!card->open++ && card->owns_function)
		pci_set_master(card->pdev);
	if (node == NODE_PSPIN && card->held)
		card_start(card);
	card->open_nodes[node]++;
	return 0;
}

/* Opens a node of a card: the file has it until card_close(). */
int card_open(unsigned int minor, struct opened *opened)
{
	unsigned int place = minor - MINOR(first_node);
	struct card *card;
	int error;

	mutex_lock(&cards_lock);
	card = xa_load(&cards, place / NODES);
	if (card)
		kref_get(&card->users);
	mutex_unlock(&cards_lock);
	if (!card)
		return -ENODEV;
	opened->card = card;
	opened->node = place % NODES;
	mutex_lock(&card->lock);
	error = start_using(card, opened->node);
	mutex_unlock(&card->lock);
	if (error)
		card_put(card);
	return error;
}

/*
 * Mappings hold their file, so none is left. An exclusive owner leaves the card in reset.
 */
void card_close(struct opened *opened)
{
	struct card *card = opened->card;

	mutex_lock(&card->lock);
	card->open--;
	card->open_nodes[opened->node]--;
	if (!card->gone) {
		if (opened->node == NODE_CARD)
			card_halt(card);
		if (!card->open && card->owns_function)
			pci_clear_master(card->pdev);
	}
	mutex_unlock(&card->lock);
	card_put(card);
}

int cards_init(void)
{
	int error = alloc_chrdev_region(&first_node, 0, MINORS, "spinneret");

	if (error)
		return error;
	error = class_register(&card_class);
	if (error)
		goto no_class;
	error = class_register(&pspin_class);
	if (error)
		goto one_class;
	cdev_init(&nodes, &card_fops);
	nodes.owner = THIS_MODULE;
	error = cdev_add(&nodes, first_node, MINORS);
	if (error)
		goto no_nodes;
	return 0;

no_nodes:
	class_unregister(&pspin_class);
one_class:
	class_unregister(&card_class);
no_class:
	unregister_chrdev_region(first_node, MINORS);
	return error;
}

void cards_exit(void)
{
	cdev_del(&nodes);
	class_unregister(&pspin_class);
	class_unregister(&card_class);
	unregister_chrdev_region(first_node, MINORS);
}
