use super::Prototypes;
use crate::header::c_header;
use crate::parse;

/// All forms of parameters and results.
const HEADER: &str = "\
/* A licence, for example. */

#ifndef FORMS_H
#define FORMS_H

#include <spinneret.h> // not read

#define MANY \\
    SPIN_CALL(9) /* not read */
#ifdef __cplusplus
extern \"C\" {
#endif

/*
 * All forms.
 *
 * In two paragraphs.
 */
SPIN_SERVICE(64, forms);

// Adds bytes to those of a port,
// and returns their sum.
SPIN_CALL(1) uint64_t forms_add(uint16_t port /* of UDP */, uint32_t bytes);

/** Refuses some. */
SPIN_CALL(2, ticket) spin_status_t forms_try(void *state, int8_t const number,
                                             // Text.
                                             const char *line, uint8_t *rest, double *result);
SPIN_CALL(0x10) void forms_all(uint32_t n, SPIN_IN(n * 2) const float *in_, SPIN_OUT(n) void *back,
                               SPIN_INOUT(4) int64_t *both, SPIN_CAP(9) const char *name, _Bool flag);

SPIN_CALL(4) spin_status_t forms_nothing(void);

#ifdef __cplusplus
}
#endif
#endif
";

/// The same in Rust.
const TRAIT: &str = r#"
/// All forms.
///
/// In two paragraphs.
trait Forms {
    /// Adds bytes to those of a port,
    /// and returns their sum.
    #[call(1)]
    fn add(&self, port: u16, bytes: u32) -> u64;
    /// Refuses some.
    #[call(2, ticket)]
    fn r#try(&self, number: i8, line: &str, rest: &mut u8) -> Result<f64, Status>;
    #[call(16)]
    fn all(
        &self, n: u32, #[len(n * 2)] in_: &[f32], #[out(n)] back: &mut [u8], #[inout(4)] both: &mut [i64],
        #[cap(9)] name: &str, flag: bool,
    );
    #[call(4)]
    fn nothing(&self) -> Result<(), Status>;
}
"#;

#[test]
fn a_header_and_a_trait_give_the_same_stubs_and_versions() {
    // `try` is a keyword in Rust, so the test has another word.
    let (header, text) = (
        HEADER.replace("_try", "_attempt"),
        TRAIT.replace("r#try", "attempt"),
    );
    let prototypes = Prototypes::read("forms.h", &header).expect("it is right");
    let arguments = syn::parse_str("api = 64, prefix = \"forms\"").expect("they are right");
    let item = syn::parse_str(&text).expect("it is right");
    let interface = parse::interface(arguments, &item).expect("it is right");
    let origin = "the trait `Forms` by spinneret_rpc::service";
    let stubs = c_header(&interface);
    assert!(stubs.contains(origin), "{stubs}");
    let stubs = stubs.replace(origin, "forms.h by `spinneret service`");
    assert_eq!(prototypes.for_handlers(), stubs);
}

#[test]
fn the_wrapper_registers_each_function() {
    let header = HEADER.replace("_try", "_attempt");
    let prototypes = Prototypes::read("forms.h", &header).expect("it is right");
    insta::assert_snapshot!(prototypes.for_host());
}

/// The error of a header with these functions, which begin in line 2.
fn error(functions: &str) -> String {
    let text = format!("SPIN_SERVICE(64, t);\n{functions}\n");
    let error = Prototypes::read("t.h", &text).expect_err("it is wrong");
    error.to_string()
}

/// The error of a function with these parameters.
fn of(parameters: &str) -> String {
    error(&format!("SPIN_CALL(1) void t_f(uint32_t n,\n{parameters});"))
}

