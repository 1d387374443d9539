//! Refusals, with their place and message.

use crate::expand::expand;

/// The error of a function whose body has these lines; lines count from 1 at the function's first.
fn error(body: &str) -> String {
    let text = format!("fn f(a: &mut Field<f64, 2>, b: &Field<f64, 2>, n: i64, w: f64) {{\n{body}\n}}");
    error_of(&text)
}

fn error_of(text: &str) -> String {
    let error = expand(&syn::parse_str(text).unwrap()).expect_err("this is not refused");
    let start = error.span().start();
    format!("{}:{}: {error}", start.line, start.column + 1)
}

/// As `error`, of a function that has a sum as well.
fn error_with_sum(body: &str) -> String {
    let arguments = "a: &mut Field<f64, 2>, n: i64, w: f64, total: &mut Sum<f64>";
    error_of(&format!("fn f({arguments}) {{\n{body}\n}}"))
}

#[test]
fn sums_are_only_added_to() {
    let only = "a sum has no value before all loops have run; it is only added to, as `*sum += value`";
    let nested = |inner: &str| error_with_sum(&format!("for x in 0..n {{\n{inner}\n}}"));
    assert_eq!(nested("a[[x, x]] = total.value();"), format!("3:13: {only}"));
    assert_eq!(nested("*total -= a[[x, x]];"), format!("3:2: {only}"));
    assert_eq!(nested("a[[x, x]] = 1.0; *total = w;"), format!("3:19: {only}"));
    assert_eq!(
        nested("a[[x, *total]] = w;"),
        "3:7: `* total` is not affine; write sums of loop variables times constants, parameters, and div_euclid or \
         rem_euclid by constants"
    );
    assert_eq!(
        nested("let total = 1.0; a[[x, x]] = total;"),
        "3:5: `total` is a sum here; give this another name"
    );
    let nowhere = "nothing says which rank adds this: read an element here, outside of conditions and inner loops, and the \
                   rank does it where that lives";
    assert_eq!(nested("*total += w;"), format!("3:1: {nowhere}"));
    assert_eq!(
        nested("if w > 1.0 { *total += a[[x, x]]; }"),
        format!("3:1: {nowhere}")
    );
}

/// A loop over x and y around something.
fn nest(inner: &str) -> String {
    error(&format!("for x in 0..n {{ for y in 0..n {{\n{inner}\n}} }}"))
}

#[test]
fn subscripts_that_are_not_affine() {
    let write =
        "write sums of loop variables times constants, parameters, and div_euclid or rem_euclid by constants";
    assert_eq!(
        nest("a[[x * y, y]] = 1.0;"),
        format!("3:4: `x * y` is not affine: both vary in this nest; {write}")
    );
    assert_eq!(
        nest("a[[x / 2, y]] = 1.0;"),
        "3:4: `x / 2` rounds towards zero, which is not affine; use div_euclid"
    );
    assert_eq!(
        nest("a[[x % 2, y]] = 1.0;"),
        "3:4: `x % 2` can be negative, which is not affine; use rem_euclid"
    );
    assert_eq!(
        nest("a[[x.rem_euclid(y), y]] = 1.0;"),
        "3:4: `x.rem_euclid(y)` is not affine: it divides by what varies in this nest; divide by a constant or a parameter"
    );
    assert_eq!(
        nest("a[[w as i64, y]] = 1.0;"),
        format!("3:4: `w` is not known before the loops run; {write}")
    );
    assert_eq!(
        nest("a[[g(x), y]] = 1.0;"),
        format!("3:4: `g(x)` is not affine; {write}")
    );
    assert_eq!(
        nest("a[x] = 1.0;"),
        "3:3: fields are indexed by arrays: write `field[[x, y]]`"
    );
}

