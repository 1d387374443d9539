#!/usr/bin/env python3
"""Builds Corundum's cards with our application block and the public cluster, as far as open tools can.

Writes the overlay of every card with `gen-verilog --board`. Then elaborates the `fpga_core` of one card in Verilator: from
the files of the card's Makefile after the overlay has changed it, with the parameters of its `config.tcl`. Declarations stand
for the vendor's primitives. Both checkouts are only read.

    fpga_core                                 of Corundum, with the parameters of config.tcl
    +-- mqnic_core_pcie_us, ..., mqnic_core   of Corundum
        +-- mqnic_app_block                   ours
            +-- pspin_wrap                    of FPsPIN
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP = "fpga_core"
BLOCK = "mqnic_app_block"
# The card that is elaborated if it can be written.
FIRST = "vcu1525"
# Ports whose widths differ between Corundum's core and its own application block; ours has the widths of the latter.
KNOWN = ("'ptp_sync_ts_rel'", "'ptp_sync_ts_tod'")
SHOWN = 20
# Verilator looks into branches that a parameter rules out, and rejects a part select of no bits in one of them.
WAIVERS = '`verilator_config\nlint_off -rule UNSUPPORTED -file "*/mqnic_rx_queue_map.v"\n'
# The Tcl commands of Vivado: properties are kept and returned, all others do nothing.
VIVADO = """
rename puts spinneret_puts
proc unknown {args} { return "" }
proc puts {args} {}
proc get_ips {args} { return [lindex $args end] }
proc get_filesets {args} { return [lindex $args end] }
proc get_files {args} { return [lindex $args end] }
proc current_fileset {args} { return sources_1 }
array set spinneret_kept {}
proc get_property {name object} {
    set key [string tolower "$object $name"]
    if {[info exists ::spinneret_kept($key)]} { return $::spinneret_kept($key) }
    return ""
}
proc set_property {args} {
    set object [lindex $args end]
    set pairs [lrange $args 0 end-1]
    if {[lindex $pairs 0] eq "-dict"} { set pairs [lindex $pairs 1] }
    foreach {name value} $pairs {
        set ::spinneret_kept([string tolower "$object $name"]) $value
        if {$name eq "generic"} { foreach pair $value { spinneret_puts "parameter $pair" } }
        if {$name eq "SCOPED_TO_CELLS"} { spinneret_puts "scope $value" }
    }
}
"""


class Refused(Exception):
    """A sentence for the user."""


def run(*command, cwd=None):
    command = [str(word) for word in command]
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace")
    except FileNotFoundError:
        raise Refused(f"cannot run {command[0]}: `./dev setup` installs it") from None


def output(*command, cwd=None):
    done = run(*command, cwd=cwd)
    if done.returncode:
        raise Refused(f"{command[0]} fails: {(done.stdout + done.stderr).strip()}")
    return done.stdout


def write_cards(arguments, scratch):
    """Writes each card in the generation that fits. Returns those that can be written, the preferred one first."""
    boards = json.loads(output(arguments.gen, "--list", "--json"))["boards"]
    written = []
    for board in (board["name"] for board in boards if board["corundum_directories"]):
        folder = scratch / board
        trees = ["--corundum-dir", arguments.corundum_dir, "--cluster", "pspin", "--pspin-dir", arguments.fpspin_dir]
        trees += ["--out", folder]
        done = run(arguments.gen, "--board", board, *trees)
        fitting = re.search(r"use `(--corundum) (\S+)`, which fits", done.stderr)
        if fitting:
            done = run(arguments.gen, "--board", board, *fitting.groups(), *trees)
        if done.returncode:
            print(f"{board:8} {done.stderr.strip().removeprefix('gen-verilog: ')}")
        else:
            print(f"{board:8} {sum(path.is_file() for path in folder.rglob('*'))} files")
            written.append(board)
    return sorted(written, key=lambda board: board != FIRST)


def listed(folder, variables):
    """The words of variables of a Makefile, as make sees them."""
    rule = f"--eval=spinneret-list: ; @printf '%s\\n' {variables}"
    return output("make", "--silent", "--no-print-directory", "-C", folder, rule, "spinneret-list").split()


def settings(answers):
    """The parameters, the last value of each, and the path of the application block.

    >>> settings("parameter A=1\\nparameter B=32'h0\\nscope a/b\\nother\\nparameter A=2\\n")
    ({'A': '2', 'B': "32'h0"}, 'a/b')
    """
    parameters = dict(re.findall(r"^parameter (\w+)=(.*)$", answers, re.M))
    return parameters, "".join(re.findall(r"^scope (.*)$", answers, re.M)[-1:])


def declared(text, module):
    """The parameters in the header of a module, one a line.

    >>> declared("module top_2 #(\\n parameter NO=1\\n);\\nendmodule\\nmodule top #\\n(\\n // parameter NO = 1\\n"
    ...          " parameter A = 1,\\n parameter [3:0] B = 2\\n);\\nendmodule\\nmodule z;\\n parameter NO=1;\\n", "top")
    ['A', 'B']
    """
    found = re.search(rf"^module\s+{module}\b(?!\$).*?^endmodule", text, re.M | re.S)
    return re.findall(r"^\s*parameter\s[^=\n]*?(\w+)\s*=", found[0], re.M) if found else []


def instance(text, module):
    """The first and last line of the first instance of a module that has parameters.

    >>> list(instance("// block #(\\nblock_2 #(\\n);\\n block #(\\n .A(1)\\n )\\n inst (\\n .b(c)\\n );\\n);\\n", "block"))
    [4, 5, 6, 7, 8, 9]
    """
    found = re.search(rf"^\s*{module}\s*#.*?^\s*\);\s*$", text, re.M | re.S)
    if not found:
        return range(0)
    first = text.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip())) + 1
    return range(first, first + found[0].strip().count("\n") + 1)


def judge(answers, succeeded, ours, core, lines):
    """Sorts the messages of Verilator into faults, known deviations, and the number of warnings about foreign files.

    All errors are faults. So are all warnings about files of spinneret, those about pins where Corundum's core instantiates the
    application block, and two modules of the same name.

    >>> judge("%Warning-WIDTH: /c/core.v:9:1: Input port connection 'a' expects 1 bit\\n"
    ...       "    9 | .a(b)\\n"
    ...       "%Warning-WIDTHTRUNC: /c/core.v:10:1: Input port connection 'b' expects 1 bit\\n"
    ...       "%Warning-WIDTH: /c/core.v:20:1: Input port connection 'ptp_sync_ts_tod' expects 96 bits\\n"
    ...       "%Warning-PINMISSING: /c/core.v:12:1: Cell has missing pin: 'c'\\n"
    ...       "%Warning-WIDTH: /c/core.v:12:1: Logical operator LOGAND expects 1 bit on the LHS\\n"
    ...       "%Warning-PINMISSING: /p/riscv.sv:12:1: Cell has missing pin: 'x'\\n"
    ...       "%Warning-UNDRIVEN: /t/rtl/a.sv:1:1: Signal is not driven: 'd'\\n"
    ...       "%Warning-UNDRIVEN: /t/lint/a.sv:1:1: Signal is not driven: 'y'\\n"
    ...       "%Warning-MODDUP: /p/a.sv:3:8: Duplicate declaration of module: 'e'\\n",
    ...       True, "/t/rtl/", "/c/core.v", range(10, 21)) # doctest: +NORMALIZE_WHITESPACE
    (["%Warning-WIDTHTRUNC: /c/core.v:10:1: Input port connection 'b' expects 1 bit",
      "%Warning-PINMISSING: /c/core.v:12:1: Cell has missing pin: 'c'",
      "%Warning-UNDRIVEN: /t/rtl/a.sv:1:1: Signal is not driven: 'd'",
      "%Warning-MODDUP: /p/a.sv:3:8: Duplicate declaration of module: 'e'"],
     ["core.v:20: Input port connection 'ptp_sync_ts_tod' expects 96 bits"], 4)
    >>> judge("%Error: /c/core.v:9:1: Can't find definition of module: 'X'\\n%Error: Exiting due to 1 error(s)\\n",
    ...       False, "/t/rtl/", "/c/core.v", range(0))
    (["%Error: /c/core.v:9:1: Can't find definition of module: 'X'"], [], 0)
    >>> judge("%Warning-LATCH: /c/a.v:1:1: Latch\\nKilled\\n\\n", False, "/t/rtl/", "/c/core.v", range(0))
    (['Verilator stops: Killed'], [], 1)
    """
    faults, known, foreign = [], [], 0
    for line in answers.splitlines():
        found = re.match(r"%(Error|Warning)(?:-(\w+))?: (?:(\S+?):(\d+):\d+: )?(.*)", line)
        if not found or found[5].startswith("Exiting due to"):
            continue
        level, code, file, number, text = found.groups(default="")
        at_instance = file == core and int(number) in lines
        width = code.startswith("WIDTH") and "port connection" in text
        if level == "Error":
            faults.append(line)
        elif at_instance and width and any(port in text for port in KNOWN):
            known.append(f"{Path(file).name}:{number}: {text}")
        elif (
            code == "MODDUP"
            or file.startswith(ours)
            or (at_instance and (width or code in ("PINMISSING", "IMPLICIT")))
        ):
            faults.append(line)
        else:
            foreign += 1
    if not succeeded and not faults:
        faults.append(f"Verilator stops: {([''] + answers.strip().splitlines())[-1] or 'no message'}")
    return faults, known, foreign


def text_with(files, wanted):
    """The first file that has a text in it, and the file's whole text."""
    for file in files:
        text = file.read_text(errors="replace")
        if wanted in text:
            return file, text
    raise Refused(f"none of the card's files has `{wanted}`: check out a revision of Corundum that `gen-verilog --board` takes")


