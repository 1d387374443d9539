# Builds a handler: build/$(HANDLER).elf, ready for the NIC, with debug information. A handler's Makefile is
#
#     HANDLER = icmp_ping
#     include PATH/TO/runtime/spin.mk
#
# and without a Makefile `make -f PATH/TO/runtime/spin.mk` does in a folder with one C file.
#
#   HANDLER   name of the program            SRCS       its C files ($(HANDLER).c)
#   OPT       optimisation (-O3)             CFLAGS     more options for the compiler
#   CLUSTERS  clusters of the NIC (2)        LDFLAGS    more options for the linker
#   PRINTF    double (understands everything) or integer (10 KiB smaller: not %f, not %lld); if it is not set, double
#             is taken if a source seems to need it
#
# The names that Makefiles of public handlers use are understood too: SPIN_APP_NAME, SPIN_APP_SRCS, SPIN_CFLAGS,
# SPIN_LDFLAGS, and the target `deploy`.

RUNTIME := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# A folder with one C file says it all.
ifndef HANDLER
HANDLER := $(or $(SPIN_APP_NAME),$(basename $(notdir $(if $(filter 1,$(words $(wildcard *.c))),$(wildcard *.c)))))
endif
ifeq ($(strip $(HANDLER)),)
$(error spin.mk: set HANDLER to the name of the handler, because there is not exactly one C file in $(CURDIR))
endif
ifndef SRCS
SRCS := $(or $(SPIN_APP_SRCS),$(HANDLER).c)
endif
ifneq ($(filter-out $(wildcard $(SRCS)),$(SRCS)),)
$(error spin.mk: there is no $(filter-out $(wildcard $(SRCS)),$(SRCS)) in $(CURDIR): set SRCS to the C files of $(HANDLER))
endif

CROSS ?= riscv64-unknown-elf-
OPT ?= -O3
CLUSTERS ?= 2
BUILD ?= build
ifndef PRINTF
PRINTF := $(if $(shell grep -lE '%[-+ \#0-9.*]*(ll|L|j|[aAeEfFgG])|PRI[a-zA-Z]+64' $(SRCS) 2>/dev/null),double,integer)
endif

spin_cc := $(CROSS)gcc
ifeq ($(shell command -v $(spin_cc)),)
$(error spin.mk: there is no $(spin_cc): install the Debian packages gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf)
endif
ifeq ($(shell $(spin_cc) --specs=picolibc.specs -E -x c /dev/null >/dev/null 2>&1 && echo there),)
$(error spin.mk: $(spin_cc) has no picolibc: install the Debian package picolibc-riscv64-unknown-elf)
endif

ifeq ($(PRINTF),integer)
spin_printf := -DPICOLIBC_INTEGER_PRINTF_SCANF
else ifeq ($(PRINTF),double)
spin_printf := -DPICOLIBC_DOUBLE_PRINTF_SCANF
else
$(error spin.mk: PRINTF is `integer` or `double`, not `$(PRINTF)`)
endif

# The compiler is told of zicsr, because handlers read the cycle counter; the C library is chosen without it.
MARCH ?= rv32imac
spin_machine := -mabi=ilp32 --specs=picolibc.specs $(spin_printf)
spin_cflags := -march=$(MARCH)_zicsr $(spin_machine) -std=gnu11 -g -ffunction-sections -fdata-sections -fno-common
# Packets are looked at through pointers of all types.
spin_cflags += -fno-strict-aliasing -Wall -Wextra -Wstack-usage=1536 -DNB_CLUSTERS=$(CLUSTERS) -I$(RUNTIME)/include
spin_ldflags := -march=$(MARCH) $(spin_machine) -nostartfiles -T $(RUNTIME)/link.ld -Wl,--gc-sections

spin_elf := $(BUILD)/$(HANDLER).elf
spin_user_objects := $(patsubst %,$(BUILD)/%.o,$(subst ../,up/,$(SRCS)))
spin_runtime_objects := $(patsubst %,$(BUILD)/runtime/%.o,start.S start.c libc.c)

.PHONY: all deploy clean
.DEFAULT_GOAL := all
all: $(spin_elf)
deploy: all

$(spin_elf): $(spin_runtime_objects) $(spin_user_objects) $(RUNTIME)/link.ld $(BUILD)/settings
	@$(spin_cc) $(OPT) $(spin_ldflags) $(filter %.o,$^) $(SPIN_LDFLAGS) $(LDFLAGS) -lm -Wl,-Map=$(BUILD)/$(HANDLER).map -o $@
	@$(RUNTIME)/report-size $@

# Other settings than last time: everything is compiled again.
spin_settings := $(CROSS) $(OPT) $(spin_cflags) $(SPIN_CFLAGS) $(CFLAGS) $(spin_ldflags) $(SPIN_LDFLAGS) $(LDFLAGS)
$(BUILD)/settings: spin-force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(spin_settings))' | cmp -s - $@ || echo '$(subst ','\'',$(spin_settings))' >$@
.PHONY: spin-force

$(BUILD)/runtime/%.o: $(RUNTIME)/src/% $(BUILD)/settings
	@mkdir -p $(@D)
	@$(spin_cc) $(spin_cflags) $(OPT) -MMD -MP -c $< -o $@

# The folder of a source stands in the path of its object, with `up` for `..`.
define spin_compile
$(BUILD)/$(subst ../,up/,$(1)).o: $(1) $(BUILD)/settings
	@mkdir -p $$(@D)
	@$(spin_cc) $(spin_cflags) -I$(dir $(1)) $(OPT) $(SPIN_CFLAGS) $(CFLAGS) -MMD -MP -c $(1) -o $$@
endef
$(foreach source,$(SRCS),$(eval $(call spin_compile,$(source))))

clean:
	@rm -rf $(BUILD)

-include $(spin_user_objects:.o=.d) $(spin_runtime_objects:.o=.d)
