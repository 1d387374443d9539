//! The public tests of RISC-V, from checkouts of the user: riscv-tests, which check themselves, and riscv-arch-test, which
//! leave a signature.

use super::machine::{End, PROGRAM_END, Program};
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of riscv-tests.
const ISA: [&str; 5] = ["rv32ui", "rv32um", "rv32ua", "rv32uc", "rv32mi"];
/// Folders of riscv-arch-test; no version has all of them.
const ARCH: [&str; 7] = ["I", "M", "A", "C", "Zicsr", "Zifencei", "privilege"];
/// Extensions of the pipeline.
const EXTENSIONS: [&str; 7] = ["I", "M", "A", "C", "Zicsr", "Zifencei", "Zca"];
/// Conditions of cases that are not for us: harts without C, harts without misaligned accesses.
const NOT_OURS: [&str; 2] = ["[^C]", "hw_data_misaligned_support:=False"];

/// The check that a test has passed.
#[derive(Clone, Debug)]
enum Check {
    /// The test itself.
    Itself,
    /// Its signature, and the one of the checkout if that has it.
    Signature(Option<Vec<u32>>),
}

/// A test of a checkout.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its part of the checkout.
    pub suite: String,
    /// Its name there.
    pub name: String,
    /// Why it cannot pass here.
    pub unfit: Option<String>,
    source: PathBuf,
    options: Vec<OsString>,
    check: Check,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.suite, self.name)
    }
}

/// All tests of a checkout.
///
/// # Errors
/// If it is none.
pub fn tests(checkout: &Path) -> Result<Vec<Test>> {
    let (isa, arch) = (checkout.join("isa"), checkout.join("riscv-test-suite/rv32i_m"));
    if isa.join(ISA[0]).is_dir() {
        ensure!(
            checkout.join("env/p/riscv_test.h").is_file(),
            "{0} lacks its submodule: git -C {0} submodule update --init env",
            checkout.display()
        );
        return collect(&isa, &ISA, "", isa_test);
    }
    if arch.join(ARCH[0]).is_dir() {
        return collect(&arch, &ARCH, "src", arch_test);
    }
    bail!(
        "{} is neither a checkout of riscv-tests (git clone --recursive https://github.com/riscv-software-src/riscv-tests) \
         nor one of riscv-arch-test (git clone --branch 3.9.1 https://github.com/riscv-non-isa/riscv-arch-test)",
        checkout.display()
    )
}

fn collect(
    root: &Path,
    suites: &[&str],
    below: &str,
    test: fn(&Path, Test) -> Result<Test>,
) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for suite in suites {
        let folder = root.join(suite);
        let sources = folder.join(below);
        if !sources.is_dir() {
            continue;
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))? {
            names.push(entry?.path());
        }
        names.retain(|path| path.extension().is_some_and(|extension| extension == "S"));
        names.sort();
        for source in names {
            let name = source
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let plain = Test {
                suite: (*suite).to_owned(),
                name,
                unfit: None,
                source,
                options: Vec::new(),
                check: Check::Itself,
            };
            tests.push(test(&folder, plain)?);
        }
    }
    Ok(tests)
}

/// Why a test of `fence.i` is not for us.
const PATCHES: &str = "it writes its own code, and program memory is the host's to write";
/// Tests of riscv-tests that are not for us.
const UNFIT: [(&str, &str); 5] = [
    ("fence_i", PATCHES),
    ("breakpoint", "it needs triggers"),
    (
        "instret_overflow",
        "it writes `minstret`, which is for reading only",
    ),
    ("mcsr", "it is for hart 0 alone"),
    ("pmpaddr", "it needs registers of physical memory protection"),
];

