//! The directory in which Corundum's own Makefiles build the design, without a change in the user's checkout.
//!
//! ```text
//!  OUT/fpga/Makefile        links everything of CORUNDUM/fpga into OUT/fpga, then builds in ...
//!  OUT/fpga/mqnic/.../fpga_BOARD_spinneret/
//!      Makefile             the board's own, with one line added that includes ...
//!  OUT/fpga/spinneret.mk    our sources and constraints, and ...
//!  OUT/fpga/config.tcl      the board's own configuration, with our values of the application block's parameters
//!  OUT/fpga/reference_*.tcl what Vivado does before it places and after it has routed, with OUT/fpga/reference.dcp
//! ```

use super::checkout::{Checkout, INCLUDE, PARAMETERS};
use super::pspin::{DEFINES, Pspin};
use super::regions::{HOOKS, Hook, REGIONS, hooks};
use super::{APP_BLOCK, OVERLAY, base_name};
use crate::render::{File, HASH_HEADER};

/// Inputs of the overlay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlay<'a> {
    /// The tree that is built.
    pub(super) corundum: &'a Checkout,
    /// The cluster, if it is the real one.
    pub(super) pspin: Option<&'a Pspin>,
    /// Paths of our sources below the output directory.
    pub(super) sources: &'a [String],
    /// Paths of our constraints below the output directory.
    pub(super) constraints: &'a [String],
    /// The clusters have placement regions.
    pub(super) has_regions: bool,
}

impl Overlay<'_> {
    /// The files of the overlay.
    pub(super) fn files(self) -> Vec<File> {
        let file = |name: &str, text| File {
            name: format!("{OVERLAY}/{name}"),
            text,
        };
        let own = [
            file("Makefile", self.makefile()),
            file("spinneret.mk", self.additions()),
            file("config.tcl", self.configuration()),
        ];
        own.into_iter().chain(hooks()).collect()
    }

    /// The boards' directory and the name of the board's own, both below `fpga/`.
    fn split_board(&self) -> (&str, &str) {
        let board = &self.corundum.board;
        board.rsplit_once('/').unwrap_or((".", board))
    }

    fn makefile(self) -> String {
        let (family, name) = self.split_board();
        let up = vec![".."; family.split('/').count() + 1].join("/");
        let root = self.corundum.root.display();
        format!(
            "{HASH_HEADER}
# Builds the bitstream with Corundum's Makefiles and Vivado. The checkout is only read: everything of it that the build
# needs is linked into this directory, and what is built is below $(BUILD).
CORUNDUM := {root}
THEIRS := $(abspath $(CORUNDUM))/fpga
FAMILY := {family}
BOARD := {name}
BUILD := $(FAMILY)/$(BOARD)_spinneret

.PHONY: all overlay clean
all: overlay
\t$(MAKE) -C $(BUILD)

# Links that exist are replaced, so that another CORUNDUM=... takes effect. The Makefile is only touched when it changes,
# as the project is made anew then.
overlay:
\t@test -f $(THEIRS)/$(FAMILY)/$(BOARD)/Makefile || \\
\t\t{{ echo \"there is no $(THEIRS)/$(FAMILY)/$(BOARD)/Makefile: set CORUNDUM\" >&2; exit 1; }}
\t@mkdir -p $(BUILD)
\t@for entry in $(THEIRS)/*; do \\
\t\tcase $${{entry##*/}} in mqnic | Makefile) ;; *) ln -sfn $$entry $${{entry##*/}} || exit 1 ;; esac; done
\t@for entry in $(THEIRS)/$(FAMILY)/*; do \\
\t\tln -sfn $$entry $(FAMILY)/$${{entry##*/}} || exit 1; done
\t@sed 's|^{pattern}|include {up}/spinneret.mk\\n&|' $(FAMILY)/$(BOARD)/Makefile > $(BUILD)/Makefile.new
\t@cmp -s $(BUILD)/Makefile.new $(BUILD)/Makefile || cp $(BUILD)/Makefile.new $(BUILD)/Makefile

