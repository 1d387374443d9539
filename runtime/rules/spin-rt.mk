# The public rules have the compiler's part in this file: a Makefile that includes it alone gets everything.
include $(dir $(lastword $(MAKEFILE_LIST)))spin-handlers.mk