fn isa_test(folder: &Path, test: Test) -> Result<Test> {
    let checkout = folder.join("../..");
    let include = |folder: &str| ["-I".into(), checkout.join(folder).into_os_string()];
    let unfit = UNFIT.iter().find(|(name, _)| *name == test.name);
    Ok(Test {
        unfit: unfit.map(|(_, reason)| (*reason).to_owned()),
        options: [include("env/p"), include("isa/macros/scalar")].concat(),
        ..test
    })
}

fn arch_test(folder: &Path, test: Test) -> Result<Test> {
    let text =
        fs::read_to_string(&test.source).with_context(|| format!("cannot read {}", test.source.display()))?;
    let quoted = |macro_: &str| {
        let after = text.split(macro_).skip(1);
        after
            .filter_map(|rest| rest.split('"').nth(1))
            .collect::<Vec<_>>()
    };
    let isa = quoted("RVTEST_ISA(").first().copied().unwrap_or("RV32I");
    let lacks = extensions(isa).find(|name| !EXTENSIONS.contains(name));
    let mut cases = quoted("RVTEST_CASE(");
    cases.retain(|case| !NOT_OURS.iter().any(|condition| case.contains(condition)));
    let unfit = if let Some(name) = lacks {
        Some(format!("it needs {name}"))
    } else if test.suite == "Zifencei" {
        Some(PATCHES.to_owned())
    } else if cases.is_empty() {
        Some("it is for harts that have not C, or no misaligned accesses".to_owned())
    } else {
        None
    };
    let defines = cases.iter().flat_map(|case| case.split(';'));
    let defines = defines.filter_map(|part| part.trim().strip_prefix("def "));
    let mut options: Vec<OsString> = defines.map(|define| format!("-D{define}").into()).collect();
    // The length of instructions is part of some signatures.
    let letters = isa.split('_').next().unwrap_or_default().to_lowercase();
    options.push(format!("-Wa,-march={letters}_zicsr").into());
    options.push("-DXLEN=32".into());
    options.push("-I".into());
    options.push(folder.join("../../env").into());
    let reference = folder
        .join("references")
        .join(format!("{}.reference_output", test.name));
    let reference = match fs::read_to_string(&reference) {
        // That of such tests is of a hart that traps.
        Ok(_) if text.contains(NOT_OURS[1]) => None,
        Ok(text) => {
            let words = text.split_whitespace().map(|word| u32::from_str_radix(word, 16));
            Some(
                words
                    .collect::<Result<_, _>>()
                    .with_context(|| format!("{} has no words", reference.display()))?,
            )
        }
        Err(_) => None,
    };
    Ok(Test {
        unfit,
        options,
        check: Check::Signature(reference),
        ..test
    })
}

/// The extensions in a name such as `RV32IM_Zicsr`.
fn extensions(isa: &str) -> impl Iterator<Item = &str> {
    let mut parts = isa.trim_start_matches("RV32").split('_');
    let letters = parts.next().unwrap_or_default();
    let letters = (0..letters.len()).filter_map(move |at| letters.get(at..=at));
    letters.chain(parts)
}

impl Test {
    /// Whether the checkout says what comes of it.
    pub fn has_reference(&self) -> bool {
        !matches!(self.check, Check::Signature(None))
    }

    /// The first fault of a run. Without a reference, it is compared with `model`: the program and its end on the
    /// simulator's hart.
    ///
    /// # Errors
    /// If the program has no signature.
    pub fn verdict(
        &self,
        program: &Program,
        end: &End,
        model: Option<(&Program, &End)>,
    ) -> Result<Option<String>> {
        let Some(tohost) = end.tohost else {
            return Ok(Some(format!("it does not end within {} clocks", end.clocks)));
        };
        if tohost != 1 {
            return Ok(Some(format!("case {} fails", tohost >> 1)));
        }
        let signature = |program: &Program, end: &End| -> Result<Vec<u32>> {
            Ok(end.words(
                program.symbol("begin_signature")?,
                program.symbol("end_signature")?,
            ))
        };
        let wanted = match (&self.check, model) {
            (Check::Itself, _) | (Check::Signature(None), None) => return Ok(None),
            (Check::Signature(Some(words)), _) => words.clone(),
            (Check::Signature(None), Some((program, end))) => signature(program, end)?,
        };
        let found = signature(program, end)?;
        let differs = (0..wanted.len().max(found.len())).find(|at| wanted.get(*at) != found.get(*at));
        let word = |words: &[u32], at: usize| {
            words
                .get(at)
                .map_or("missing".to_owned(), |word| format!("{word:08x}"))
        };
        Ok(differs.map(|at| {
            format!(
                "word {at} of the signature is {}, not {}",
                word(&found, at),
                word(&wanted, at)
            )
        }))
    }
}

