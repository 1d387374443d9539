//! Functions in C, compiled with their generated wrapper, answer as a service in Rust does, byte for byte.

use crate::support::from_environment;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_rpc::described::{Argument, Body, Described, DescribedService, TextError};
use spinneret_rpc::layout::INLINE;
use spinneret_rpc::server::Counts;
use spinneret_rpc::{Buffer, Client, Layout, Memory as _, Server, Service, Status, Version, Words, opcode};
use spinneret_rpc_interface::Prototypes;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::{fs, mem};

/// The functions of `forms.h` in Rust.
#[spinneret_rpc::service(api = 70, prefix = "forms")]
trait Forms {
    /// Adds numbers.
    #[call(1)]
    fn add(&self, port: u16, bytes: u32, sign: i8) -> u64;

    /// Halves a number, and refuses negative ones.
    #[call(2, ticket)]
    fn half(&self, number: i16, line: &str, length: &mut u8) -> Result<f64, Status>;

    /// Copies and negates.
    #[call(3)]
    fn all(
        &self,
        n: i8,
        #[len(n * 2)] from: &[f32],
        #[out(n)] back: &mut [u8],
        #[inout(n)] both: &mut [i64],
        flag: bool,
    );

    /// Counts calls.
    #[call(4)]
    fn count(&self) -> Result<(), Status>;

    /// Tells whether a name is long.
    #[call(5)]
    fn is_long(&self, flag: bool, #[cap(9)] name: &str) -> bool;
}

/// The service in Rust, with a counter that the test reads.
struct Counter(Rc<Cell<u64>>);

impl Forms for Counter {
    fn add(&self, port: u16, bytes: u32, sign: i8) -> u64 {
        (u64::from(port) + u64::from(bytes)).wrapping_add_signed(i64::from(sign))
    }

    fn half(&self, number: i16, line: &str, length: &mut u8) -> Result<f64, Status> {
        self.0.set(self.0.get() + 1);
        match u32::try_from(number) {
            Ok(_) => {
                *length = line.len() as u8;
                Ok(f64::from(number) / 2.0)
            }
            Err(_) => Err(Status::failed(u32::from(number.unsigned_abs()))),
        }
    }

    fn all(&self, n: i8, from: &[f32], back: &mut [u8], both: &mut [i64], flag: bool) {
        let bytes = from.iter().flat_map(|number| number.to_le_bytes());
        back.iter_mut().zip(bytes).for_each(|(back, byte)| *back = byte);
        assert_eq!(both.len(), n as usize);
        for number in both.iter_mut().filter(|_| flag) {
            *number = number.wrapping_neg();
        }
    }

    fn count(&self) -> Result<(), Status> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }

    fn is_long(&self, flag: bool, name: &str) -> bool {
        flag && name.len() > 4
    }
}

/// `spinneret_function` of the library.
#[repr(C)]
struct Registered {
    text: *const c_char,
    version: u64,
    call: unsafe extern "C" fn(*mut c_void, *const *mut c_void) -> u32,
}

/// Compiles the functions with their wrapper, and loads them.
fn registered() -> Vec<(Described, &'static Registered)> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rpc");
    let prototypes = Prototypes::read("forms.h", include_str!("forms.h")).unwrap();
    fs::write(path("offer.c"), prototypes.for_host()).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=c11",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
    ]);
    compiler
        .arg(path("forms.so"))
        .arg(path("offer.c"))
        .arg(own.join("forms.c"));
    compiler
        .arg("-I")
        .arg(&own)
        .arg("-I")
        .arg(own.join("../../../host/include"));
    assert!(compiler.status().unwrap().success());
    let library = CString::new(path("forms.so").into_os_string().into_encoded_bytes()).unwrap();
    let mut count = 0;
    // SAFETY: the library was made here, stays loaded, and has this function.
    let functions = unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        assert!(!library.is_null());
        let symbol = libc::dlsym(library, c"forms_registered".as_ptr());
        assert!(!symbol.is_null());
        let registered: unsafe extern "C" fn(*mut usize) -> *const Registered = mem::transmute(symbol);
        let functions = registered(&raw mut count);
        std::slice::from_raw_parts(functions, count)
    };
    let described = |function: &'static Registered| {
        // SAFETY: the wrapper has strings.
        let text = unsafe { CStr::from_ptr(function.text) }.to_str().unwrap();
        (Described::read(text, function.version).unwrap(), function)
    };
    functions.iter().map(described).collect()
}

/// The functions as a service; calls that need it get the counter.
fn service(counter: &Rc<Cell<u64>>) -> DescribedService {
    let functions = registered().into_iter().map(|(described, function)| {
        let counter = Rc::clone(counter);
        let body: Body = Box::new(move |arguments: &mut [Argument]| {
            let pointer = |argument: &mut Argument| argument.0.as_mut_ptr().cast();
            let pointers: Vec<*mut c_void> = arguments.iter_mut().map(pointer).collect();
            // SAFETY: the function takes these, and the counter as its state.
            let status = unsafe { (function.call)(counter.as_ptr().cast(), pointers.as_ptr()) };
            Status::from_raw(status)
        });
        (described, body)
    });
    DescribedService::new(functions.collect())
}

const LINES: u32 = 8;

/// A server with one port and its client, both driven by the test.
struct Side<'b> {
    words: Words<'b>,
    client: Client<Words<'b>>,
    server: Server<Words<'b>>,
    layout: Layout,
}

impl<'b> Side<'b> {
    fn new(buffer: &'b Buffer, layout: Layout, service: Rc<dyn Service>) -> Self {
        let mut server = Server::new(buffer.words(), layout).unwrap();
        server.add(opcode::SPINNERET, service);
        Self {
            words: buffer.words(),
            client: Client::new(buffer.words(), layout).unwrap(),
            server,
            layout,
        }
    }