def elaborate(card, fpspin, scratch):
    """Elaborates a card that is written to a folder: whether everything connects."""
    output("make", "--silent", "--no-print-directory", "-C", card / "fpga", "overlay")
    folder = card / "fpga" / "".join(listed(card / "fpga", "$(BUILD)"))
    files = [(folder / name).resolve(strict=True) for name in listed(folder, "$(SYN_FILES_REL)")]
    runner = scratch / "run.tcl"
    scripts = listed(folder, "$(IP_TCL_FILES_REL) $(CONFIG_TCL_FILES_REL)")
    runner.write_text(VIVADO + "".join(f"source {{{script}}}\n" for script in scripts))
    parameters, scope = settings(output("yosys", "-q", "-c", runner, cwd=folder))
    if not parameters or "/" not in scope:
        raise Refused(f"config.tcl of {folder} sets no parameters or no path of the application block")

    # The list for simulation has the cluster in an order that Verilator accepts, and the modules of spinneret after it.
    text = (card / "sim/filelist.f").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    cluster = [line for line in lines if line.startswith(("+", "/"))]
    missing = [line for line in cluster if line.startswith("/") and Path(line) not in files]
    if missing:
        raise Refused(f"{folder} does not list {missing[0]}, which the cluster needs: was the overlay's Makefile changed?")
    imports = lines.index("spinneret_cluster_imports.sv")
    packages = sum(line.startswith(("+", "/")) for line in lines[:imports])
    ours = [file for file in files if file.is_relative_to(card)]
    theirs = [file for file in files if file not in ours and not file.is_relative_to(fpspin)]
    core = text_with(theirs, f"module {TOP}")[1]
    holder, holder_text = text_with(theirs, f"{BLOCK} #(")

    # Names a signal of the application block and one of the cluster: an error if they are not where our constraints apply.
    path = scope.split("/", 1)[1].replace("/", ".")
    (scratch / "probe.sv").write_text(
        "module spinneret_probe (input wire [1:0] seen);\nendmodule\n"
        f"bind {TOP} spinneret_probe spinneret_probe_inst (.seen({{{path}.clk, {path}.cluster.clk_i}}));\n"
    )
    (scratch / "waivers.vlt").write_text(WAIVERS)
    known = [name for name in declared(core, TOP) if parameters.get(name)]
    print(
        f"{card.name}: {TOP} with {len(known)} parameters, from {len(theirs)} files of Corundum, {len(ours)} of spinneret, "
        f"{sum(line.startswith('/') for line in cluster)} of FPsPIN",
        flush=True,
    )
    start = time.monotonic()
    done = run(
        "verilator",
        *("--lint-only", "-Wall", "-Wno-fatal", "-Wno-UNUSED", "-Wno-PINCONNECTEMPTY", "-Wno-DECLFILENAME"),
        *("-Wno-IMPORTSTAR", "--timescale-override", "1ps/1ps", "--top-module", TOP, "-DSYNTHESIS"),
        *(f"-G{name}={parameters[name]}" for name in known),
        *(scratch / "waivers.vlt", *cluster[:packages], card / "sim/spinneret_cluster_imports.sv"),
        *(*cluster[packages:], *theirs, *ours),
        *(file for file in sorted((card / "lint").iterdir()) if file.name != "pspin_wrap.sv"),
        *sorted((ROOT / "sim/interop/verilog").glob("*.sv")),
        scratch / "probe.sv",
        cwd=scratch,
    )
    faults, remarks, foreign = judge(
        done.stderr + done.stdout, done.returncode == 0, f"{card}/rtl/", str(holder), instance(holder_text, BLOCK)
    )
    for remark in remarks:
        print(f"  known: {remark}")
    for fault in faults[:SHOWN]:
        print(f"  {fault}")
    result = f"{len(faults)} faults" if faults else "every pin of the application block and of the cluster connects"
    print(f"  {result}, in {time.monotonic() - start:.0f} seconds; {foreign} warnings about files of the checkouts")
    return not faults


def main():
    parser = argparse.ArgumentParser(prog="./dev interop cards", description=__doc__.split("\n")[0])
    parser.add_argument("--fpspin-dir", type=Path, required=True, metavar="DIR", help="checkout of FPsPIN, with the cluster")
    parser.add_argument("--corundum-dir", type=Path, required=True, metavar="DIR", help="checkout of Corundum")
    parser.add_argument("--gen", default=ROOT / "target/debug/gen-verilog", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for option in ("fpspin_dir", "corundum_dir"):
        folder = getattr(arguments, option)
        if not folder.is_dir():
            raise Refused(f"`--{option.replace('_', '-')} {folder}`: there is no such directory")
        setattr(arguments, option, folder.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        # Tools answer with paths without links in them.
        scratch = Path(scratch).resolve()
        cards = write_cards(arguments, scratch)
        return bool(cards) and elaborate(scratch / cards[0], arguments.fpspin_dir, scratch)


if __name__ == "__main__":
    try:
        sys.exit(0 if main() else 1)
    except (Refused, OSError) as error:
        sys.exit(f"interop: {error}")