#[test]
fn loops_that_are_no_ranges() {
    let ranges = "is no range that the analysis knows; write a..b or a..=b, with .rev() and .step_by(number)";
    assert_eq!(
        error("for x in 0.. { a[[x, x]] = w; }"),
        format!("2:10: `0 ..` {ranges}")
    );
    assert_eq!(
        error("for x in v.iter() { a[[0, 0]] = w; }"),
        format!("2:10: `v.iter()` {ranges}")
    );
    assert_eq!(
        error("for x in (0..n).step_by(0) { a[[x, x]] = w; }"),
        "2:25: `0` is no step; write a number from 1"
    );
    assert_eq!(
        error("while w > 0.0 { a[[0, 0]] = w; }"),
        "2:1: loops that write fields stand in `for` loops, blocks and conditions on loop variables only"
    );
    assert_eq!(
        error("for x in 0..n { if w > 1.0 { for y in 0..n { a[[x, y]] = w; } } }"),
        "2:20: `w` is not known before the loops run; write sums of loop variables times constants, parameters, and \
         div_euclid or rem_euclid by constants"
    );
}

#[test]
fn bodies_that_do_what_a_plan_cannot_see() {
    assert_eq!(
        nest("a[[x, y]] = g(b);"),
        "3:15: a field can only be indexed, as `field[[x, y]]`, and asked for its `len`"
    );
    assert_eq!(
        nest("g(&mut a[[x, y]]); a[[x, y]] = w;"),
        "3:3: elements are not borrowed mutably: write `field[[x, y]] = value`"
    );
    assert_eq!(
        nest("a[[x, y]].re = w; a[[x, y]] = w;"),
        "3:1: elements are written as a whole: write `field[[x, y]] = value`"
    );
    assert_eq!(
        nest("println!(\"{}\", b[[x, y]]); a[[x, y]] = w;"),
        "3:1: a macro cannot name a field or a sum; read the element into a variable first"
    );
    assert_eq!(
        nest("if w > 1.0 { return; } a[[x, y]] = w;"),
        "3:14: loops run to their end: no return, `?`, break or continue; use conditions"
    );
    assert_eq!(
        nest("let f = || b[[x, y]]; a[[x, y]] = f();"),
        "3:9: only `for` loops over ranges can access fields, no `while`, `loop` or closure"
    );
}

#[test]
fn values_that_would_be_carried_from_body_to_body() {
    assert_eq!(
        error("for x in 0..n { let s = b[[x, 0]]; for y in 0..n { a[[x, y]] = s; } }"),
        "2:17: this writes no field; move what it computes to where it is used, or keep it in a field"
    );
    assert_eq!(
        error("let mut s = 0.0; for x in 0..n { a[[x, x]] = s; }"),
        "2:1: this writes no field; move what it computes to where it is used, or keep it in a field"
    );
    assert_eq!(
        error("for a in 0..n { b[[a, a]] = w; }"),
        "2:5: `a` is a field here; give this another name"
    );
    assert_eq!(
        error("let c = 1; let c = 2; for x in 0..n { a[[x, c]] = w; }"),
        "2:16: there is a `c` already; give this another name"
    );
}

#[test]
fn functions_of_another_form() {
    assert_eq!(
        error_of("fn f<T>(a: &mut Field<T, 2>) {}"),
        "1:5: a function over fields has no generic parameters; name the types"
    );
    assert_eq!(
        error_of("fn f(a: &mut Field<f64, 2>) -> f64 { 0.0 }"),
        "1:29: a function over fields returns nothing; write what it computes to a field"
    );
    assert_eq!(
        error_of("fn f(n: i64) {}"),
        "1:4: there is no field: give the function a `&mut Field<T, D>`"
    );
    assert_eq!(
        error_of("fn f(a: &mut Field<f64, 2>, v: &[f64]) {}"),
        "1:32: arguments are `&mut Field<T, D>`, `&Field<T, D>`, `&mut Sum<T>`, `&mut FastSum`, or values, such as i64 for sizes"
    );
}

