// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * In place of the public driver mqnic: what it does for drivers of applications, and nothing else. It
 * has the function, and makes the auxiliary device of the application.
 */
#include <linux/auxiliary_bus.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

static void forget(struct device *dev)
{
	kfree(to_auxiliary_dev(dev));
}

static int stand_in_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct auxiliary_device *adev;
	int error = pcim_enable_device(pdev);

	if (!error)
		error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	adev = kzalloc(sizeof(*adev), GFP_KERNEL);
	if (!adev)
		return -ENOMEM;
	adev->name = "app_12340100";
	adev->dev.parent = &pdev->dev;
	adev->dev.release = forget;
	error = auxiliary_device_init(adev);
	if (error) {
		kfree(adev);
		return error;
	}
	pci_set_master(pdev);
	pci_set_drvdata(pdev, adev);
	error = auxiliary_device_add(adev);
	if (error)
		auxiliary_device_uninit(adev);
	return error;
}

static void stand_in_remove(struct pci_dev *pdev)
{
	struct auxiliary_device *adev = pci_get_drvdata(pdev);

	auxiliary_device_delete(adev);
	auxiliary_device_uninit(adev);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(0x1234, 0x1001) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver stand_in = {
	.name = "mqnic",
	.id_table = ids,
	.probe = stand_in_probe,
	.remove = stand_in_remove,
};
module_pci_driver(stand_in);

MODULE_DESCRIPTION("Stand-in for mqnic");
MODULE_AUTHOR("The spinneret authors");
MODULE_LICENSE("Dual MIT/GPL");
