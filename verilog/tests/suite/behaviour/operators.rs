//! Every operator: the block in Rust against its text in Icarus Verilog and Verilator.

#![allow(clippy::nonminimal_bool, reason = "the kernels are what is tested")]

use rust_hdl::prelude::*;

use crate::case;
use crate::support::Suite;

/// Declares a block of inputs and outputs with a kernel of rust-hdl.
macro_rules! block {
    ($name:ident { $($field:ident : $direction:ident $type:ty),* $(,)? } $($kernel:tt)*) => {
        #[derive(LogicBlock, Default)]
        struct $name { $( $field: Signal<$direction, $type>, )* }
        impl Logic for $name { $($kernel)* }
    };
}

block!(Precedence { a: In Bits<3>, b: In Bits<3>, c: In Bits<3>, y: Out Bit, z: Out Bit, x: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() & self.b.val() == self.c.val();
    self.z.next = self.a.val() | self.b.val() ^ self.c.val() != self.a.val() + self.b.val();
    self.x.next = (self.a.val() < self.b.val()) == (self.b.val() <= self.c.val());
});

block!(WrappingSum { a: In Bits<4>, b: In Bits<4>, y: Out Bit, z: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = (self.a.val() + 1) == self.b.val();
    self.z.next = (self.a.val() - self.b.val()) > 3;
});

block!(NotCompared { a: In Bits<4>, y: Out Bit, z: Out Bits<4>, w: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = !self.a.val() == 15;
    self.z.next = !self.a.val() + 1;
    self.w.next = !(self.a.val() == 3);
});

block!(CastSum { a: In Bits<4>, b: In Bits<4>, wide: Out Bits<8>, carry: Out Bits<5>, narrow: Out Bits<2>, odd: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.wide.next = bit_cast::<8, 4>(self.a.val() + self.b.val());
    self.carry.next = bit_cast::<5, 4>(self.a.val()) + bit_cast::<5, 4>(self.b.val());
    self.narrow.next = bit_cast::<2, 4>(self.a.val() - self.b.val());
    self.odd.next = bit_cast::<8, 4>(self.a.val() << 1) | bit_cast::<8, 4>(!self.b.val());
});

block!(Comparisons { a: In Bits<5>, b: In Bits<5>, y: Out Bits<6> , lt: Out Bit, le: Out Bit, gt: Out Bit, ge: Out Bit, ltk: Out Bit, gek: Out Bit, zero: Out Bit, full: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = bits::<6>(9);
    self.lt.next = self.a.val() < self.b.val();
    self.le.next = self.a.val() <= self.b.val();
    self.gt.next = self.a.val() > self.b.val();
    self.ge.next = self.a.val() >= self.b.val();
    self.ltk.next = self.a.val() < 17;
    self.gek.next = 20 >= self.b.val();
    self.zero.next = self.a.val() >= 0;
    self.full.next = self.a.val() > 31;
});

block!(Reductions { a: In Bits<5>, all: Out Bit, any: Out Bit, odd: Out Bit, mixed: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.all.next = self.a.val().all();
    self.any.next = self.a.val().any();
    self.odd.next = self.a.val().xor();
    self.mixed.next = !self.a.val().all() & self.a.val().any() ^ (self.a.val() + 3).xor();
});

block!(Shifts { a: In Bits<5>, n: In Bits<4>, l: Out Bits<5>, r: Out Bits<5>, l2: Out Bits<5>, r9: Out Bits<5>, c: Out Bit, k: Out Bits<5> } #[hdl_gen] fn update(&mut self) {
    self.l.next = self.a.val() << self.n.val();
    self.r.next = self.a.val() >> self.n.val();
    self.l2.next = self.a.val() << 2;
    self.r9.next = self.a.val() >> 9;
    self.c.next = (self.a.val() << self.n.val()) == self.a.val();
    self.k.next = (self.a.val() + 1) >> (self.n.val() + 1);
});

block!(WideShifts { a: In Bits<42>, n: In Bits<40>, m: In Bits<64>, l: Out Bits<42>, r: Out Bits<42>, x: Out Bits<4> } #[hdl_gen] fn update(&mut self) {
    self.l.next = self.a.val() << self.n.val();
    self.r.next = self.a.val() >> self.m.val();
    self.x.next = (self.a.val() >> self.n.val()).get_bits::<4>(3);
});

block!(Bools { a: In Bit, b: In Bit, c: In Bit, y: Out Bit, z: Out Bit, w: Out Bit, v: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() && !self.b.val() || self.c.val();
    self.z.next = self.a.val() & self.b.val() | self.c.val() ^ true;
    self.w.next = !(self.a.val() | self.b.val()) == self.c.val();
    self.v.next = self.a.val() != self.b.val() || false;
});

block!(AddBool { a: In Bits<4>, b: In Bit, y: Out Bits<4> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() + self.b.val();
});

block!(Product { a: In Bits<16>, b: In Bits<16>, y: Out Bits<32>, z: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() * self.b.val();
    self.z.next = (self.a.val() * self.b.val()).get_bits::<8>(13);
});

block!(SignedProduct { a: In Signed<16>, b: In Signed<16>, y: Out Signed<32> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() * self.b.val();
});

block!(SignedCompare { a: In Signed<5>, b: In Signed<5>, lt: Out Bit, le: Out Bit, gt: Out Bit, ge: Out Bit, eq: Out Bit, sum: Out Bit, neg: Out Signed<5>, dif: Out Signed<5>, lit: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.lt.next = self.a.val() < self.b.val();
    self.le.next = self.a.val() <= self.b.val();
    self.gt.next = self.a.val() > self.b.val();
    self.ge.next = self.a.val() >= self.b.val();
    self.eq.next = self.a.val() == self.b.val();
    self.sum.next = (self.a.val() + self.b.val()) < self.b.val();
    self.neg.next = -self.a.val();
    self.dif.next = self.a.val() - self.b.val();
    self.lit.next = self.a.val() < 3.to_signed_bits();
});