#[test]
fn integers_of_another_type_than_i64() {
    let steps = |ty: &str, body: &str| {
        error_of(&format!(
            "fn f(a: &mut Field<f64, 2>, steps: {ty}) {{\n{body}\n}}"
        ))
    };
    let is = |ty: &str| {
        format!("`steps` is `{ty}`, and the analysis knows `i64` only; declare it as `steps: i64`")
    };
    let repeated = "for _ in 0..steps { for x in 0..a.len(0) { a[[x, x]] = 1.0; } }";
    for ty in ["usize", "u32", "i32"] {
        assert_eq!(steps(ty, repeated), format!("2:13: {}", is(ty)));
    }
    let cast = "for x in 0..2 { a[[x + steps as i64, x]] = 1.0; }";
    assert_eq!(steps("usize", cast), format!("2:24: {}", is("usize")));
    let condition = "for x in 0..2 { if x < steps { for y in 0..2 { a[[x, y]] = 1.0; } } }";
    assert_eq!(steps("u8", condition), format!("2:24: {}", is("u8")));
}

#[test]
fn elements_that_are_no_plain_data() {
    for (ty, name) in [
        ("bool", "bool"),
        ("char", "char"),
        ("(f64, f64)", "(f64, f64)"),
        ("()", "()"),
        ("[bool; 3]", "bool"),
        ("&'static str", "& 'static str"),
    ] {
        for field in ["&mut Field", "&Field"] {
            let said = error_of(&format!("fn f(b: &mut Field<f64, 2>, a: {field}<{ty}, 2>) {{}}"));
            let text = format!(
                "`{name}` is no element of a field, as not all bytes are values of it; write `u8` or another number, an array of \
                 numbers, or a struct that is `bytemuck::Pod`"
            );
            assert!(said.ends_with(&text), "{said}");
        }
    }
}

