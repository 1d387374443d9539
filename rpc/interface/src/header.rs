//! The generated header: a function in C for each function of the trait.

use crate::parse::sentence;
use crate::types::{Kind, Word, kind_name, loud};
use crate::{Direction, Form, Function, Interface, Parameter};
use std::fmt::Write as _;
use syn::{Attribute, Ident};

/// Where lines of parameters end.
const WIDTH: usize = 110;

/// The whole header.
pub(crate) fn c_header(interface: &Interface) -> String {
    let guard = format!("{}_H", loud(&interface.prefix));
    let about = comment(&interface.documentation, " * ");
    let (origin, prefix) = (&interface.origin, &interface.prefix);
    let mut text = format!(
        "/*\n{about} *\n * Made of {origin}: change that. A function gives \
         SPIN_SERVICE_DONE,\n * or which check refused it (spin_service.h); what it gives besides counts only if it is \
         done.\n */\n#ifndef {guard}\n#define {guard}\n\n#include <spin_service.h>\n"
    );
    for (kind, number) in interface.handles.iter().zip(1..) {
        handle(&mut text, prefix, kind, number);
    }
    for function in &interface.functions {
        stubs(&mut text, interface, function);
    }
    text.push_str("\n#endif\n");
    text
}

/// Documentation, each line after a prefix.
fn comment(documentation: &[Attribute], before: &str) -> String {
    let lines = documentation.iter().filter_map(sentence);
    lines.fold(String::new(), |text, line| {
        text + format!("{before}{}", line.replace("*/", "* /")).trim_end() + "\n"
    })
}

fn handle(text: &mut String, prefix: &str, kind: &Kind, number: u32) {
    let name = kind_name(kind);
    let _ = writeln!(
        text,
        "\n/* Handles: `{}`. */\ntypedef uint32_t {prefix}_{name}_t;",
        kind.name
    );
    let constant = |one: &Ident| format!("{}_{one}", loud(&format!("{prefix}_{name}")));
    for (one, index) in kind.predefined.iter().zip(0..) {
        let _ = writeln!(
            text,
            "#define {} SPIN_SERVICE_PREDEFINED({number}, {index})",
            constant(&one.name)
        );
    }
    if !kind.has_sizes() {
        return;
    }
    let _ = writeln!(
        text,
        "\n/* Bytes of the type that it names; 0 for unknown ones, which the host refuses. */\n\
         static inline uint32_t {prefix}_{name}_size({prefix}_{name}_t handle) {{\n    switch (handle) {{"
    );
    for one in &kind.predefined {
        if let Some(bytes) = one.bytes {
            let _ = writeln!(text, "    case {}: return {bytes};", constant(&one.name));
        }
    }
    text.push_str("    default: return 0;\n    }\n}\n");
}

/// Writes the functions in C of a function.
fn stubs(text: &mut String, interface: &Interface, function: &Function) {
    let stub = Stub { interface, function };
    text.push('\n');
    let about = comment(&function.documentation, "");
    let notes = [
        (function.is_async, "The host may take its time."),
        (function.is_off, "It is off until the application allows it."),
    ];
    let notes = notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| *note);
    let lines: Vec<&str> = about.lines().chain(notes).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "/* {} */", lines.join("\n * "));
    }
    match function.has_slices() || !function.gives_nothing() {
        true => stub.long(text),
        false => stub.short(text),
    }
    if function.has_ticket {
        stub.start(text);
        stub.wait(text);
    }
}

struct Stub<'a> {
    interface: &'a Interface,
    function: &'a Function,
}

