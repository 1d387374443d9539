//! The fields of an execution context, as the registers give them and as a HER carries them.

use super::HerShape;
use spinneret_verilog::prelude::*;

/// Width in bits of every field but `host_mem_addr`.
pub(super) const WORD: usize = 32;
/// Fields of that width.
pub(super) const WORDS: usize = 17;

/// Execution contexts side by side, context 0 in the lowest bits of each field, where they come from: the registers, or the
/// one of a HER.
#[interface(ContextsIn, contexts: usize, host_address: usize)]
pub struct ContextsOut {
    /// Address of the handlers' memory in L2.
    pub handler_mem_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub handler_mem_size: Wire<Out, { contexts * WORD }>,
    /// Address of the host's memory.
    pub host_mem_addr: Wire<Out, { contexts * host_address }>,
    /// Its size in bytes.
    pub host_mem_size: Wire<Out, { contexts * WORD }>,
    /// Address of the header handler; 0: there is none.
    pub hh_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub hh_size: Wire<Out, { contexts * WORD }>,
    /// Address of the payload handler; 0: there is none.
    pub ph_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub ph_size: Wire<Out, { contexts * WORD }>,
    /// Address of the tail handler; 0: there is none.
    pub th_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub th_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 0.
    pub scratchpad_0_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_0_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 1.
    pub scratchpad_1_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_1_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 2.
    pub scratchpad_2_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_2_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 3.
    pub scratchpad_3_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_3_size: Wire<Out, { contexts * WORD }>,
}

/// Packs a context as [`MetaUnpack`] unpacks it.
#[hardware(shape: HerShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct MetaPack {
    /// Its fields.
    pub meta: ContextsIn<1, { shape.host_address }>,
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
    pub meta: ContextsOut<1, { shape.host_address }>,
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