#[test]
fn each_type_of_elements_is_bound_once() {
    let text = "fn f(a: &mut Field<Cell, 2>, b: &Field<Cell, 2>, c: &mut Field<f64, 2>) { for x in 0..2 { a[[x, x]] = b[[x, 0]]; } }";
    let code = expand(&syn::parse_str(text).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let code = code.to_string().replace(' ', "");
    // Of `run`, and of what it executes; if a bound is false, the compiler reports it once, and inside treats it as
    // true.
    let bounds = "whereCell:::molly::Element,f64:::molly::Element{";
    assert_eq!(code.matches(bounds).count(), 2, "{code}");
    assert_eq!(code.matches(":::molly::Element").count(), 4, "{code}");
}

#[test]
fn numbers_that_would_be_changed() {
    assert_eq!(
        error_of("fn f(a: &mut Field<f64, 2>, s: &mut f64) {}"),
        "1:32: `&mut f64` would be another number on each rank; add to a `&mut Sum<f64>`, or write to a field"
    );
    assert_eq!(
        error_of("fn f(a: &mut Field<f64, 2>, n: &i64) {}"),
        "1:32: numbers are passed as they are: write `n: i64`"
    );
}

#[test]
fn fields_and_elements_that_change_places() {
    let text = "a plan cannot see fields or elements that change places; copy in loops, as `a[[x, y]] = b[[x, y]]`: where they only \
                copy all of a field, ranks exchange its memory and copy nothing";
    for call in [
        "std::mem::swap(a, b)",
        "swap(a, b)",
        "mem::swap(&mut *a, &mut *b)",
        "mem::take(a)",
    ] {
        assert_eq!(
            error(&format!("for _ in 0..n {{\n{call};\n}}")),
            format!("3:1: {text}"),
            "{call}"
        );
    }
    assert_eq!(
        nest("swap(&mut a[[x, y]], &mut a[[y, x]]);"),
        format!("3:1: {text}")
    );
    // A function of that name that has nothing to do with fields.
    let own =
        "fn f(a: &mut Field<f64, 2>, w: f64) { for x in 0..2 { let v = swap(w, 2.0); a[[x, x]] = v; } }";
    expand(&syn::parse_str(own).unwrap()).unwrap_or_else(|error| panic!("{error}"));
}

/// The description of a function with this body, as text without blanks.
fn described(body: &str) -> String {
    let text = format!("fn f(a: &mut Field<f64, 2>, b: &Field<f64, 2>, n: i64, w: f64) {{ {body} }}");
    let code = expand(&syn::parse_str(&text).unwrap()).unwrap_or_else(|error| panic!("{body}: {error}"));
    let code = code.to_string().replace(' ', "");
    let from = code.find("nodes:vec!").unwrap_or_else(|| panic!("{code}"));
    let to = code[from..].find("#[doc").unwrap_or_else(|| panic!("{code}"));
    code[from..from + to].to_owned()
}

#[test]
fn sizes_of_fields_are_known_in_conditions() {
    let inside = "x < a.len(0) && y < b.len(1)";
    for (condition, writes) in [
        (inside.to_owned(), "a[[x, y]] = w;"),
        (format!("!({inside})"), "a[[0, 0]] = w;"),
        ("x == a.len(0) - 1".to_owned(), "a[[x, y]] = w;"),
    ] {
        let nest = |inner: &str| described(&format!("for x in 0..n {{ for y in 0..n {{ {inner} }} }}"));
        // One body behind the condition, which reads nothing.
        let plain = nest(&format!("if {condition} {{ {writes} }}"));
        assert!(
            plain.contains("Node::If(") && plain.contains("Expr::Len(0usize,0)"),
            "{plain}"
        );
        assert_eq!(plain.matches("is_write:false").count(), 0, "{plain}");
        // A read before the condition becomes a read under it.
        let read = nest(&format!(
            "let v = b[[0, 0]]; if {condition} {{ {writes} a[[0, 1]] = v; }}"
        ));
        assert_eq!(
            (read.matches("Node::If(").count(), read.matches("Body(").count()),
            (1, 1),
            "{read}"
        );
        let both = nest(&format!(
            "let v = b[[0, 0]]; if {condition} {{ a[[0, 0]] = v; }} else {{ a[[0, 1]] = v; }}"
        ));
        assert_eq!(
            (both.matches("Node::If(").count(), both.matches("Body(").count()),
            (1, 2),
            "{both}"
        );
        // But not if it is needed after it as well.
        let after = nest(&format!(
            "let v = b[[0, 0]]; if {condition} {{ a[[0, 0]] = v; }} a[[0, 1]] = v;"
        ));
        assert_eq!(
            (after.matches("Node::If(").count(), after.matches("Body(").count()),
            (0, 1),
            "{after}"
        );
    }
    // A name that shadows a parameter is no parameter.
    let shadowed = described("for x in 0..n { let n = b[[x, 0]] as i64; if x < n { a[[x, 0]] = w; } }");
    assert!(!shadowed.contains("Node::If("), "{shadowed}");
    // Code under a known condition in a loop without an effect becomes nothing.
    let nothing =
        described("for x in 0..n { let v = b[[x, 0]]; if x < a.len(0) { } else { a[[0, 0]] = v; } }");
    assert!(nothing.contains("vec![],vec![Node::Body("), "{nothing}");
}

#[test]
fn what_is_accepted_becomes_a_module() {
    let accepted = [
        "for x in (1..n).rev() { a[[x, 0]] = b[[x - 1, 0]]; }",
        "for x in (0..=n - 1).step_by(2) { a[[x, x.div_euclid(2)]] += w; }",
        "let m = n - 1; for x in 0..m.min(a.len(0)) { let z = 2 * x; a[[z.rem_euclid(m), 0]] = w; }",
        "for x in 0..n { if x > 2 && !(x == 5) { a[[x, 0]] = w; } else { a[[x, 1]] = w; } }",
        "for x in 0..n { let mut s = 0.0; for k in 0..n { s += b[[x, k]]; } if s > 1.0 { a[[x, 0]] = s; } }",
        "for x in 0..n { a[[x, 0]] = if x == 0 { 0.0 } else { b[[x - 1, 0]] }; }",
    ];
    for body in accepted {
        let text = format!("fn f(a: &mut Field<f64, 2>, b: &Field<f64, 2>, n: i64, w: f64) {{ {body} }}");
        let code = expand(&syn::parse_str(&text).unwrap()).unwrap_or_else(|error| panic!("{body}: {error}"));
        let file: syn::File = syn::parse2(code).unwrap();
        assert_eq!(file.items.len(), 2, "{body}");
    }
}