impl Stub<'_> {
    fn c_type(&self, word: Word) -> String {
        match word {
            Word::Scalar(scalar) => scalar.c.to_owned(),
            Word::Handle(kind) => format!(
                "{}_{}_t",
                self.interface.prefix,
                kind_name(&self.interface.handles[kind])
            ),
        }
    }

    fn opcode(&self) -> u32 {
        self.interface.opcode(self.function)
    }

    /// The values that go to the host, and those that come back, as parameters in C.
    fn parameters(&self, has_in: bool, has_out: bool) -> Vec<String> {
        let parameter = |one: &Parameter| {
            let name = &one.name;
            match &one.form {
                Form::Value(word) if has_in => Some(format!("{} {name}", self.c_type(*word))),
                Form::Text(_) if has_in => Some(format!("const char *{name}")),
                Form::Data(scalar, direction, _) if has_in => {
                    let constant = if *direction == Direction::In { "const " } else { "" };
                    let element = if scalar.rust == "u8" { "void" } else { scalar.c };
                    Some(format!("{constant}{element} *{name}"))
                }
                Form::Out(word) if has_out => Some(format!("{} *{name}", self.c_type(*word))),
                _ => None,
            }
        };
        let result = self.function.result.filter(|_| has_out);
        let result = result.map(|word| format!("{} *result", self.c_type(word)));
        self.function
            .parameters
            .iter()
            .filter_map(parameter)
            .chain(result)
            .collect()
    }

    fn begin(&self, text: &mut String, type_: &str, suffix: &str, parameters: &[String]) {
        let name = self.interface.c_name(self.function);
        let mut line = format!("static inline {type_} {name}{suffix}(");
        if parameters.is_empty() {
            line.push_str("void");
        }
        for (number, parameter) in parameters.iter().enumerate() {
            line.push_str(if number == 0 { "" } else { "," });
            if line.len() + parameter.len() > WIDTH {
                let _ = writeln!(text, "{line}");
                line = "       ".to_owned();
            }
            line.push_str(if number == 0 { "" } else { " " });
            line.push_str(parameter);
        }
        let _ = writeln!(text, "{line}) {{");
        if suffix != "_wait" {
            let hash = hash(&canonical(self.interface, self.function));
            let _ = writeln!(
                text,
                "    SPIN_SERVICE_USES({:#010x}, {hash:#018x}, \"{name}\");",
                self.opcode()
            );
        }
    }

    /// The request as a struct, whose places are compared with the host's.
    fn request(&self, text: &mut String, indent: &str, name: &str) {
        let _ = writeln!(text, "{indent}struct {{\n{indent}    uint32_t nobody;");
        for one in &self.function.parameters {
            let type_ = match &one.form {
                Form::Value(word) => self.c_type(*word),
                Form::Text(_) | Form::Data(..) => "struct spin_slice".to_owned(),
                Form::Out(_) => continue,
            };
            let _ = writeln!(text, "{indent}    {type_} {};", one.name);
        }
        let _ = writeln!(text, "{indent}}} {name};");
    }

    fn answer(&self, text: &mut String) {
        let result = match self.function.result {
            Some(word) => format!("union {{ uint64_t word; {} value; }} result", self.c_type(word)),
            None => "uint64_t nothing".to_owned(),
        };
        let _ = writeln!(
            text,
            "        struct {{\n            uint32_t status;\n            uint32_t reserved;\n            {result};"
        );
        for one in &self.function.parameters {
            if let Form::Out(word) = &one.form {
                let _ = writeln!(text, "            {} {};", self.c_type(*word), one.name);
            }
        }
        text.push_str("        } out;\n");
    }

    /// Compares where the compiler has put things.
    fn places(&self, text: &mut String, packet: &str, has_in: bool, has_out: bool) {
        for one in &self.function.parameters {
            let part = match &one.form {
                Form::Out(_) if has_out => "out.",
                Form::Value(_) | Form::Text(_) | Form::Data(..) if has_in => "in.",
                _ => continue,
            };
            let part = if packet == "packet" { part } else { "" };
            let (name, at) = (&one.name, one.at);
            let _ = writeln!(text, "    SPIN_SERVICE_PLACE(packet, {part}{name}, {at});");
        }
    }

    /// A call of one packet, answered by its status alone.
    fn short(&self, text: &mut String) {
        self.begin(text, "spin_status_t", "", &self.parameters(true, true));
        self.request(text, "    ", "packet");
        self.places(text, "short", true, false);
        text.push_str("    packet.nobody = SPIN_SERVICE_NOBODY;\n");
        for one in &self.function.parameters {
            let _ = writeln!(text, "    packet.{0} = {0};", one.name);
        }
        let (opcode, bytes) = (self.opcode(), self.function.request_bytes);
        let _ = writeln!(
            text,
            "    return spin_service_short({opcode:#010x}, &packet, {bytes});\n}}"
        );
    }

    /// A call with data, or with more to give than its status.
    fn long(&self, text: &mut String) {
        self.begin(text, "spin_status_t", "", &self.parameters(true, true));
        self.packet(text, true, true);
        self.pack(text);
        text.push_str("    spin_status_t status = spin_service_end(&call);\n");
        self.take(text);
    }

    /// A call that is not waited for.
    fn start(&self, text: &mut String) {
        text.push_str("\n/* The same without waiting: the ticket is for the answer. */\n");
        self.begin(text, "spin_ticket_t", "_start", &self.parameters(true, false));
        self.packet(text, true, false);
        self.pack(text);
        text.push_str("    return spin_service_start(&call);\n}\n");
    }

    fn wait(&self, text: &mut String) {
        text.push_str("\n/* Waits for the answer of a ticket, which is used up then. */\n");
        let ticket = ["spin_ticket_t *ticket".to_owned()];
        let parameters: Vec<String> = ticket.into_iter().chain(self.parameters(false, true)).collect();
        self.begin(text, "spin_status_t", "_wait", &parameters);
        self.packet(text, false, true);
        let bytes = self.function.answer_bytes;
        let _ = writeln!(
            text,
            "    spin_status_t status = spin_service_wait(ticket, &packet, {bytes});"
        );
        self.take(text);
    }

    fn packet(&self, text: &mut String, has_in: bool, has_out: bool) {
        text.push_str("    union {\n");
        if has_in {
            self.request(text, "        ", "in");
        }
        if has_out {
            self.answer(text);
        }
        text.push_str("        uint64_t words[SPIN_RPC_WORDS];\n    } packet;\n");
        self.places(text, "packet", has_in, has_out);
    }

    /// Fills the request.
    fn pack(&self, text: &mut String) {
        let Function {
            request_bytes,
            answer_bytes,
            ..
        } = self.function;
        let opcode = self.opcode();
        let _ = writeln!(
            text,
            "    struct spin_service call;\n    spin_service_begin(&call, {opcode:#010x}, &packet, {request_bytes}, {answer_bytes});\n    \
             packet.in.nobody = SPIN_SERVICE_NOBODY;"
        );
        for one in &self.function.parameters {
            let name = &one.name;
            let _ = match &one.form {
                Form::Value(_) => writeln!(text, "    packet.in.{name} = {name};"),
                Form::Out(_) => Ok(()),
                Form::Text(cap) => {
                    writeln!(
                        text,
                        "    packet.in.{name} = spin_service_text(&call, {name}, {cap});"
                    )
                }
                Form::Data(scalar, direction, length) => {
                    let size = |handle: &Ident| self.size(handle);
                    let bytes = length.c(scalar.bytes, &size);
                    let (function, keeps) = match direction {
                        Direction::In => ("in", ""),
                        Direction::Out => ("out", "struct spin_slice slice_of_"),
                        Direction::Both => ("inout", "struct spin_slice slice_of_"),
                    };
                    match keeps {
                        "" => writeln!(
                            text,
                            "    packet.in.{name} = spin_service_{function}(&call, {name}, {bytes});"
                        ),
                        keeps => writeln!(
                            text,
                            "    {keeps}{name} = spin_service_{function}(&call, {name}, {bytes});\n    \
                             packet.in.{name} = slice_of_{name};"
                        ),
                    }
                }
            };
        }
    }

    fn size(&self, handle: &Ident) -> String {
        let kind = self.function.parameters.iter().find_map(|one| match one.form {
            Form::Value(Word::Handle(kind)) if one.name == *handle => {
                Some(kind_name(&self.interface.handles[kind]))
            }
            _ => None,
        });
        format!(
            "{}_{}_size({handle})",
            self.interface.prefix,
            kind.unwrap_or_default()
        )
    }

    /// Hands on what has come back.
    fn take(&self, text: &mut String) {
        let mut takes = String::new();
        for one in &self.function.parameters {
            let name = &one.name;
            let _ = match &one.form {
                Form::Out(_) => writeln!(takes, "        *{name} = packet.out.{name};"),
                Form::Data(_, Direction::Out | Direction::Both, _) => {
                    writeln!(
                        takes,
                        "        spin_service_take(&call, slice_of_{name}, {name});"
                    )
                }
                _ => Ok(()),
            };
        }
        if self.function.result.is_some() {
            takes.push_str("        *result = packet.out.result.value;\n");
        }
        if !takes.is_empty() {
            let _ = write!(text, "    if (status == SPIN_SERVICE_DONE) {{\n{takes}    }}\n");
        }
        text.push_str("    return status;\n}\n");
    }
}

