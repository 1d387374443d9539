//! One rule of the matching engine: in plain numbers, and as its registers hold it.
//!
//! A rule takes the 32-bit word at bytes `4*idx` to `4*idx+3` of the frame, first byte most
//! significant, keeps the bits of `mask`, and matches if the result is at least `start` and at most
//! `end`. [`Rule`] holds these numbers as people write them. Software has always written mask, start
//! and end to the registers byte-swapped (`htonl` on a little-endian host) and the index plain;
//! [`RuleRegisters`] is that form, and the only place where bytes are swapped is here.
//!
//! ```text
//! frame byte   0  1  2  3 | 4  5 ...      word 3 of an IPv4 frame: 08 00 45 00
//!              word 0     | word 1 ...    Rule::IPV4: mask ffff0000, start = end = 08000000
//! ```

/// Size in bytes of a frame's word that a rule looks at.
pub const WORD_BYTES: usize = 4;

/// A rule in plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Index of the word in the frame, counted in words of four bytes from 0.
    pub idx: u32,
    /// Bits of the word that are compared.
    pub mask: u32,
    /// Smallest masked value that matches.
    pub start: u32,
    /// Largest masked value that matches.
    pub end: u32,
    /// The index counts from the start of the IPv4 or IPv6 payload; a frame without one never matches.
    pub relative: bool,
}

impl Rule {
    /// Matches no frame: start is above end.
    pub const NEVER: Self = Self {
        idx: 0,
        mask: 0,
        start: 1,
        end: 0,
        relative: false,
    };
    /// Matches every frame that has a first word, that is, four bytes or more.
    pub const ALWAYS: Self = Self {
        idx: 0,
        mask: 0,
        start: 0,
        end: 0,
        relative: false,
    };
    /// Ethernet type is IPv4, in a frame without VLAN tags.
    pub const IPV4: Self = Self::equal(3, 0xffff_0000, 0x0800_0000);
    /// ICMP type is echo request, after an IPv4 header of 20 bytes. Does not look at the IP protocol.
    pub const ICMP_ECHO_REQUEST: Self = Self::equal(8, 0xff00, 0x0800);
    /// SLMP's end-of-message flag, after an IPv4 header of 20 bytes.
    pub const SLMP_END_OF_MESSAGE: Self = Self::equal(10, 0x8000, 0x8000);
    /// SLMP's flag that asks the receiver to acknowledge.
    pub const SLMP_SYN: Self = Self::equal(10, 0x4000, 0x4000);
    /// SLMP's flag of an acknowledgement.
    pub const SLMP_ACK: Self = Self::equal(10, 0x2000, 0x2000);

    /// ICMP type is echo request. Does not look at the IP protocol.
    pub const IP_PAYLOAD_ICMP_ECHO_REQUEST: Self = Self::equal(0, 0xff00_0000, 0x0800_0000).in_ip_payload();
    /// SLMP's end-of-message flag, behind any IP header.
    pub const IP_PAYLOAD_SLMP_END_OF_MESSAGE: Self = Self::equal(2, 0x8000_0000, 0x8000_0000).in_ip_payload();
    /// SLMP's flag that asks the receiver to acknowledge, behind any IP header.
    pub const IP_PAYLOAD_SLMP_SYN: Self = Self::equal(2, 0x4000_0000, 0x4000_0000).in_ip_payload();
    /// SLMP's flag of an acknowledgement, behind any IP header.
    pub const IP_PAYLOAD_SLMP_ACK: Self = Self::equal(2, 0x2000_0000, 0x2000_0000).in_ip_payload();

    /// IPv4 protocol number from `first` to `last`.
    pub const fn ip_protocol(first: u8, last: u8) -> Self {
        Self {
            idx: 5,
            mask: 0xff,
            start: first as u32,
            end: last as u32,
            relative: false,
        }
    }

    /// UDP (or TCP) destination port from `first` to `last`, after an IPv4 header of 20 bytes.
    pub const fn udp_destination_port(first: u16, last: u16) -> Self {
        Self {
            idx: 9,
            mask: 0xffff_0000,
            start: (first as u32) << 16,
            end: (last as u32) << 16,
            relative: false,
        }
    }

