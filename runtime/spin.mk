# Builds a handler: build/$(HANDLER).elf, ready for the NIC, with debug information. A handler's Makefile is
#
#     HANDLER = icmp_ping
#     include PATH/TO/runtime/spin.mk
#
# and without a Makefile `make -f PATH/TO/runtime/spin.mk` does in a folder with one file in C or Fortran.
#
#   HANDLER   name of the program            SRCS       its files in C, or in Fortran (.f90), modules first ($(HANDLER).c)
#   OPT       optimisation (-O3)             CFLAGS     more options for the compiler
#   CLUSTERS  clusters of the NIC (2)        LDFLAGS    more options for the linker
#   PRINTF    double (understands everything) or integer (10 KiB smaller: not %f, not %lld); if it is not set, double
#             is taken if a source seems to need it
#   SPIN_BOARD  alchitry-cu-hpu: for that board (docs/boards/alchitry-cu-hpu.md) instead of for a NIC
#   COUNTERS  queue, or sums: push_counter keeps sums alone, which saves L2 memory and instructions (queue)
#   HPU       any, or pspin: for HPUs of the PULP cluster alone, which saves instructions there (any)
#   SPIN_CACHE  a folder for objects of the runtime that programs with the same options share (none)
#
# The names that Makefiles of public handlers use are understood too: SPIN_APP_NAME, SPIN_APP_SRCS, SPIN_CFLAGS,
# SPIN_LDFLAGS, and the target `deploy`. Such Makefiles include rules/spin-handlers.mk, which sets spin_public: then
# only these names count, because HANDLER, SRCS, CFLAGS and the others may be something else there.

RUNTIME := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# The value of a setting, or else $(2). What the file of a public handler calls so is not meant for us.
spin_setting = $(if $(and $(spin_public),$(filter file,$(origin $(1)))),$(2),$(or $($(1)),$(2)))

