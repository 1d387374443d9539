//! Functions of a program in C by their prototypes: the example of `docs/host/services.md`, called by the handlers of `tally`.

use crate::kit::{Served, library, ok, root, runtime, spinneret, stderr, succeeds};
use std::fs::{self, read_to_string};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program that offers the functions until handlers have reported three packets.
const PROGRAM: &str = "#include \"tally.h\"
#include <stdio.h>
#include <stdlib.h>

static void check(const char *call, int result) {
    if (result < 0) {
        fprintf(stderr, \"%s: %s\\n\", call, spinneret_error_message());
        exit(1);
    }
}

/* NIC, ELF file */
int main(int count, char **words) {
    (void)count;
    spinneret_nic *nic;
    spinneret_program *program;
    spinneret_context *context;
    static uint64_t sums[1 << 16];
    uint64_t calls;
    spinneret_ruleset nothing = {.join = SPINNERET_ALL, .count = 1,
                                 .rules = {spinneret_rule_udp_destination_port(1, 1)}};
    spinneret_ruleset ipv4 = {.join = SPINNERET_ALL, .count = 1, .rules = {spinneret_rule_ipv4()}};
    spinneret_function wrong = {\"1 tally_add\", 1, NULL};
    check(\"open\", spinneret_open(words[1], &nic));
    check(\"program\", spinneret_program_open(words[2], &program));
    check(\"context\", spinneret_open_context(nic, program, \"tally\", &nothing, NULL, &context));
    if (spinneret_services_offer_functions(context, NULL, 1, NULL) != SPINNERET_ERROR_ARGUMENT ||
        spinneret_services_offer_functions(context, &wrong, 1, NULL) != SPINNERET_ERROR_ARGUMENT)
        return 2;
    check(\"offer\", offer(context, sums));
    if (spinneret_offer_tally(context, sums) != SPINNERET_ERROR_ARGUMENT)
        return 3;
    check(\"rules\", spinneret_set_rules(context, &ipv4));
    for (int look = 0; look < 1000 && *(volatile uint64_t *)&sums[7000] < 300; look++)
        check(\"wait\", spinneret_wait(nic, 100000));
    check(\"close\", spinneret_services_close(context, &calls));
    check(\"close\", spinneret_close(nic));
    printf(\"%d\\n\", sums[7000] >= 300 && sums[7000] == 100 * calls);
    return 0;
}
";

/// The blocks of C on the page.
fn example() -> [String; 2] {
    let page = ok(read_to_string(root().join("docs/host/services.md")));
    let (_, section) = page.split_once("## Functions in C\n").expect("the page has it");
    let mut blocks = section.split("```c\n").skip(1);
    [(); 2].map(|()| {
        let block = blocks.next().and_then(|rest| rest.split("```").next());
        block.expect("the page shows C").to_owned()
    })
}

/// Generates both files from a header, and compiles the program.
fn program(folder: &Path, header: &str) -> PathBuf {
    let path = |name: &str| folder.join(name);
    let [_, functions] = example();
    let includes = "#include \"tally.h\"\n";
    ok(fs::write(path("tally.h"), header));
    ok(fs::write(
        path("program.c"),
        PROGRAM.replacen(includes, &format!("{includes}{functions}"), 1),
    ));
    let mut command = spinneret();
    command.arg("service").arg(path("tally.h"));
    command.arg("--handler").arg(path("stubs.h"));
    succeeds(command.arg("--host").arg(path("offer.c")));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o"]);
    compiler
        .arg(path("program"))
        .arg(path("program.c"))
        .arg(path("offer.c"));
    compiler.arg("-I").arg(root().join("host/include"));
    succeeds(compiler.arg(library()).args(["-lpthread", "-ldl", "-lm"]));
    path("program")
}

fn run(program: &Path) -> Output {
    let elf = ok(spinneret_nic::run::program(&runtime("examples/tally"), 2));
    let server = Served::start(&[], &["--generate", "udp,dport=7000,size=100,rate=10Mbps"]);
    ok(Command::new(program).arg(server.name()).arg(&elf).output())
}

#[test]
fn handlers_call_a_function_in_c_by_its_prototype() {
    let folder = ok(tempfile::tempdir());
    let [header, _] = example();
    let program = program(folder.path(), &header);
    // The stubs are those of the trait in Rust, with which the example was built.
    let stubs = ok(read_to_string(folder.path().join("stubs.h")));
    let own = ok(read_to_string(runtime("examples/tally").join("tally.h")));
    let origin = "the trait `Tally` by spinneret_rpc::service";
    assert_eq!(stubs, own.replace(origin, "tally.h by `spinneret service`"));
    let output = run(&program);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
}

#[test]
fn handlers_with_stubs_of_another_version_are_refused() {
    let folder = ok(tempfile::tempdir());
    let [header, _] = example();
    let renamed = header.replace("uint32_t bytes", "uint32_t octets");
    assert_ne!(renamed, header);
    let output = run(&program(folder.path(), &renamed));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let wanted = "calls `tally_add` as another version than the one that is offered";
    assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
}
