//! What the attribute accepts, and the exact words with which it refuses the rest.

use crate::{docs, expression, hardware, interface, place, statement};
use quote::quote;
use syn::{Block, Expr, ItemFn, parse_quote};

fn expression_error(expr: Expr) -> String {
    expression::hardware(&expr)
        .expect_err("the expression has no hardware")
        .to_string()
}

fn statement_error(block: Block) -> String {
    statement::hardware(&block)
        .expect_err("the statement has no hardware")
        .to_string()
}

#[test]
fn reading_a_signal_makes_an_expression_hardware() {
    assert!(place::reads_signal(&parse_quote!(self.a.val() + 1)));
    assert!(place::reads_signal(&parse_quote!(cat!(
        self.a.val(),
        self.b.val()
    ))));
    assert!(place::reads_signal(&parse_quote!(word(self.a[i].val()))));
    assert!(!place::reads_signal(&parse_quote!(self._width * 2)));
    assert!(!place::reads_signal(&parse_quote!(State::Idle)));
    assert!(!place::reads_signal(&parse_quote!(value(3))));
}

#[test]
fn paths_become_names_with_indices_computed_by_rust() {
    let name = place::name(&parse_quote!(self.rules[2 * i + 1].hit)).unwrap();
    assert_eq!(
        name.to_string(),
        quote!(::std::format!("rules${}$hit", (2 * i + 1))).to_string()
    );
    let name = place::name(&parse_quote!(&mut self.fifo.s)).unwrap();
    assert_eq!(name.to_string(), quote!(::std::format!("fifo$s",)).to_string());
}

#[test]
fn states_are_told_from_constants_by_the_naming_rules_of_rust() {
    let variant = |expr: Expr| expression::variant(&expr);
    assert_eq!(variant(parse_quote!(State::Idle)).as_deref(), Some("State::Idle"));
    assert_eq!(
        variant(parse_quote!(module::State::A)).as_deref(),
        Some("State::A")
    );
    assert_eq!(variant(parse_quote!(Self::LANES)), None);
    assert_eq!(variant(parse_quote!(LANES)), None);
}

#[test]
fn refuses_expressions_without_hardware() {
    assert_eq!(
        expression_error(parse_quote!(if self.a.val() { 1 } else { 0 })),
        "a decision is not a value in hardware: assign a default, then override it in an if statement"
    );
    assert_eq!(
        expression_error(parse_quote!(self.a.val() % 3)),
        "this operator has no hardware"
    );
    assert_eq!(
        expression_error(parse_quote!(self.a.val().pow(2))),
        "the method pow has no hardware"
    );
    assert_eq!(
        expression_error(parse_quote!(max(self.a.val(), self.b.val()))),
        "the only functions in hardware are fill, word and bit_cast"
    );
    assert_eq!(
        expression_error(parse_quote!(self.a.val().slice(0, self.width.val()))),
        "a width must be known when hardware is generated"
    );
    assert_eq!(
        expression_error(parse_quote!(self.words[self.select.val().index()].val())),
        "an index into an array of signals must be known when hardware is generated: select with a loop and an if"
    );
    assert_eq!(
        expression_error(parse_quote!(vec![self.a.val()])),
        "the only macros that are values in hardware are cat! and pack!"
    );
    assert_eq!(
        expression_error(parse_quote!(&[self.a.val()])),
        "this expression reads a signal but has no hardware"
    );
    assert_eq!(
        expression_error(parse_quote!(other.val())),
        "not a signal: write self.field, self.field[i].port"
    );
    assert_eq!(
        expression_error(parse_quote!(self.a.val().get_bit())),
        "get_bit takes more arguments"
    );
}

