// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The driver of spinneret's NICs, as a PCI function of their own or as the application of Corundum.
 */
#include <linux/module.h>

#include "spinneret.h"

static int __init spinneret_init(void)
{
	int error = cards_init();

	if (error)
		return error;
	error = pci_init();
	if (error)
		goto no_pci;
	error = mqnic_init();
	if (error)
		goto no_mqnic;
	return 0;

no_mqnic:
	pci_exit();
no_pci:
	cards_exit();
	return error;
}

static void __exit spinneret_exit(void)
{
	mqnic_exit();
	pci_exit();
	cards_exit();
}

module_init(spinneret_init);
module_exit(spinneret_exit);

MODULE_DESCRIPTION("spinneret, an sPIN NIC");
MODULE_AUTHOR("The spinneret authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("0.1.0");
