//! The fields of an execution context, as the registers give them and as a HER carries them.

use super::HerShape;
use spinneret_verilog::prelude::*;

/// Width in bits of every field but `host_mem_addr`.
pub(super) const WORD: usize = 32;
/// Fields of that width.
pub(super) const WORDS: usize = 17;

macro_rules! bundle {
    ($direction:ident, $(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[derive(LogicInterface, Clone, Debug)]
        pub struct $name {
            /// Address of the handlers' memory in L2.
            pub handler_mem_addr: Wire<$direction>,
            /// Its size in bytes.
            pub handler_mem_size: Wire<$direction>,
            /// Address of the host's memory.
            pub host_mem_addr: Wire<$direction>,
            /// Its size in bytes.
            pub host_mem_size: Wire<$direction>,
            /// Address of the header handler; 0: there is none.
            pub hh_addr: Wire<$direction>,
            /// Its size in bytes.
            pub hh_size: Wire<$direction>,
            /// Address of the payload handler; 0: there is none.
            pub ph_addr: Wire<$direction>,
            /// Its size in bytes.
            pub ph_size: Wire<$direction>,
            /// Address of the tail handler; 0: there is none.
            pub th_addr: Wire<$direction>,
            /// Its size in bytes.
            pub th_size: Wire<$direction>,
            /// Address of the scratchpad in L1 of cluster 0.
            pub scratchpad_0_addr: Wire<$direction>,
            /// Its size in bytes.
            pub scratchpad_0_size: Wire<$direction>,
            /// Address of the scratchpad in L1 of cluster 1.
            pub scratchpad_1_addr: Wire<$direction>,
            /// Its size in bytes.
            pub scratchpad_1_size: Wire<$direction>,
            /// Address of the scratchpad in L1 of cluster 2.
            pub scratchpad_2_addr: Wire<$direction>,
            /// Its size in bytes.
            pub scratchpad_2_size: Wire<$direction>,
            /// Address of the scratchpad in L1 of cluster 3.
            pub scratchpad_3_addr: Wire<$direction>,
            /// Its size in bytes.
            pub scratchpad_3_size: Wire<$direction>,
        }

        impl $name {
            /// Ports that each carry that many contexts side by side.
            fn side_by_side(contexts: usize, host_address: usize) -> Self {
                let word = || Wire::word(contexts * WORD);
                Self {
                    handler_mem_addr: word(),
                    handler_mem_size: word(),
                    host_mem_addr: Wire::word(contexts * host_address),
                    host_mem_size: word(),
                    hh_addr: word(),
                    hh_size: word(),
                    ph_addr: word(),
                    ph_size: word(),
                    th_addr: word(),
                    th_size: word(),
                    scratchpad_0_addr: word(),
                    scratchpad_0_size: word(),
                    scratchpad_1_addr: word(),
                    scratchpad_1_size: word(),
                    scratchpad_2_addr: word(),
                    scratchpad_2_size: word(),
                    scratchpad_3_addr: word(),
                    scratchpad_3_size: word(),
                }
            }
        }
    };
}

bundle! {
    In,
    /// All contexts, as the registers give them: context 0 in the lowest bits of each field.
    ContextsIn
}

bundle! {
    Out,
    /// All contexts, where the registers are.
    ContextsOut
}

bundle! {
    Out,
    /// One context, as a HER carries it.
    MetaOut
}

bundle! {
    In,
    /// One context, as a HER brings it.
    MetaIn
}

/// Joins every field of one bundle with that of the other.
macro_rules! join_fields {
    ($this:ident $other:ident) => {
        join_fields! { $this $other:
            handler_mem_addr handler_mem_size host_mem_addr host_mem_size
            hh_addr hh_size ph_addr ph_size th_addr th_size
            scratchpad_0_addr scratchpad_0_size scratchpad_1_addr scratchpad_1_size
            scratchpad_2_addr scratchpad_2_size scratchpad_3_addr scratchpad_3_size
        }
    };
    ($this:ident $other:ident: $($field:ident)+) => {
        $($this.$field.join(&mut $other.$field);)+
    };
}

impl ContextsIn {
    /// Ports for the contexts of a HER generator.
    pub fn new(shape: HerShape) -> Self {
        Self::side_by_side(shape.contexts, shape.host_address)
    }
}

impl ContextsOut {
    /// Ports for so many contexts, with host addresses of that width.
    pub fn new(contexts: usize, host_address: usize) -> Self {
        Self::side_by_side(contexts, host_address)
    }

    /// Feeds the other side.
    pub fn join(&mut self, other: &mut ContextsIn) {
        join_fields!(self other);
    }
}

impl MetaOut {
    /// Ports for one context.
    pub fn new(shape: HerShape) -> Self {
        Self::side_by_side(1, shape.host_address)
    }

    /// Feeds the other side.
    pub fn join(&mut self, other: &mut MetaIn) {
        join_fields!(self other);
    }
}

impl MetaIn {
    /// Ports for one context.
    pub fn new(shape: HerShape) -> Self {
        Self::side_by_side(1, shape.host_address)
    }
}

/// Packs a context as [`MetaUnpack`] unpacks it.
#[hardware(shape: HerShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MetaPack {
    /// Its fields.
    pub meta: MetaIn<{ shape }>,
    /// The packed context.
    pub fields: Wire<Out, { shape.context_width() }>,
}