#[test]
fn refuses_statements_without_hardware() {
    let refused = |block: Block, message: &str| assert_eq!(statement_error(block), message);
    refused(
        parse_quote!({
            self.a.next.set_slice(0, self.width.val(), 3);
        }),
        "a width must be known when hardware is generated",
    );
    refused(
        parse_quote!({
            let x = self.a.val();
        }),
        "a let cannot hold a signal's value: declare a Wire<Local, _> and assign it",
    );
    refused(
        parse_quote!({
            self.a = 3;
        }),
        "assign to a signal's `next`",
    );
    refused(
        parse_quote!({ for i in 0..self.n.val() {} }),
        "a loop's range must be known when hardware is generated",
    );
    refused(parse_quote!({ while true {} }), "this statement has no hardware");
    refused(
        parse_quote!({
            println!("x");
        }),
        "the only macros that are statements of a kernel are clocked! and connect!",
    );
    refused(
        parse_quote!({
            self.a.next.push(3);
        }),
        "a part of a signal is assigned by set_field, set_slice or set_bit",
    );
    refused(
        parse_quote!({
            match self.a.val() {
                1 if self.b.val() => {}
                _ => {}
            }
        }),
        "a guard has no hardware: use an if inside the arm",
    );
    refused(
        parse_quote!({
            match self.a.val() {
                x => {}
            }
        }),
        "a case is a number, a bit, a state, or _",
    );
    refused(
        parse_quote!({ if let 1 = self.a.val() {} }),
        "`if let` does not belong into a kernel",
    );
    refused(
        parse_quote!({
            helper(&mut self.a);
        }),
        "this statement has no hardware",
    );
    refused(
        parse_quote!({
            connect!(self.a => self.b, but valid);
        }),
        "behind a comma comes `except`",
    );
    refused(
        parse_quote!({
            connect!(other => self.b);
        }),
        "connect! joins ports: write self.field, self.part.field",
    );
    refused(
        parse_quote!({
            fn f() {}
        }),
        "items do not belong into a kernel",
    );
}

#[test]
fn documentation_of_statements_reaches_the_text_and_leaves_the_rust() {
    let mut function: ItemFn = parse_quote! {
        fn update(&mut self) {
            /// Adds.
            self.sum.next = self.a.val() + 1;
        }
    };
    let hardware = statement::hardware(&function.block).unwrap().to_string();
    assert!(hardware.contains("\"Adds.\""), "{hardware}");
    docs::strip_docs(&mut function.block);
    assert!(!quote!(#function).to_string().contains("Adds"));
}

#[test]
fn generation_time_decisions_stay_in_rust() {
    let block: Block = parse_quote!({
        if self._wide {
            self.a.next = 1.into();
        } else {
            self.a.next = 2.into();
        }
    });
    let hardware = statement::hardware(&block).unwrap().to_string();
    assert!(hardware.starts_with("if self . _wide"), "{hardware}");
    let block: Block = parse_quote!({
        if self.wide.val() {
            self.a.next = 1.into();
        }
    });
    let hardware = statement::hardware(&block).unwrap().to_string();
    assert!(hardware.contains("VerilogConditional"), "{hardware}");
}

fn hardware_error(item: syn::ItemStruct) -> String {
    hardware::expand(&parse_quote!(width: usize), item)
        .expect_err("the field says too little")
        .to_string()
}

#[test]
fn fields_of_hardware_say_how_they_are_made() {
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: Wire<In>,
            }
        )),
        "give its width, Wire<In, { width }>, or bool"
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: Reg,
            }
        )),
        "give its width, Reg<{ width }>, or bool; `Reset` comes behind it"
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: Optional<Reg<bool>>,
            }
        )),
        "say when it is there: Optional<Part, { condition }>"
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: (Reg<bool>, Reg<bool>),
            }
        )),
        "say how it is made: #[new(...)]"
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block(Reg<bool>);
        )),
        "hardware has fields with names"
    );
}

#[test]
fn nothing_is_made_in_silence() {
    let made = "say how it is made: #[new(...)]";
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: Vec<Reg<bool>>,
            }
        )),
        made
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                a: Option<Fifo>,
            }
        )),
        made
    );
    assert_eq!(
        hardware_error(parse_quote!(
            struct Block {
                _lanes: usize,
            }
        )),
        made
    );
    assert_eq!(
        hardware_error(parse_quote!(
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
        hardware::expand(
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
        Some("the arguments are `Block { fields }`, `suffix = ...`, `parameters(...)` and `numbers(...)`")
    );
}
