// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A NIC that is the application of Corundum: the function is the driver mqnic's, which makes an
 * auxiliary device for us. Nothing of mqnic is needed but its parent, the PCI device, whose BAR 2
 * is the application's.
 */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>

#include "spinneret.h"

#define APPLICATION_BAR 2

static int mqnic_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct device *parent = adev->dev.parent;
	struct pci_dev *pdev;
	struct card *card;
	u8 __iomem *bar;
	int error;

	if (!parent || !dev_is_pci(parent))
		return -ENODEV;
	pdev = to_pci_dev(parent);
	if (pci_resource_len(pdev, APPLICATION_BAR) < SPINNERET_BAR_SIZE)
		return -ENODEV;
	bar = pci_iomap(pdev, APPLICATION_BAR, SPINNERET_BAR_SIZE);
	if (!bar)
		return -ENOMEM;
	card = card_add(&adev->dev, pdev, bar, false);
	if (IS_ERR(card)) {
		error = PTR_ERR(card);
		goto unmap;
	}
	error = card_publish(card);
	if (error)
		goto put;
	auxiliary_set_drvdata(adev, card);
	return 0;

put:
	card_put(card);
unmap:
	pci_iounmap(pdev, bar);
	return error;
}

static void mqnic_remove(struct auxiliary_device *adev)
{
	struct card *card = auxiliary_get_drvdata(adev);
	struct pci_dev *pdev = to_pci_dev(adev->dev.parent);
	u8 __iomem *bar = card->bar;

	card_remove(card);
	card_put(card);
	pci_iounmap(pdev, bar);
}

static const struct auxiliary_device_id ids[] = {
	{ .name = "mqnic.app_12340100" },
	{ }
};
MODULE_DEVICE_TABLE(auxiliary, ids);

static struct auxiliary_driver driver = {
	.name = "pspin",
	.id_table = ids,
	.probe = mqnic_probe,
	.remove = mqnic_remove,
};

int mqnic_init(void)
{
	return auxiliary_driver_register(&driver);
}

void mqnic_exit(void)
{
	auxiliary_driver_unregister(&driver);
}