clean:
\trm -rf $(BUILD)
",
            pattern = INCLUDE.replace('.', "\\."),
        )
    }

    fn additions(self) -> String {
        let (family, _) = self.split_board();
        let up = vec![".."; family.split('/').count() + 1].join("/");
        let mut text = format!(
            "{HASH_HEADER}
# What spinneret adds to the build of a board. It is included by the board's Makefile, before the common rules.
SPINNERET := $(abspath {up}/..)

# The application block replaces the one that is there, if the board's design has one.
SYN_FILES := $(filter-out app/% %/mqnic_app_block.v,$(SYN_FILES))
"
        );
        for source in self.sources {
            text.push_str(&format!("SYN_FILES += $(SPINNERET)/{source}\n"));
        }
        if let Some(pspin) = self.pspin {
            text.push_str(&format!(
                "\n# The cluster, in the order of its own list.\nPSPIN := {}\n",
                pspin.root.display()
            ));
            for source in &pspin.sources {
                text.push_str(&format!("SYN_FILES += $(PSPIN)/{source}\n"));
            }
        }
        text.push('\n');
        for constraint in self.constraints {
            text.push_str(&format!("XDC_FILES += $(SPINNERET)/{constraint}\n"));
        }
        if self.has_regions {
            text.push_str(&format!("XDC_FILES += $(SPINNERET)/{REGIONS}\n"));
        }
        text.push_str("\nCONFIG_TCL_FILES = $(SPINNERET)/fpga/config.tcl\n");
        text
    }

    fn configuration(self) -> String {
        let mut text = format!(
            "{HASH_HEADER}
# The board's own configuration with the parameters of the application block replaced. Vivado reads this instead of it.
set spinneret_config [file join [file dirname [info script]] {board}/config.tcl]
set spinneret_channel [open $spinneret_config]
set spinneret_text [read $spinneret_channel]
close $spinneret_channel
foreach {{spinneret_name spinneret_value}} {{
",
            board = self.corundum.board
        );
        for (name, value) in PARAMETERS {
            text.push_str(&format!("    {name} {value}\n"));
        }
        text.push_str(
            "} {
    set spinneret_line \"dict set params $spinneret_name \\\"$spinneret_value\\\"\"
    set spinneret_count [regsub -all -line \"^dict set params $spinneret_name .*\\$\" $spinneret_text \\
        $spinneret_line spinneret_text]
    if {$spinneret_count != 1} {
        error \"$spinneret_config sets $spinneret_name $spinneret_count times, not once\"
    }
}

# It asks git for the hash and the tag of the firmware, which are those of the checkout and not of what this directory is in.
set spinneret_folder [pwd]
cd [file dirname [file normalize $spinneret_config]]
set spinneret_failed [catch {eval $spinneret_text} spinneret_message spinneret_options]
cd $spinneret_folder
if {$spinneret_failed} {
    return -options $spinneret_options $spinneret_message
}
",
        );
        text.push_str("\n# Paths in our constraints begin in the application block, and name registers as they are after synthesis.\n");
        for constraint in self.constraints {
            let name = base_name(constraint);
            for (property, value) in [
                ("SCOPED_TO_CELLS", APP_BLOCK),
                ("USED_IN_SYNTHESIS", "false"),
                ("PROCESSING_ORDER", "LATE"),
            ] {
                text.push_str(&format!(
                    "set_property {property} {{{value}}} [get_files */{name}]\n"
                ));
            }
        }
        if self.has_regions {
            text.push_str(&format!(
                "\n# Regions name cells as they are after synthesis, from the top.\n\
                 set_property USED_IN_SYNTHESIS {{false}} [get_files */{name}]\n",
                name = base_name(REGIONS)
            ));
        }
        text.push_str("\n# Incremental implementation: the reference is read and kept by these scripts.\n");
        for Hook { step, name, .. } in HOOKS {
            text.push_str(&format!(
                "set_property {step} [file normalize [file join [file dirname [info script]] {name}]] [get_runs impl_1]\n"
            ));
        }
        if let Some(pspin) = self.pspin {
            text.push_str(
                "\n# Include files and definitions of the cluster.\nset_property include_dirs [list \\\n",
            );
            for folder in &pspin.includes {
                text.push_str(&format!("    {}/{folder} \\\n", pspin.root.display()));
            }
            text.push_str("] [get_filesets sources_1]\n");
            text.push_str(&format!(
                "set_property verilog_define {{{}}} [get_filesets sources_1]\n",
                DEFINES.join(" ")
            ));
        }
        text
    }
}
