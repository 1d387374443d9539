// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A NIC that has a PCI function to itself: the application BAR, and a vector of MSI-X for each line
 * of events.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "spinneret.h"

/*
 * Clears before the waiting file checks, so that an event after its check interrupts again.
 */
static irqreturn_t handle(int irq, void *data)
{
	struct line *line = data;

	reg_set(line->card, SPINNERET_EVENTS_PENDING_OFFSET, BIT(line->number));
	card_event(line);
	return IRQ_HANDLED;
}

static void free_interrupts(struct card *card, unsigned int lines)
{
	while (lines-- > 0)
		pci_free_irq(card->pdev, lines, &card->lines[lines]);
	pci_free_irq_vectors(card->pdev);
}

/* Without interrupts the card works as well. */
static void add_interrupts(struct card *card)
{
	unsigned int line;

	if (!card->has_events || pci_alloc_irq_vectors(card->pdev, LINES, LINES, PCI_IRQ_MSIX) != LINES)
		return;
	for (line = 0; line < LINES; line++) {
		if (pci_request_irq(card->pdev, line, handle, NULL, &card->lines[line], "spinneret:%u", line)) {
			free_interrupts(card, line);
			return;
		}
	}
	card->has_interrupts = true;
}

static int spinneret_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct card *card;
	int error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	if (pci_resource_len(pdev, SPINNERET_PCI_APPLICATION_BAR) < SPINNERET_BAR_SIZE)
		return -ENODEV;
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	error = pcim_iomap_regions(pdev, BIT(SPINNERET_PCI_APPLICATION_BAR), "spinneret");
	if (error)
		return error;
	card = card_add(&pdev->dev, pdev, pcim_iomap_table(pdev)[SPINNERET_PCI_APPLICATION_BAR], true);
	if (IS_ERR(card))
		return PTR_ERR(card);
	add_interrupts(card);
	error = card_publish(card);
	if (error) {
		if (card->has_interrupts)
			free_interrupts(card, LINES);
		card_put(card);
		return error;
	}
	pci_set_drvdata(pdev, card);
	return 0;
}

static void spinneret_remove(struct pci_dev *pdev)
{
	struct card *card = pci_get_drvdata(pdev);

	card_remove(card);
	if (card->has_interrupts)
		free_interrupts(card, LINES);
	card_put(card);
}

/* The card is not accessed during a reset. */
static void before_reset(struct pci_dev *pdev)
{
	struct card *card = pci_get_drvdata(pdev);

	mutex_lock(&card->lock);
	card_halt(card);
}

/*
 * Programs find the card as after power-up, but the host memory of their contexts is still theirs.
 */
static void after_reset(struct pci_dev *pdev)
{
	struct card *card = pci_get_drvdata(pdev);
	unsigned int line;

	card_prepare(card);
	mutex_unlock(&card->lock);
	for (line = 0; line < LINES; line++)
		card_event(&card->lines[line]);
}

static const struct pci_error_handlers error_handlers = {
	.reset_prepare = before_reset,
	.reset_done = after_reset,
};

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(SPINNERET_PCI_VENDOR, SPINNERET_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = "spinneret",
	.id_table = ids,
	.probe = spinneret_probe,
	.remove = spinneret_remove,
	.err_handler = &error_handlers,
};

int pci_init(void)
{
	return pci_register_driver(&driver);
}

void pci_exit(void)
{
	pci_unregister_driver(&driver);
}