/// The encoding of packets is part of the text: another number for another encoding.
const ENCODING: u32 = 1;

/// All that both sides have to agree on, in one line.
pub(crate) fn canonical(interface: &Interface, function: &Function) -> String {
    let word = |word: Word| match word {
        Word::Scalar(scalar) => scalar.rust.to_owned(),
        Word::Handle(kind) => {
            let sizes: Vec<String> = interface.handles[kind]
                .predefined
                .iter()
                .map(|one| one.bytes.map_or("-".to_owned(), |bytes| bytes.to_string()))
                .collect();
            format!("handle {} [{}]", kind + 1, sizes.join(" "))
        }
    };
    let parameter = |form: &Form| match form {
        Form::Value(value) => word(*value),
        Form::Out(value) => format!("out {}", word(*value)),
        Form::Text(cap) => format!("text {cap}"),
        Form::Data(scalar, direction, length) => {
            let direction = match direction {
                Direction::In => "in",
                Direction::Out => "out",
                Direction::Both => "inout",
            };
            format!("{direction} {}[{}]", scalar.rust, length.text())
        }
    };
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|one| format!("{}: {}", one.name, parameter(&one.form)))
        .collect();
    format!(
        "{ENCODING} {} {:#010x} ({}) -> {}",
        interface.c_name(function),
        interface.opcode(function),
        parameters.join(", "),
        function.result.map_or("nothing".to_owned(), word)
    )
}

/// 64 bits of a text: FNV-1a, which distinguishes versions of one function. It need not keep out attackers.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