    /// UDP (or TCP) source port from `first` to `last`, after an IPv4 header of 20 bytes.
    pub const fn udp_source_port(first: u16, last: u16) -> Self {
        Self {
            idx: 8,
            mask: 0xffff,
            start: first as u32,
            end: last as u32,
            relative: false,
        }
    }

    /// UDP (or TCP) destination port from `first` to `last`, behind any IP header.
    pub const fn ip_payload_destination_port(first: u16, last: u16) -> Self {
        Self {
            idx: 0,
            mask: 0xffff,
            start: first as u32,
            end: last as u32,
            relative: true,
        }
    }

    /// UDP (or TCP) source port from `first` to `last`, behind any IP header.
    pub const fn ip_payload_source_port(first: u16, last: u16) -> Self {
        Self {
            idx: 0,
            mask: 0xffff_0000,
            start: (first as u32) << 16,
            end: (last as u32) << 16,
            relative: true,
        }
    }

    /// The same rule with its index counted from the start of the IP payload.
    #[must_use]
    pub const fn in_ip_payload(self) -> Self {
        Self {
            relative: true,
            ..self
        }
    }

    /// The masked word has exactly this value.
    pub const fn equal(idx: u32, mask: u32, value: u32) -> Self {
        Self {
            idx,
            mask,
            start: value,
            end: value,
            relative: false,
        }
    }

    /// Whether a word of a frame, first byte most significant, matches.
    pub const fn matches_word(&self, word: u32) -> bool {
        let value = word & self.mask;
        self.start <= value && value <= self.end
    }

    /// Whether there is a word that matches.
    pub const fn can_match(&self) -> bool {
        match self.smallest_masked_value_from_start() {
            Some(value) => value <= self.end,
            None => false,
        }
    }

    /// The rule as the registers hold it.
    pub const fn to_registers(self) -> RuleRegisters {
        RuleRegisters {
            idx: self.idx,
            mask: encode_field(self.mask),
            start: encode_field(self.start),
            end: encode_field(self.end),
            relative: self.relative as u32,
        }
    }

    /// The smallest value within the mask that is not below start; `None` if start is above all of them.
    const fn smallest_masked_value_from_start(&self) -> Option<u32> {
        let outside = self.start & !self.mask;
        if outside == 0 {
            return Some(self.start);
        }
        // The highest bit of start that the mask cannot produce: a value that is large enough must be
        // larger already above that bit, so the next higher masked bit that start leaves 0 goes to 1.
        let highest = 31 - outside.leading_zeros();
        let free_above = self.mask & !self.start & above(highest);
        if free_above == 0 {
            return None;
        }
        let raised = 1 << free_above.trailing_zeros();
        Some((self.start & above(free_above.trailing_zeros())) | raised)
    }
}

/// A rule as the registers of the matching engine hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleRegisters {
    /// Word index, plain.
    pub idx: u32,
    /// Mask, byte-swapped.
    pub mask: u32,
    /// Start, byte-swapped.
    pub start: u32,
    /// End, byte-swapped.
    pub end: u32,
    /// Bit 0: the index counts from the start of the IP payload.
    pub relative: u32,
}

impl RuleRegisters {
    /// The rule in plain numbers.
    pub const fn to_rule(self) -> Rule {
        Rule {
            idx: self.idx,
            mask: decode_field(self.mask),
            start: decode_field(self.start),
            end: decode_field(self.end),
            relative: self.relative & 1 == 1,
        }
    }
}

/// A mask, start or end value as its register holds it.
pub const fn encode_field(value: u32) -> u32 {
    value.swap_bytes()
}

/// A mask, start or end value from what its register holds.
pub const fn decode_field(register: u32) -> u32 {
    register.swap_bytes()
}

/// All bits above bit `position`.
const fn above(position: u32) -> u32 {
    if position >= 31 {
        0
    } else {
        u32::MAX << (position + 1)
    }
}