#[test]
fn wrong_headers_have_an_error_with_line_and_remedy() {
    let cases = [
        "int x;",
        "typedef int number;",
        "\nuint32_t t_f(void);",
        "static inline int f(void) { return 0; }",
        "\n\nSPIN_CALL(1) uint32_t f(void);",
        "SPIN_CALL(0) uint32_t t_f(void);",
        "SPIN_CALL(A) uint32_t t_f(void);",
        "SPIN_CALL(1, off) uint32_t t_f(void);",
        "SPIN_CALL(1, later) uint32_t t_f(void);",
        "SPIN_CALL(1) uint32_t t_f(void)",
        "SPIN_CALL(1) uint32_t t_f(void);\nSPIN_CALL(2) uint32_t t_f(void);",
        "SPIN_CALL(1) uint32_t t_f(void);\nSPIN_CALL(1) uint32_t t_g(void);",
        "SPIN_CALL(1) int t_f(void);",
        "SPIN_CALL(1) char *t_f(void);",
        "SPIN_CALL(1) t_f(void);",
        "SPIN_CALL(1) void t_match(void);",
        "SPIN_CALL(1) void t_f_ph(void);",
        "SPIN_SERVICE(65, u);",
        "",
        "#if 1\n#endif",
        "/* never",
        "SPIN_CALL(1) void t_f(void;",
        "SPIN_CALL(1) spin_status_t t_f(uint32_t *result, uint32_t n);",
        "SPIN_CALL(1) spin_status_t t_f(const uint32_t *result);",
        "SPIN_CALL(1, ticket) void t_f(SPIN_OUT(4) void *back);",
        "what $ this",
    ];
    let errors = cases.map(|case| format!("{}\n  {}", case.trim_start(), error(case)));
    let parameters = [
        "...",
        "uint32_t",
        "unsigned int m",
        "size_t m",
        "struct s m",
        "uint32_t match",
        "uint32_t status",
        "uint32_t numbers[n]",
        "void (*back)(void)",
        "const uint32_t *m",
        "void *m",
        "void *state",
        "char *text",
        "SPIN_OUT(n) char *text",
        "const char **texts",
        "SPIN_IN(n) uint32_t *m",
        "SPIN_OUT(n) const uint32_t *m",
        "SPIN_CAP(3) const uint8_t *m",
        "SPIN_IN(n) uint32_t m",
        "SPIN_IN(m) const uint32_t *m",
        "SPIN_IN(n + 1) const uint32_t *m",
        "SPIN_IN() const uint32_t *m",
        "SPIN_IN(n) const bool *m",
        "SPIN_CAP(2000) const char *m",
        "uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h",
    ];
    let of = parameters.map(|parameters| format!("f(..., {parameters})\n  {}", of(parameters)));
    insta::assert_snapshot!([errors.join("\n"), of.join("\n")].join("\n"));
}

#[test]
fn a_header_has_a_service_before_its_functions() {
    let error = |text: &str| {
        Prototypes::read("t.h", text)
            .expect_err("it is wrong")
            .to_string()
    };
    assert_eq!(error("\n"), "line 1: `SPIN_SERVICE(NUMBER, PREFIX);` is missing");
    assert_eq!(
        error("\nSPIN_CALL(1) void t_f(void);"),
        "line 2: `SPIN_SERVICE(NUMBER, PREFIX);` has to be before the first function"
    );
    assert_eq!(
        error("\n\nSPIN_SERVICE(1, t);"),
        "line 3: interface 1 is that of `printf`; 64 and above are yours"
    );
}

#[test]
fn damaged_headers_are_errors() {
    let header = HEADER.replace("_try", "_attempt");
    let mut refused = 0;
    for (at, other) in (0..header.len()).zip("(){}[];,*.#/\\\"'$ \n0x".chars().cycle()) {
        let (before, after) = (&header[..at], &header[at + 1..]);
        for text in [
            format!("{before}{after}"),
            format!("{before}{other}{after}"),
            before.to_owned(),
        ] {
            refused += u32::from(Prototypes::read("forms.h", &text).is_err());
        }
    }
    assert!(refused > 500, "{refused}");
}