block!(SignedCasts { a: In Signed<4>, u: In Bits<4>, w: Out Signed<8>, s: Out Bit, t: Out Bit, r: Out Bits<4>, n: Out Signed<2> } #[hdl_gen] fn update(&mut self) {
    // In Rust the cast of the most negative value does not end.
    self.w.next = (-3).to_signed_bits();
    if self.a.val() != (-8).to_signed_bits() {
        self.w.next = signed_bit_cast::<8, 4>(self.a.val());
    }
    self.s.next = signed_cast(self.u.val()) < self.a.val();
    self.t.next = unsigned_cast(self.a.val()) < self.u.val();
    self.r.next = unsigned_cast(self.a.val()) + 1;
    self.n.next = self.a.val().get_bits::<2>(1);
});

block!(Slices { a: In Bits<10>, y: Out Bits<3>, z: Out Bits<4>, w: Out Bits<6>, v: Out Bits<4>, b: Out Bit, c: Out Bit, d: Out Bits<16>, e: Out Bits<3> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<3>(4);
    self.z.next = (self.a.val() + 77).get_bits::<4>(5);
    self.w.next = (self.a.val() ^ 0x155).get_bits::<6>(2);
    self.v.next = (self.a.val() >> 3).get_bits::<4>(2);
    self.b.next = self.a.val().get_bit(9);
    self.c.next = (self.a.val() - 5).get_bit(6);
    self.d.next = self.a.val().get_bits::<16>(4);
    self.e.next = ((self.a.val() + 3) + (self.a.val() >> 2)).get_bits::<8>(1).get_bits::<3>(2);
});

block!(VariableSlices { a: In Bits<64>, i: In Bits<3>, j: In Bits<6>, y: Out Bits<8>, b: Out Bit, n: Out Bits<4>, m: Out Bits<20>, e: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<8>(self.i.val().index() * 8);
    self.b.next = self.a.val().get_bit(self.j.val().index());
    self.n.next = self.a.val().get_bits::<4>(self.i.val().index() * 5 + 3);
    self.m.next = self.a.val().get_bits::<20>(self.j.val().index());
    self.e.next = (self.a.val() + 1).get_bits::<8>(self.i.val().index());
});

block!(ReplaceBits { a: In Bits<8>, i: In Bits<3>, v: In Bit, c: Out Bits<8>, d: Out Bits<8>, e: Out Bits<8>, f: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.c.next = self.a.val().replace_bit(5, self.v.val());
    self.d.next = self.a.val().replace_bit(self.i.val().index(), self.v.val());
    self.e.next = self.a.val().replace_bit(self.i.val().index(), self.v.val()) + 1;
    self.f.next = 0.into();
    self.f.next = self.f.val().replace_bit(self.i.val().index(), self.v.val()).replace_bit(2, true);
});

block!(Concatenation { a: In Bits<3>, b: In Bits<4>, c: In Bit, y: Out Bits<8>, z: Out Bits<12>, k: Out Bits<8>, o: Out Bits<8>, p: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.y.next = bit_cast::<8, 3>(self.a.val()) << 5 | bit_cast::<8, 4>(self.b.val()) << 1;
    self.z.next = bit_cast::<12, 4>(self.b.val()) << 8 | bit_cast::<12, 3>(self.a.val());
    self.k.next = bit_cast::<8, 4>(self.b.val()) << 4 | 0x0A;
    self.o.next = bit_cast::<8, 4>(self.b.val()) << 2 | bit_cast::<8, 3>(self.a.val());
    self.p.next = bit_cast::<8, 3>(self.a.val()) << 7 | bit_cast::<8, 4>(self.b.val());
});

block!(Wide { a: In Bits<100>, b: In Bits<100>, n: In Bits<7>, sum: Out Bits<100>, dif: Out Bits<100>, lt: Out Bit, eq: Out Bit, sh: Out Bits<100>, cut: Out Bits<70>, inv: Out Bits<100>, lit: Out Bits<100> } #[hdl_gen] fn update(&mut self) {
    self.sum.next = self.a.val() + self.b.val();
    self.dif.next = self.a.val() - self.b.val();
    self.lt.next = self.a.val() < self.b.val();
    self.eq.next = (self.a.val() ^ self.b.val()) == (self.b.val() ^ self.a.val());
    self.sh.next = self.a.val() >> self.n.val();
    self.cut.next = self.a.val().get_bits::<70>(17);
    self.inv.next = !self.a.val();
    self.lit.next = self.a.val() & 0xFFFF_0000_FFFF_0000_u64;
});

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    case!(suite, Precedence, [a, b, c]);
    case!(suite, WrappingSum, [a, b]);
    case!(suite, NotCompared, [a]);
    case!(suite, CastSum, [a, b]);
    case!(suite, Comparisons, [a, b]);
    case!(suite, Reductions, [a]);
    case!(suite, Shifts, [a, n]);
    case!(suite, WideShifts, [a, n, m]);
    case!(suite, Bools, [a, b, c]);
    case!(suite, AddBool, [a, b]);
    case!(suite, Product, [a, b]);
    case!(suite, SignedProduct, [a, b]);
    case!(suite, SignedCompare, [a, b]);
    case!(suite, SignedCasts, [a, u]);
    case!(suite, Slices, [a]);
    case!(suite, VariableSlices, [a, i, j]);
    case!(suite, ReplaceBits, [a, i, v]);
    case!(suite, Concatenation, [a, b, c]);
    case!(suite, Wide, [a, b, n]);
}
