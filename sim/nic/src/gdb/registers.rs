//! The registers of an HPU for gdb, and the description of them.
//!
//! Numbers, names and features are those of gdb for RISC-V (its manual, "RISC-V Features"; `riscv-tdep.h`). Without the
//! name of the system, a gdb for Linux steps by breakpoints after the instruction.

use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use spinneret_cluster::Cluster;
use spinneret_cluster::rv::Privilege;
use std::fmt::Write as _;

/// gdb's number of CSR 0.
const FIRST_CSR: u32 = 65;
/// gdb's number of the privilege.
const PRIVILEGE: u32 = 4161;

/// The integer registers and their types.
const INTEGER: [(&str, &str); 32] = [
    ("zero", "int"),
    ("ra", "code_ptr"),
    ("sp", "data_ptr"),
    ("gp", "data_ptr"),
    ("tp", "data_ptr"),
    ("t0", "int"),
    ("t1", "int"),
    ("t2", "int"),
    ("fp", "data_ptr"),
    ("s1", "int"),
    ("a0", "int"),
    ("a1", "int"),
    ("a2", "int"),
    ("a3", "int"),
    ("a4", "int"),
    ("a5", "int"),
    ("a6", "int"),
    ("a7", "int"),
    ("s2", "int"),
    ("s3", "int"),
    ("s4", "int"),
    ("s5", "int"),
    ("s6", "int"),
    ("s7", "int"),
    ("s8", "int"),
    ("s9", "int"),
    ("s10", "int"),
    ("s11", "int"),
    ("t3", "int"),
    ("t4", "int"),
    ("t5", "int"),
    ("t6", "int"),
];

/// CSRs that are shown, all of which the public cores have.
const CSRS: [(&str, u32); 18] = [
    ("mstatus", 0x300),
    ("misa", 0x301),
    ("mie", 0x304),
    ("mtvec", 0x305),
    ("mcountinhibit", 0x320),
    ("mscratch", 0x340),
    ("mepc", 0x341),
    ("mcause", 0x342),
    ("mtval", 0x343),
    ("mip", 0x344),
    ("mcycle", 0xb00),
    ("minstret", 0xb02),
    ("mcycleh", 0xb80),
    ("minstreth", 0xb82),
    ("mvendorid", 0xf11),
    ("marchid", 0xf12),
    ("mimpid", 0xf13),
    ("mhartid", 0xf14),
];

/// `target.xml`.
pub(super) fn description() -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n",
    );
    xml += "<architecture>riscv:rv32</architecture>\n<osabi>none</osabi>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n";
    for (number, (name, kind)) in (0..).zip(INTEGER.iter().chain([&("pc", "code_ptr")])) {
        register(&mut xml, name, 32, kind, number);
    }
    xml += "</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n";
    for (name, number) in CSRS {
        register(&mut xml, name, 32, "int", FIRST_CSR + number);
    }
    xml += "</feature>\n<feature name=\"org.gnu.gdb.riscv.virtual\">\n";
    register(&mut xml, "priv", 8, "int", PRIVILEGE);
    xml += "</feature>\n</target>\n";
    xml
}

fn register(xml: &mut String, name: &str, bits: u32, kind: &str, number: u32) {
    let line = writeln!(
        xml,
        "<reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\" regnum=\"{number}\"/>"
    );
    line.expect("a String takes everything");
}

/// The integer registers of an HPU.
pub(super) fn read_all(cluster: &Cluster, hpu: usize) -> RiscvCoreRegs<u32> {
    let hart = cluster.hart(hpu);
    RiscvCoreRegs {
        x: std::array::from_fn(|register| hart.x(register)),
        pc: hart.pc(),
    }
}

/// Writes them.
pub(super) fn write_all(cluster: &mut Cluster, hpu: usize, registers: &RiscvCoreRegs<u32>) {
    let hart = cluster.hart_mut(hpu);
    for (register, value) in registers.x.iter().enumerate() {
        hart.set_x(register, *value);
    }
    hart.set_pc(registers.pc);
}

/// One register of an HPU as bytes; nothing if there is none.
pub(super) fn read(cluster: &Cluster, hpu: usize, register: RiscvRegId<u32>) -> Option<Vec<u8>> {
    let hart = cluster.hart(hpu);
    let value = match register {
        RiscvRegId::Gpr(number) => hart.x(number.into()),
        RiscvRegId::Pc => hart.pc(),
        RiscvRegId::Csr(number) => hart.csr(number.into(), cluster.now())?,
        RiscvRegId::Priv => {
            // As `mstatus` has it: 0 is user mode, 3 machine mode.
            let is_machine = hart.privilege() == Privilege::Machine;
            return Some(vec![if is_machine { 3 } else { 0 }]);
        }
        _ => return None,
    };
    Some(value.to_le_bytes().to_vec())
}

/// Writes one register of an HPU: whether it can be written.
pub(super) fn write(cluster: &mut Cluster, hpu: usize, register: RiscvRegId<u32>, bytes: &[u8]) -> bool {
    let Ok(value) = bytes.try_into().map(u32::from_le_bytes) else {
        return false;
    };
    let now = cluster.now();
    let hart = cluster.hart_mut(hpu);
    match register {
        RiscvRegId::Gpr(number) => hart.set_x(number.into(), value),
        RiscvRegId::Pc => hart.set_pc(value),
        RiscvRegId::Csr(number) => return hart.set_csr(number.into(), value, now).is_some(),
        _ => return false,
    }
    true
}
