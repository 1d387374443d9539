# Makefiles of public handlers include this path below $(PSPIN_RT): set PSPIN_RT to the folder `runtime`.
#
# Targets have one colon or two as in the public rules, because make lets a Makefile add rules to a target only with as
# many. PSPIN_HW, RISCV_GCC and what else belongs to the public simulator and compiler are not looked at. What a Makefile
# may expect beside targets is the program at build/$(SPIN_APP_NAME), and the names below.

ifndef spin_public
spin_public := yes

TARGET_BIN = build/$(SPIN_APP_NAME)
HANDLERS_PREFIX ?= $(SPIN_APP_NAME)
OBJCOPY = $(CROSS)objcopy
OBJDUMP = $(CROSS)objdump

spin_rules := $(dir $(lastword $(MAKEFILE_LIST)))
include $(spin_rules)../spin.mk

spin_program := $(spin_build)/$(spin_name)
$(spin_program): $(spin_elf)
	@cp $< $@

.PHONY: all build deploy runtime runtime-debug
all build deploy:: $(spin_program)
runtime runtime-debug: $(spin_program)

# The public examples have a driver for the public simulator made by `all`. Who does not have that simulator and types
# `make` wants the handler.
.DEFAULT_GOAL = $(if $(and $(filter %gdriver.mk,$(MAKEFILE_LIST)),$(if $(wildcard \
    $(PSPIN_HW)/verilator_model/lib/libpspin.so),,none)),deploy,all)

# The public rules leave `clean` to Makefiles, with as many colons as they like: this one is only for those without.
clea%:
	@$(if $(filter n,$*),rm -rf $(spin_build),echo "make: *** No rule to make target '$@'.  Stop." >&2; exit 2)

spin_simulator := packets trace transcript trace-chrome trace-stdout trace-chrome-stdout info dma simulate \
    simulate-debug stats makenrun
spin_no_simulator = @echo "spin-handlers.mk: $@ is for the public simulator, which is not here: run $(spin_elf) with" \
    "\`spinneret run\` instead" >&2; exit 1
.PHONY: $(spin_simulator) patch install
$(spin_simulator)::
	$(spin_no_simulator)
patch install:
	$(spin_no_simulator)
endif
