# Makefiles of public handlers include this path below $(PSPIN_RT): set PSPIN_RT to the folder `runtime`.
include $(dir $(lastword $(MAKEFILE_LIST)))../spin.mk