ifdef spin_public
spin_name := $(strip $(subst ",,$(SPIN_APP_NAME)))
ifeq ($(spin_name),)
$(error spin-handlers.mk: set SPIN_APP_NAME to the name of the handler before this file is included in $(CURDIR))
endif
spin_srcs := $(SPIN_APP_SRCS)
spin_more_cflags = $(SPIN_CFLAGS) $(if $(filter command,$(origin CFLAGS)),$(CFLAGS))
spin_more_ldflags = $(SPIN_LDFLAGS) $(if $(filter command,$(origin LDFLAGS)),$(LDFLAGS))
else
# A folder with one source says it all.
ifndef HANDLER
spin_sources := $(wildcard *.c *.f90)
HANDLER := $(or $(SPIN_APP_NAME),$(basename $(notdir $(if $(filter 1,$(words $(spin_sources))),$(spin_sources)))))
endif
ifeq ($(strip $(HANDLER)),)
$(error spin.mk: set HANDLER to the name of the handler, because there is not exactly one file in C or Fortran in $(CURDIR))
endif
ifndef SRCS
SRCS := $(or $(SPIN_APP_SRCS),$(wildcard $(HANDLER).f90),$(HANDLER).c)
endif
ifneq ($(filter-out $(wildcard $(SRCS)),$(SRCS)),)
$(error spin.mk: there is no $(filter-out $(wildcard $(SRCS)),$(SRCS)) in $(CURDIR): set SRCS to the sources of $(HANDLER))
endif
spin_name := $(HANDLER)
spin_srcs := $(SRCS)
spin_warnings := -Wall -Wextra
spin_more_cflags = $(SPIN_CFLAGS) $(CFLAGS)
spin_more_ldflags = $(SPIN_LDFLAGS) $(LDFLAGS)
endif

CROSS ?= riscv64-unknown-elf-
ifeq ($(SPIN_BOARD),alchitry-cu-hpu)
# One cluster without multiplication, and small stacks: its spin_map.ld has the same numbers.
CLUSTERS ?= 1
MARCH ?= rv32iac
spin_board_cflags := -DSPIN_AREA_SIZE=0x100 -DSPIN_NO_PACKET_SUM -DSPIN_STACK_ARGS
spin_more_cflags += -Wstack-usage=160
spin_board_ldflags := -L$(RUNTIME)/$(SPIN_BOARD)
else ifdef SPIN_BOARD
$(error spin.mk: SPIN_BOARD is `alchitry-cu-hpu`, or is not set)
endif
CLUSTERS ?= 2
spin_opt := $(call spin_setting,OPT,$(if $(SPIN_BOARD),-Os,-O3))
spin_build := $(call spin_setting,BUILD,build)
# Handlers in Fortran have a module and WRITE of their own.
spin_fortran := $(filter %.f90,$(spin_srcs))
ifneq ($(spin_fortran),)
spin_own_srcs := $(addprefix $(RUNTIME)/fortran/,spin.f90 write.c)
PRINTF ?= double
endif
ifndef PRINTF
PRINTF := $(if $(shell grep -lE '%[-+ \#0-9.*]*(ll|L|j|[aAeEfFgG])|PRI[a-zA-Z]+64' $(spin_srcs) 2>/dev/null),double,integer)
endif

# Looked at when something is compiled, so that targets for the host need no compiler for handlers.
spin_cc := $(CROSS)gcc
spin_check = $(if $(shell command -v $(spin_cc)),,$(error \
    spin.mk: there is no $(spin_cc): install the Debian packages gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf))
spin_check += $(if $(shell $(spin_cc) --specs=picolibc.specs -E -x c /dev/null >/dev/null 2>&1 && echo there),,$(error \
    spin.mk: $(spin_cc) has no picolibc: install the Debian package picolibc-riscv64-unknown-elf))

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
HPU ?= any
ifeq ($(HPU),any)
# HPUs split accesses that are not aligned. The compiler uses them if it takes them to be quick, as for this core.
spin_cflags += -mno-strict-align -mtune=thead-c906
else ifeq ($(HPU),pspin)
spin_cflags += -DSPIN_PSPIN_ONLY
else
$(error spin.mk: HPU is `any` or `pspin`, not `$(HPU)`)
endif
COUNTERS ?= $(if $(SPIN_BOARD),sums,queue)
ifeq ($(COUNTERS),sums)
spin_cflags += -DSPIN_COUNTER_QUEUE=0
else ifneq ($(COUNTERS),queue)
$(error spin.mk: COUNTERS is `queue` or `sums`, not `$(COUNTERS)`)
endif
# Packets are looked at through pointers of all types.
spin_cflags += -fno-strict-aliasing $(spin_warnings) -Wstack-usage=1536 -DNB_CLUSTERS=$(CLUSTERS) -I$(RUNTIME)/include
spin_cflags += $(spin_board_cflags)
spin_ldflags := -march=$(MARCH) $(spin_machine) -nostartfiles $(spin_board_ldflags) -L$(RUNTIME) -T $(RUNTIME)/link.ld -Wl,--gc-sections
# Relocations stay in the file, so that the NIC can have the program beside others, at other addresses.
spin_ldflags += -Wl,--emit-relocs

# Objects lie apart, because a public program is called what its author likes, and lies in $(spin_build) itself.
spin_elf := $(spin_build)/$(spin_name).elf
spin_objects := $(spin_build)/.objects
spin_user_objects := $(patsubst %,$(spin_objects)/%.o,$(subst ../,up/,$(spin_srcs)) $(notdir $(spin_own_srcs)))

# Compiling the runtime takes longer than compiling most handlers. A shared folder is named by all that its objects depend
# on beside their sources: the options and the compiler.
spin_runtime := $(spin_objects)/runtime
ifneq ($(SPIN_CACHE),)
spin_runtime := $(SPIN_CACHE)/$(shell { echo '$(subst ','\'',$(spin_cflags) $(spin_opt))'; \
    stat -Lc '%n %s %Y' "$$(command -v $(spin_cc))"; } 2>/dev/null | sha256sum | cut -c -16)
endif
spin_runtime_objects := $(patsubst $(RUNTIME)/src/%,$(spin_runtime)/%.o,$(wildcard $(RUNTIME)/src/*.[Sc]))

ifndef spin_public
.PHONY: all deploy clean
.DEFAULT_GOAL := all
all deploy: $(spin_elf)
clean:
	@rm -rf $(spin_build)
endif

$(spin_elf): $(spin_runtime_objects) $(spin_user_objects) $(RUNTIME)/link.ld $(RUNTIME)/spin_map.ld $(spin_objects)/settings
	@$(spin_cc) $(spin_opt) $(spin_ldflags) $(filter %.o,$^) $(spin_more_ldflags) -lm \
	    -Wl,-Map=$(spin_build)/$(spin_name).map -o $@
	@$(RUNTIME)/report-size $@

# Other settings than last time: everything is compiled again.
spin_settings = $(CROSS) $(spin_opt) $(spin_cflags) $(spin_ldflags) $(spin_more_cflags) $(spin_more_ldflags) \
    $(if $(spin_fortran),$(FORTRAN) $(spin_fflags))
$(spin_objects)/settings: spin-force
	$(spin_check)
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(spin_settings))' | cmp -s - $@ || echo '$(subst ','\'',$(spin_settings))' >$@
.PHONY: spin-force

# DWARF 5 of assembled text has lengths of sections before the linker shortens them (binutils 2.40): gdb would take handlers
# behind them for a part of it.
# Objects appear whole, after their lists of headers, because others may share them.
$(spin_runtime)/%.o: $(RUNTIME)/src/% $(if $(SPIN_CACHE),|) $(spin_objects)/settings
	@mkdir -p $(@D)
	@$(spin_cc) $(spin_cflags) $(if $(filter %.S,$<),-gdwarf-4) $(spin_opt) -MMD -MP -MT $@ -MF $@.$$$$.d \
	    -c $< -o $@.$$$$ && mv $@.$$$$.d $(@:.o=.d) && mv $@.$$$$ $@

# The folder of a source stands in the path of its object, with `up` for `..`.
define spin_compile
$(spin_objects)/$(subst ../,up/,$(1)).o: $(1) $(spin_objects)/settings
	@mkdir -p $$(@D)
	@$(spin_cc) $(spin_cflags) -I$(dir $(1)) $(spin_opt) $$(spin_more_cflags) -MMD -MP -c $(1) -o $$@
endef
$(foreach source,$(filter-out %.f90,$(spin_srcs)),$(eval $(call spin_compile,$(source))))

# Compilers for Linux on RISC-V compile Fortran for 32 bits as well. Each file may use the modules of those before it.
FORTRAN ?= riscv64-linux-gnu-gfortran
spin_fflags := -march=$(MARCH)_zicsr -mabi=ilp32 -fno-pie -mcmodel=medany -g -frecursive -ffunction-sections -fdata-sections \
    -Wall -Wextra -Wstack-usage=1536 -J$(spin_objects) $(if $(filter any,$(HPU)),-mno-strict-align -mtune=thead-c906)
spin_check += $(if $(spin_fortran),$(if $(shell command -v $(FORTRAN)),,$(error \
    spin.mk: there is no $(FORTRAN): install the Debian package gfortran-riscv64-linux-gnu)))
define spin_compile_fortran
$(spin_objects)/$(2).o: $(1) $(3) $(spin_objects)/settings
	@mkdir -p $$(@D)
	@$(FORTRAN) $(spin_fflags) $(spin_opt) -c $(1) -o $$@
spin_modules += $(spin_objects)/$(2).o
endef
ifneq ($(spin_fortran),)
$(eval $(call spin_compile_fortran,$(RUNTIME)/fortran/spin.f90,spin.f90))
$(foreach source,$(spin_fortran),$(eval $(call spin_compile_fortran,$(source),$(subst ../,up/,$(source)),$$(spin_modules))))
$(spin_objects)/write.c.o: $(RUNTIME)/fortran/write.c $(spin_objects)/settings
	@$(spin_cc) $(spin_cflags) $(spin_opt) -MMD -MP -c $< -o $@
endif

-include $(spin_user_objects:.o=.d) $(spin_runtime_objects:.o=.d)
