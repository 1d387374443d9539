//! Records and bundles of ports: fields read and written, records in records, one word and back.

use crate::support::Suite;
use num_bigint::BigUint;
use spinneret_verilog::prelude::*;

/// A request.
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
    /// Its owner.
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
    /// Its owner.
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
#[module(
    width: usize,
    wish: WishFields = WishFields::new(width),
    parcel: ParcelFields = ParcelFields::new(width),
)]
struct Parcels {
    word: Wire<In, { parcel.width }>,
    place: Wire<In, { width }>,
    s: ParcelIn<{ width }>,
    several: SideIn<{ width }, 2>,
    changed: Wire<Out, { parcel.width }>,
    rebuilt: Wire<Out, { parcel.width }>,
    parts: Wire<Out, { 2 * width + 4 }>,
    m: ParcelOut<{ width }>,
    held: Reg<{ parcel.width }, Reset>,
}

#[kernel(Parcels { word, place, s, several, changed, rebuilt, parts, m, held, wish, parcel, width })]
fn update() {
    held = word;
    if held.field(parcel.wish).flag(wish.urgent) {
        held.field(parcel.holder) = held.field(parcel.holder) + 1;
    }
    changed = held;
    changed.field(parcel.holder) = 5;
    rebuilt = pack!(parcel {
        holder: word.field(parcel.holder),
        wish: pack!(wish {
            remark: word.field(parcel.wish).field(wish.remark),
            urgent: !word.field(parcel.wish).flag(wish.urgent),
            place: place ^ held.field(parcel.wish).field(wish.place),
        }),
    });
    /// Two fields, and a part of one.
    parts = cat!(
        held.slice(width - 1, 3),
        held.field(parcel.wish).field(wish.place).slice(1, width - 1),
        s.pack().slice(0, width + 2)
    );
    s.ready = m.ready;
    m.valid = s.valid;
    m.unpack(cat!(word.field(parcel.holder), several.pack_part(1, 2)));
}

/// Models the block. A word holds the place, the urgent bit, perhaps a remark, and three bits of holder, in this order.
fn parcels(width: usize) -> impl FnMut(&[BigUint]) -> Vec<BigUint> {
    let mut held = 0_u64;
    let remark = width % 2;
    let bits = move |value: u64, low: usize, width: usize| value >> low & ((1 << width) - 1);
    let holder = width + 1 + remark;
    let with_holder = move |word: u64, value: u64| word & !(7 << holder) | (value & 7) << holder;
    move |inputs| {
        let inputs: Vec<u64> = inputs
            .iter()
            .map(|input| input.iter_u64_digits().next().unwrap_or(0))
            .collect();
        let [
            rst,
            word,
            place,
            valid,
            s_place,
            s_urgent,
            s_holder,
            several,
            how,
            ready,
        ] = inputs[..]
        else {
            panic!("ten inputs")
        };
        let changed = with_holder(held, 5);
        let rebuilt = bits(word, holder, 3) << holder
            | bits(word, width + 1, remark) << (width + 1)
            | (1 - bits(word, width, 1)) << width
            | (place ^ bits(held, 0, width));
        let packed = s_holder << (width + 1) | s_urgent << width | s_place;
        let parts = bits(held, width - 1, 3) << (2 * width + 1)
            | bits(held, 1, width - 1) << (width + 2)
            | bits(packed, 0, width + 2);
        let m = [
            valid,
            bits(several, width, width),
            bits(how, 1, 1),
            bits(word, holder, 3),
        ];
        let next = match bits(held, width, 1) {
            1 => with_holder(word, bits(held, holder, 3) + 1),
            _ => word,
        };
        held = if rst == 1 { 0 } else { next };
        let outputs = [ready, changed, rebuilt, parts].into_iter().chain(m);
        outputs.map(BigUint::from).collect()
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    for width in [4, 7] {
        let block = Parcels::new(width);
        suite.model(&format!("parcels_{width}"), &block, true, parcels(width));
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
#[module(no_clock, fields: KeywordFields = KeywordFields::new())]
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

#[kernel(Keyword { a, y, fields })]
fn update() {
    y = a.field(fields.end);
}

#[test]
fn a_keyword_is_no_field() {
    let error = spinneret_verilog::generate(&Keyword::new(), "top").expect_err("`end` is a keyword");
    assert_eq!(
        error.to_string(),
        "top: `KeywordFields.end` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
}

/// A record that leaves a field out.
#[module(no_clock, wish: WishFields = WishFields::new(4))]
struct Incomplete {
    y: Wire<Out, 5>,
}

#[kernel(Incomplete { y, wish })]
fn update() {
    y = pack!(wish { place: lit(1, 4) });
}

#[test]
#[should_panic(expected = "pack! gives the field urgent of WishFields 0 times")]
fn a_field_that_is_left_out_is_found() {
    let _ = spinneret_verilog::generate(&Incomplete::new(), "top");
}
