"""Reads SystemVerilog with slang; exits with 1 if it warns. Arguments: the files. `tools/slang.sh` installs slang."""

import sys

from pyslang import driver

# Warnings that are on, and those of them that are waived.
WARNINGS = [
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    # A parameter gives the width of the cast or of the signal, so the cast is needed with another value.
    "-Wno-useless-cast",
    # A product of signed words is assigned to a word of its width.
    "-Wno-sign-conversion",
]


def main() -> int:
    slang = driver.Driver()
    slang.addStandardArgs()
    command = ["slang", "--error-limit", "0", *WARNINGS, "-Werror", *sys.argv[1:]]
    ready = slang.parseCommandLine(" ".join(command), driver.CommandLineOptions())
    if not (ready and slang.processOptions() and slang.parseAllSources()):
        return 2
    compilation = slang.createCompilation()
    slang.reportCompilation(compilation, True)
    slang.runAnalysis(compilation)
    return 0 if slang.reportDiagnostics(True) else 1


sys.exit(main())
