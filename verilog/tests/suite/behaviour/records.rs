//! Records and bundles of ports: fields read and written, records in records, one word and back.

use crate::support::Suite;
use crate::support::vectors::FromNumber;
use spinneret_verilog::prelude::*;

/// What is wanted.
#[record(width: usize)]
struct WishFields {
    /// Where.
    place: Field<{ width }>,
    /// Now.
    urgent: Field<1>,
    /// Only some wishes have it.
    remark: Field<{ width % 2 }>,
}

/// A wish on its way.
#[record(width: usize)]
struct ParcelFields {
    /// The wish.
    wish: Field<{ WishFields::new(width) }>,
    /// Who has it.
    holder: Field<3>,
}

/// Wishes out of a block.
#[interface(WishIn, width: usize)]
struct WishOut {
    /// Where.
    place: Wire<Out, { width }>,
    /// Now.
    urgent: Wire<Out, bool>,
}

/// Wishes with who has them.
#[interface(ParcelIn, width: usize)]
struct ParcelOut {
    /// It is there.
    valid: Wire<Out, bool>,
    /// It is taken.
    ready: Wire<In, bool>,
    /// The wish.
    wish: WishOut<{ width }>,
    /// Who has it.
    holder: Wire<Out, 3>,
}

/// Numbers side by side.
#[interface(width: usize, times: usize)]
struct SideIn {
    /// Where.
    place: Wire<In, { times * width }>,
    /// How.
    how: Wire<In, { times }>,
}

/// Takes records apart, changes fields, and puts them together again.
#[hardware(
    width: usize,
    wish: WishFields = WishFields::new(width),
    parcel: ParcelFields = ParcelFields::new(width),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
struct Parcels {
    clk: Signal<In, Clock>,
    word: Wire<In, { parcel.width }>,
    place: Wire<In, { width }>,
    s: ParcelIn<{ width }>,
    several: SideIn<{ width }, 2>,
    changed: Wire<Out, { parcel.width }>,
    rebuilt: Wire<Out, { parcel.width }>,
    parts: Wire<Out, { 2 * width + 4 }>,
    m: ParcelOut<{ width }>,
    held: Reg<{ parcel.width }, Reset>,
    rst: Wire<In, bool>,
}

impl Logic for Parcels {
    #[kernel]
    fn update(&mut self) {
        let (wish, parcel, width) = (self._wish, self._parcel, self._width);
        clocked!(self.clk, self.rst => self.held);
        self.held.d.next = self.word.val();
        if self.held.q.val().field(parcel.wish).flag(wish.urgent) {
            self.held
                .d
                .next
                .set_field(parcel.holder, self.held.q.val().field(parcel.holder) + 1);
        }
        self.changed.next = self.held.q.val();
        self.changed.next.set_field(parcel.holder, lit(5, 3));
        self.rebuilt.next = pack!(parcel {
            holder: self.word.val().field(parcel.holder),
            wish: pack!(wish {
                remark: self.word.val().field(parcel.wish).field(wish.remark),
                urgent: !self.word.val().field(parcel.wish).flag(wish.urgent),
                place: self.place.val() ^ self.held.q.val().field(parcel.wish).field(wish.place),
            }),
        });
        /// What lies in two fields, and in part of one.
        self.parts.next = cat!(
            self.held.q.val().slice(width - 1, 3),
            self.held
                .q
                .val()
                .field(parcel.wish)
                .field(wish.place)
                .slice(1, width - 1),
            self.s.pack().slice(0, width + 2)
        );
        self.s.ready.next = self.m.ready.val();
        self.m.valid.next = self.s.valid.val();
        self.m.unpack(cat!(
            self.word.val().field(parcel.holder),
            self.several.pack_part(1, 2)
        ));
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    for width in [4, 7] {
        let drive = |block: &mut Parcels, values: &[num_bigint::BigUint]| {
            let mut values = values.iter();
            macro_rules! drive {
                ($($port:ident).+) => {{
                    let value = values.next().expect("a value");
                    block.$($port).+.next = FromNumber::from_number(value, &block.$($port).+.next);
                }};
            }
            drive!(word);
            drive!(place);
            drive!(s.valid);
            drive!(s.wish.place);
            drive!(s.wish.urgent);
            drive!(s.holder);
            drive!(several.place);
            drive!(several.how);
            drive!(m.ready);
            drive!(rst);
            assert!(values.next().is_none(), "an input is not driven");
        };
        let clock = |block: &mut Parcels, level: bool| block.clk.next = level.into();
        suite.add(
            &format!("parcels_{width}"),
            Parcels::new(width),
            drive,
            Some(clock),
        );
    }
}

#[test]
fn fields_have_their_names_in_the_text() {
    let design = spinneret_verilog::generate(&Parcels::new(7), "parcels").expect("it has a translation");
    let text = &design.modules[0].text;
    for line in [
        "    typedef struct packed {\n        logic remark;\n        logic urgent;\n        logic [6:0] place;\n    } wish_t;",
        "        logic [2:0] holder;\n        wish_t wish;\n    } parcel_t;",
        "    parcel_t held = 12'd0;",
        "    parcel_t word_fields;\n",
        "    assign word_fields = word;",
        "if (held.wish.urgent) begin",
        "held.holder <= held.holder + 3'd1;",
        "changed_fields.holder = 3'd5;",
        "assign changed = changed_fields;",
        "!word_fields.wish.urgent",
        "held.wish.place[6:1]",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// A field that has no name in Verilog.
#[hardware(fields: KeywordFields = KeywordFields::new())]
#[derive(LogicBlock, Describe, Clone, Debug)]
struct Keyword {
    a: Wire<In, { fields.width }>,
    y: Wire<Out, 2>,
}

/// Its name is a keyword.
#[record()]
struct KeywordFields {
    /// First.
    first: Field<2>,
    /// Last.
    end: Field<2>,
}

impl Logic for Keyword {
    #[kernel]
    fn update(&mut self) {
        self.y.next = self.a.val().field(self._fields.end);
    }
}

#[test]
fn a_keyword_is_no_field() {
    let error = spinneret_verilog::generate(&Keyword::new(), "top").expect_err("`end` is a keyword");
    assert_eq!(
        error.to_string(),
        "top: `KeywordFields.end` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
}

#[test]
#[should_panic(expected = "pack! gives the field urgent of WishFields 0 times")]
fn a_field_that_is_left_out_is_found() {
    let wish = WishFields::new(4);
    let _ = pack!(wish { place: lit(1, 4) });
}

#[test]
#[should_panic(expected = "a value of 5 bits meets a place of 4 bits")]
fn a_value_of_another_width_is_found() {
    let wish = WishFields::new(4);
    let _ = pack!(wish {
        place: lit(1, 5),
        urgent: true
    });
}
