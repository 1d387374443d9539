//! The inputs that the attribute accepts, and the exact errors with which it rejects the others.

use crate::{interface, module};
use quote::quote;
use syn::parse_quote;

fn module_error(item: syn::ItemStruct) -> String {
    module::expand(&parse_quote!(width: usize), item)
        .expect_err("the field says too little")
        .to_string()
}

#[test]
fn fields_say_how_they_are_made() {
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Wire<In>,
            }
        )),
        "give its width, Wire<In, { width }>, or bool"
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Reg,
            }
        )),
        "give its width, Reg<{ width }>, or bool; `Reset` comes behind it"
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Optional<Reg<bool>>,
            }
        )),
        "say when it is there: Optional<Part, { condition }>"
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: (Reg<bool>, Reg<bool>),
            }
        )),
        "say how it is made: #[new(...)]"
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block(Reg<bool>);
        )),
        "hardware has fields with names"
    );
}

#[test]
fn nothing_is_made_in_silence() {
    let made = "say how it is made: #[new(...)]";
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Vec<Reg<bool>>,
            }
        )),
        made
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Option<Fifo>,
            }
        )),
        made
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                _lanes: usize,
            }
        )),
        made
    );
    assert_eq!(
        module_error(parse_quote!(
            struct Block {
                a: Fifo<{ width }, Reset>,
            }
        )),
        "only a register has `Reset`"
    );
    let refused = |arguments: &str| {
        let parsed = syn::parse_str::<crate::arguments::Arguments>(arguments);
        parsed.err().map(|error| error.to_string())
    };
    assert_eq!(refused("width: usize, error = String, twice = 2 * width"), None);
    assert_eq!(
        refused("width: usize, width: usize = 2 * width").as_deref(),
        Some("a parameter has this name: the kernel could not tell the two apart")
    );
    assert_eq!(
        refused("width: usize, width = 2 * width").as_deref(),
        Some("a parameter has this name: the kernel could not tell the two apart")
    );
    assert_eq!(
        refused("error = A, error = B").as_deref(),
        Some("a constructor has one error")
    );
    assert_eq!(
        module::expand(
            &parse_quote!(names: impl Iterator<Item = String>),
            parse_quote!(
                struct Block {
                    a: Wire<In, bool>,
                }
            )
        )
        .expect_err("it cannot be a field")
        .to_string(),
        "a parameter has a type that can be named"
    );
}

#[test]
fn only_wires_have_another_side() {
    let error = |item| {
        interface::expand(&parse_quote!(Other, width: usize), item)
            .expect_err("there is no other side")
            .to_string()
    };
    let wanted = "a port of a bundle with two sides is Wire<In, ...> or Wire<Out, ...>, or a bundle called ...In or ...Out";
    assert_eq!(
        error(parse_quote!(
            struct Ports {
                a: Wire<Local, bool>,
            }
        )),
        wanted
    );
    assert_eq!(
        error(parse_quote!(
            struct Ports {
                a: Other,
            }
        )),
        wanted
    );
}

#[test]
fn a_formula_is_of_numbers_that_are_named_before_it() {
    let refused = |arguments: &str| {
        let parsed = syn::parse_str::<crate::numbers::Arguments>(arguments);
        let expanded = parsed.and_then(|arguments| arguments.numbers.expand());
        expanded.err().map(|error| error.to_string())
    };
    let declared = "parameters(DEPTH = self._depth), numbers";
    assert_eq!(
        refused(&format!("{declared}(A = clog2(DEPTH - 1), B = (A + 2) * A / 3)")),
        None
    );
    let named = Some("this is no number that is named before".to_owned());
    assert_eq!(refused(&format!("{declared}(A = B, B = 1)")), named);
    let arithmetic = Some("a formula has + - * / and clog2 only".to_owned());
    assert_eq!(refused(&format!("{declared}(A = DEPTH % 3)")), arithmetic);
    assert_eq!(refused(&format!("{declared}(A = self._depth)")), arithmetic);
    assert_eq!(
        refused("width = 3").as_deref(),
        Some(
            "the arguments are `Block` or `Block { fields }`, `suffix = ...`, `parameters(...)` and `numbers(...)`"
        )
    );
}

#[test]
fn a_clock_stands_above_a_register_or_a_part() {
    let error = |item: syn::ItemStruct| {
        module::expand(&parse_quote!(no_clock), item)
            .expect_err("the clock is wrong")
            .to_string()
    };
    assert_eq!(
        error(parse_quote!(
            struct A {
                #[clock(m_clk)]
                a: Wire<In, bool>,
            }
        )),
        "a register or a part has a clock, not a port or a signal"
    );
    for field in [
        quote!(#[clock()] a: Reg<bool>),
        quote!(#[clock(m_clk, m_rst, s_rst)] a: Reg<bool>),
    ] {
        assert_eq!(
            error(parse_quote!(struct A { #field })),
            "write #[clock(m_clk)], or #[clock(m_clk, m_rst)] with a reset"
        );
    }
}