    /// The answer to a request, and the memory next to the buffer afterwards.
    fn call(&mut self, opcode: u32, request: &[u64; 8], memory: &[u64]) -> ([u64; 8], Vec<u64>) {
        let at = self.layout.bulk(self.words.bytes()).offset;
        let Ok(()) = self.words.write(at, memory);
        let Ok(mut port) = self.client.open(opcode);
        port.send(request).unwrap();
        while self.server.poll() != Ok(true) {}
        let (mut answer, mut after) = ([0; 8], vec![0; memory.len()]);
        port.receive(&mut answer).unwrap();
        let Ok(()) = port.close();
        let Ok(()) = self.words.read(at, &mut after);
        (answer, after)
    }

    fn counts(&self) -> Counts {
        self.server.counts()
    }
}

/// A request with values that are often right.
fn request(random: &mut ChaCha8Rng) -> [u64; 8] {
    let mut half = || match random.random_range(0..10) {
        0 => INLINE,
        1 => random.random(),
        2 => u32::from_le_bytes(*b"ab\0\0"),
        3 => 0x0101,
        _ => random.random_range(0..20),
    };
    let mut words = [0; 8].map(|_| u64::from(half()) | u64::from(half()) << 32);
    let mut place = || match random.random() {
        true => u64::from(INLINE),
        false => 8 * random.random_range(0..20),
    };
    let (first, second, third) = (place(), place(), place());
    match random.random_range(0..3) {
        0 => {
            // Data as long as `n` implies.
            let n = random.random_range(0..5);
            let [from, back, both] = [first | (8 * n) << 32, second | n << 32, third | (8 * n) << 32];
            words[..5].copy_from_slice(&[1 | n << 32, from, back, both, 1]);
        }
        1 => {
            // Text in the packet.
            let bytes = random.random_range(1..12);
            let text = u64::from_le_bytes([b'a'; 8]) >> (64 - 8 * (bytes - 1).clamp(1, 7));
            let number = random.random_range(-2..2_i32).cast_unsigned();
            words[..3].copy_from_slice(&[1 | u64::from(number) << 32, u64::from(INLINE) | bytes << 32, text]);
        }
        _ => {}
    }
    words
}

#[test]
fn functions_in_c_answer_as_those_in_rust() {
    let (in_c, in_rust) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let registered = registered();
    let texts = forms::FUNCTIONS
        .iter()
        .map(|function| (function.name, function.opcode, function.hash));
    let own = registered
        .iter()
        .map(|(described, function)| (described.name(), described.opcode(), function.version));
    assert!(texts.eq(own), "{registered:?}", registered = forms::FUNCTIONS);

    let layout = Layout::new(Version::V23, 1).unwrap();
    let buffers = [(); 2].map(|()| Buffer::new(layout.bytes() + 64 * LINES));
    let rust = FormsService::new(Counter(Rc::clone(&in_rust)));
    let mut sides = [
        Side::new(&buffers[0], layout, Rc::new(service(&in_c))),
        Side::new(&buffers[1], layout, Rc::new(rust)),
    ];
    let seed = from_environment("SPINNERET_RPC_SEED", 1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut done = [0; 7];
    for _ in 0..from_environment("SPINNERET_RPC_CALLS", 20_000) {
        let function = random.random_range(0..7);
        let (opcode, request) = (0x7346_0000 | function, request(&mut random));
        let memory: Vec<u64> = (0..LINES * 8).map(|_| random.random()).collect();
        let [one, other] = sides.each_mut().map(|side| side.call(opcode, &request, &memory));
        assert_eq!(one, other, "seed {seed}: {opcode:#x} {request:#x?}");
        done[function as usize] += u64::from(one.0[0] as u32 == Status::DONE.raw());
    }
    let [one, other] = sides.each_ref().map(Side::counts);
    assert_eq!(one, other);
    assert_eq!(in_c, in_rust);
    assert!(done[1..6].iter().all(|calls| *calls > 100), "{done:?}");
    assert!(one.refusals.len() > 5, "{one:?}");
}

#[test]
fn texts_that_describe_no_function_are_refused() {
    let hash = |text: &str| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let good = "1 t_f 0x73400001 (n: u32, d: in u8[n * 2], s: text 9, x: out u64) -> i64";
    assert!(Described::read(good, hash(good)).is_ok());
    assert_eq!(Described::read(good, 7), Err(TextError::Version(good.to_owned())));
    let eight = (0..8)
        .map(|number| format!("v{number}: u64, "))
        .collect::<String>();
    for text in [
        "",
        "2 t_f 0x73400001 () -> nothing",
        "1 t_f 0x74400001 () -> nothing",
        "1 t_f 0x73010001 () -> nothing",
        "1 t_f 0x73400001 () -> u128",
        "1 t_f 0x73400001 (n) -> nothing",
        "1 t_f 0x73400001 (n: handle 1 [4]) -> nothing",
        "1 t_f 0x73400001 (n: u64, d: in u8[n]) -> nothing",
        "1 t_f 0x73400001 (n: bool, d: in u8[n]) -> nothing",
        "1 t_f 0x73400001 (n: out u32, d: in u8[n]) -> nothing",
        "1 t_f 0x73400001 (d: in u8[m]) -> nothing",
        "1 t_f 0x73400001 (d: in u8[4) -> nothing",
        "1 t_f 0x73400001 (s: text x) -> nothing",
        &format!("1 t_f 0x73400001 ({eight}last: u8) -> nothing"),
    ] {
        let refused = Err(TextError::Text(text.to_owned()));
        assert_eq!(Described::read(text, hash(text)), refused);
    }
}