/// For the assembler: all instructions that the pipeline has.
const SHORT: &str = "-Wa,-march=rv32imac_zicsr_zifencei";

/// The compiler of handlers, and where its output goes.
#[derive(Clone, Debug)]
pub struct Toolchain {
    compiler: OsString,
    folder: PathBuf,
    ours: PathBuf,
}

impl Toolchain {
    /// That of the runtime: `CROSS` is the prefix of its name.
    ///
    /// # Errors
    /// If there is no such compiler, or the folder cannot be made.
    pub fn find(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut compiler = std::env::var_os("CROSS").unwrap_or("riscv64-unknown-elf-".into());
        compiler.push("gcc");
        let found = Command::new(&compiler).arg("--version").output();
        found.with_context(|| {
            format!(
                "there is no {}: install the Debian package gcc-riscv64-unknown-elf",
                compiler.display()
            )
        })?;
        Ok(Self {
            compiler,
            folder: folder.to_owned(),
            ours: Path::new(env!("CARGO_MANIFEST_DIR")).join("riscv-tests"),
        })
    }

    /// Compiles and links a program whose code lies from `origin` on.
    ///
    /// # Errors
    /// If the compiler does not like it, or it is too large.
    pub fn program(
        &self,
        name: &str,
        sources: &[PathBuf],
        options: &[OsString],
        origin: u32,
    ) -> Result<Program> {
        let output = self.folder.join(format!("{name}-{origin:x}"));
        let mut command = Command::new(&self.compiler);
        command
            // The C library is chosen by the first.
            .args(["-march=rv32imac", SHORT])
            .args(["-mabi=ilp32", "-mcmodel=medany", "-static"])
            .args(["-nostartfiles", "-w", "-Wl,--no-warn-rwx-segments"])
            .arg(format!("-Wl,--defsym=origin={origin:#x}"))
            .arg("-I")
            .arg(&self.ours)
            .arg("-T")
            .arg(self.ours.join("link.ld"))
            .args(options)
            .args(sources)
            .arg("-o")
            .arg(&output);
        let result = command
            .output()
            .with_context(|| format!("cannot start {}", self.compiler.display()))?;
        ensure!(
            result.status.success(),
            "cannot compile {name}: {}",
            String::from_utf8_lossy(&result.stderr).trim()
        );
        Program::read(&output)
    }

    /// Where all threads begin.
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub fn boot(&self) -> Result<Program> {
        self.program(
            "boot",
            &[self.ours.join("boot.S")],
            &["-nostdlib".into()],
            super::machine::RESET,
        )
    }

    /// A test whose code lies from `origin` on; nothing, if it is larger than what is there. One that is only too large
    /// without instructions of 16 bits has them.
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub fn test(&self, test: &Test, origin: u32) -> Result<Option<Program>> {
        // Several checkouts may have tests of one name.
        let name = test.source.to_string_lossy().replace('/', "-");
        let mut options = test.options.clone();
        for option in ["-nostdlib", SHORT] {
            options.push(option.into());
            let program = self.program(&name, std::slice::from_ref(&test.source), &options, origin)?;
            if program.end() <= PROGRAM_END && program.fits() {
                return Ok(Some(program));
            }
        }
        Ok(None)
    }
}