impl Logic for MetaPack {
    #[kernel]
    fn update(&mut self) {
        self.fields.next = cat!(
            self.meta.host_mem_addr.val(),
            self.meta.scratchpad_3_size.val(),
            self.meta.scratchpad_3_addr.val(),
            self.meta.scratchpad_2_size.val(),
            self.meta.scratchpad_2_addr.val(),
            self.meta.scratchpad_1_size.val(),
            self.meta.scratchpad_1_addr.val(),
            self.meta.scratchpad_0_size.val(),
            self.meta.scratchpad_0_addr.val(),
            self.meta.th_size.val(),
            self.meta.th_addr.val(),
            self.meta.ph_size.val(),
            self.meta.ph_addr.val(),
            self.meta.hh_size.val(),
            self.meta.hh_addr.val(),
            self.meta.host_mem_size.val(),
            self.meta.handler_mem_size.val(),
            self.meta.handler_mem_addr.val()
        );
    }
}

/// Gives a packed context its ports: {host_mem_addr, all other fields in the order of the ports, first lowest}.
#[hardware(shape: HerShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MetaUnpack {
    /// The packed context.
    pub fields: Wire<In, { shape.context_width() }>,
    /// Its fields.
    pub meta: MetaOut<{ shape }>,
}

impl Logic for MetaUnpack {
    #[kernel]
    fn update(&mut self) {
        let word = |number: usize| WORD * number;
        self.meta.handler_mem_addr.next = self.fields.val().slice(word(0), WORD);
        self.meta.handler_mem_size.next = self.fields.val().slice(word(1), WORD);
        self.meta.host_mem_size.next = self.fields.val().slice(word(2), WORD);
        self.meta.hh_addr.next = self.fields.val().slice(word(3), WORD);
        self.meta.hh_size.next = self.fields.val().slice(word(4), WORD);
        self.meta.ph_addr.next = self.fields.val().slice(word(5), WORD);
        self.meta.ph_size.next = self.fields.val().slice(word(6), WORD);
        self.meta.th_addr.next = self.fields.val().slice(word(7), WORD);
        self.meta.th_size.next = self.fields.val().slice(word(8), WORD);
        self.meta.scratchpad_0_addr.next = self.fields.val().slice(word(9), WORD);
        self.meta.scratchpad_0_size.next = self.fields.val().slice(word(10), WORD);
        self.meta.scratchpad_1_addr.next = self.fields.val().slice(word(11), WORD);
        self.meta.scratchpad_1_size.next = self.fields.val().slice(word(12), WORD);
        self.meta.scratchpad_2_addr.next = self.fields.val().slice(word(13), WORD);
        self.meta.scratchpad_2_size.next = self.fields.val().slice(word(14), WORD);
        self.meta.scratchpad_3_addr.next = self.fields.val().slice(word(15), WORD);
        self.meta.scratchpad_3_size.next = self.fields.val().slice(word(16), WORD);
        self.meta.host_mem_addr.next = self.fields.val().slice(word(WORDS), self._shape.host_address);
    }
}
