//! Recipes of generated packets, and their text format.

use super::super::MIN_FRAME_BYTES;
use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Largest frame that can be asked for, without its check sequence. Larger than what the NIC takes, to see it refuse.
pub const MAX_SIZE_BYTES: u16 = 9216;

/// Overhead of a frame on the wire in bytes: preamble 8, check sequence 4, gap 12.
pub const WIRE_OVERHEAD_BYTES: usize = 24;

/// Kind of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// UDP datagrams.
    Udp,
    /// ICMP echo requests: the identifier is the source port, the sequence number the packet's number.
    Icmp,
    /// TCP segments with data, out of the blue: there is no connection.
    Tcp,
}

/// How fast they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// All at the start: as fast as the NIC takes them.
    Unlimited,
    /// Bits per second on the wire, with [`WIRE_OVERHEAD_BYTES`], as links count: 100Gbps fills such a link.
    BitsPerSecond(NonZeroU64),
    /// Packets per second.
    PacketsPerSecond(NonZeroU64),
}

/// Traffic, described.
///
/// It is written as the protocol and settings, separated by commas; everything but the protocol may be left out:
///
/// | word | meaning | if left out |
/// |---|---|---|
/// | `udp`, `icmp`, `tcp` | protocol, over IPv4; has to be there | |
/// | `size=64`, `size=64..1500`, `size=64\|512\|1000..1500` | bytes of the frame without its check sequence: one size, any of a range with both ends, or any of several | 64 |
/// | `rate=10Gbps` | rate on the wire: bps, kbps, Mbps, Gbps | as fast as the NIC takes them |
/// | `pps=1e6` | packets a second, instead of `rate` | |
/// | `burst=32` | N packets together, then a pause that keeps the rate | 1 |
/// | `count=1e5` | packets | until the end of the run |
/// | `src=`, `dst=` | IPv4 addresses | 10.9.0.2, 10.9.0.1 |
/// | `sport=`, `dport=`, `dport=7000..7015` | ports: one, or those of a range, both ends included, one after the other | 40000, 9330 |
/// | `mac=`, `smac=` | MAC addresses of the NIC and of the sender | 02:00:00:00:00:01, 02:00:00:00:00:02 |
/// | `payload=68656c6c6f` | the first bytes behind the headers, in hexadecimal; as many as fit into the smallest frame | the packet's number, 4 bytes |
/// | `seed=` | chooses sizes and the rest of the payload | 1 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Kind of the packets.
    pub protocol: Protocol,
    /// Sizes of frames in bytes: any of these, and any size of it. Never empty.
    pub(super) sizes: Vec<RangeInclusive<u16>>,
    /// How fast they come.
    pub rate: Rate,
    /// How many come together.
    pub burst: NonZeroU32,
    /// Number of packets; `None`: endless.
    pub count: Option<u64>,
    /// Sender's IP address.
    pub src: Ipv4Addr,
    /// Receiver's IP address.
    pub dst: Ipv4Addr,
    /// Sender's ports, used one after the other.
    pub sport: RangeInclusive<u16>,
    /// Receiver's ports, used one after the other.
    pub dport: RangeInclusive<u16>,
    /// Receiver's MAC address.
    pub mac: [u8; 6],
    /// Sender's MAC address.
    pub smac: [u8; 6],
    /// First bytes of the payload, in place of what is there else. Never more than the smallest frame holds.
    pub(super) start: Vec<u8>,
    /// Sizes and payload depend on it, and on nothing else.
    pub seed: u64,
}

impl Recipe {
    /// Packets of one size, everything else as if it was left out.
    pub(super) fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            sizes: vec![64..=64],
            rate: Rate::Unlimited,
            burst: NonZeroU32::MIN,
            count: None,
            src: Ipv4Addr::new(10, 9, 0, 2),
            dst: Ipv4Addr::new(10, 9, 0, 1),
            sport: 40_000..=40_000,
            dport: 9330..=9330,
            mac: [2, 0, 0, 0, 0, 1],
            smac: [2, 0, 0, 0, 0, 2],
            start: Vec::new(),
            seed: 1,
        }
    }

    /// How many packets there are, or how many numbers if there is no end.
    pub fn packets(&self) -> u64 {
        self.count.unwrap_or(MAX_COUNT)
    }

    /// Sizes of frames: any of these ranges, and any size of it.
    pub fn sizes(&self) -> &[RangeInclusive<u16>] {
        &self.sizes
    }

    /// Size of the packet with this number, in bytes.
    pub fn size_bytes(&self, number: u32) -> usize {
        let draw = mix(self.seed ^ mix(number.into()));
        let (choice, place) = (draw >> 32, draw & u64::from(u32::MAX));
        let range = &self.sizes[choice as usize % self.sizes.len()];
        let sizes = u64::from(range.end() - range.start()) + 1;
        (u64::from(*range.start()) + place % sizes) as usize
    }
}

/// The port of the packet with this number.
pub(super) fn port(ports: &RangeInclusive<u16>, number: u32) -> u16 {
    let count = u32::from(ports.end() - ports.start()) + 1;
    ports.start() + (number % count) as u16
}

/// Packets are distinguished by a number of 32 bits.
pub(super) const MAX_COUNT: u64 = 1 << 32;

/// The finalizer of SplitMix64: every bit of the result depends on every bit of the value.
pub(super) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

const PROTOCOLS: [(&str, Protocol); 3] = [
    ("udp", Protocol::Udp),
    ("icmp", Protocol::Icmp),
    ("tcp", Protocol::Tcp),
];
const KEYS: &str = "size, rate, pps, burst, count, src, dst, sport, dport, mac, smac, payload, seed";
const UNITS: [(&str, f64); 4] = [("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("bps", 1.0)];
/// Doubles count exactly up to here.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A word of the description cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in the traffic `{text}`, `{word}` {problem}")]
pub struct RecipeError {
    /// The whole description.
    pub text: String,
    /// The word.
    pub word: String,
    /// The error, and the possible values.
    pub problem: String,
}

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, RecipeError> {
        let fail = |word: &str, problem: String| RecipeError {
            text: text.to_owned(),
            word: word.to_owned(),
            problem,
        };
        let mut words = text.split(',').map(str::trim);
        let first = words.next().unwrap_or_default();
        let protocol = PROTOCOLS.iter().find(|(name, _)| *name == first);
        let (_, protocol) = protocol
            .ok_or_else(|| fail(first, "is not a protocol: begin with udp, icmp or tcp".to_owned()))?;
        let mut recipe = Self::new(*protocol);
        let mut seen = HashSet::new();
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return Err(fail(
                    word,
                    format!("is not a setting: write KEY=VALUE with one of {KEYS}"),
                ));
            };
            set(&mut recipe, key, value).map_err(|problem| fail(word, problem))?;
            if !seen.insert(key) {
                return Err(fail(word, format!("gives {key} a second time")));
            }
            if matches!(key, "rate" | "pps") && seen.contains("rate") && seen.contains("pps") {
                return Err(fail(word, "is one rate too many: give rate or pps".to_owned()));
            }
        }
        let smallest = recipe
            .sizes
            .iter()
            .map(|range| *range.start())
            .min()
            .unwrap_or_default();
        let room = usize::from(smallest) - recipe.protocol.headers_bytes();
        if recipe.start.len() > room {
            let bytes = recipe.start.len();
            return Err(fail(
                "payload",
                format!(
                    "has {bytes} bytes, and a frame of {smallest} bytes has room for {room}: set a larger size"
                ),
            ));
        }
        Ok(recipe)
    }
}

fn set(recipe: &mut Recipe, key: &str, value: &str) -> Result<(), String> {
    match key {
        "size" => recipe.sizes = value.split('|').map(sizes).collect::<Result<_, _>>()?,
        "rate" => recipe.rate = Rate::BitsPerSecond(rate(value)?),
        "pps" => recipe.rate = Rate::PacketsPerSecond(whole(value, "packets a second", MAX_EXACT as u64)?),
        "burst" => {
            let packets = whole(value, "packets", u32::MAX.into())?;
            recipe.burst = NonZeroU32::try_from(packets).map_err(|_| "is too large".to_owned())?;
        }
        "count" => recipe.count = Some(whole(value, "packets", MAX_COUNT)?.get()),
        "src" => recipe.src = plain(value, "an IPv4 address such as 10.9.0.2")?,
        "dst" => recipe.dst = plain(value, "an IPv4 address such as 10.9.0.1")?,
        "sport" => recipe.sport = ports(value)?,
        "dport" => recipe.dport = ports(value)?,
        "mac" => recipe.mac = mac(value)?,
        "smac" => recipe.smac = mac(value)?,
        "payload" => {
            recipe.start = hexadecimal(value).ok_or("needs bytes in hexadecimal, such as 68656c6c6f")?
        }
        "seed" => recipe.seed = plain(value, "a whole number from 0 to 18446744073709551615")?,
        _ => return Err(format!("is not known: possible are {KEYS}")),
    }
    Ok(())
}

fn plain<T: FromStr>(value: &str, what: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("needs {what}"))
}

/// A whole number from 1, perhaps written as 1e5.
fn whole(value: &str, what: &str, max: u64) -> Result<NonZeroU64, String> {
    let problem = || format!("needs a whole number of {what} from 1 to {max}, such as 1000 or 1e3");
    let number = match value.parse::<u64>() {
        Ok(number) => number,
        Err(_) => exact(value, 1.0).ok_or_else(problem)?,
    };
    NonZeroU64::new(number)
        .filter(|number| number.get() <= max)
        .ok_or_else(problem)
}

fn rate(value: &str) -> Result<NonZeroU64, String> {
    let problem =
        || "needs a rate with its unit, such as 10Gbps, 2.5Gbps, 100Mbps, 64kbps or 9600bps".to_owned();
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((value.strip_suffix(unit)?, *factor)))
        .ok_or_else(problem)?;
    exact(number, factor)
        .and_then(NonZeroU64::new)
        .ok_or_else(problem)
}

/// A number in decimals, times the factor, if that is whole.
fn exact(text: &str, factor: f64) -> Option<u64> {
    // Rust's doubles may also be written as inf and nan.
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = text.parse::<f64>().ok()? * factor;
    // 2.3 * 1e9 is not quite whole in doubles.
    let rounded = number.round();
    let is_whole = (number - rounded).abs() <= rounded * f64::EPSILON;
    (is_whole && (0.0..=MAX_EXACT).contains(&rounded)).then_some(rounded as u64)
}

fn sizes(value: &str) -> Result<RangeInclusive<u16>, String> {
    let problem = || {
        format!(
            "needs sizes from {MIN_FRAME_BYTES} to {MAX_SIZE_BYTES} bytes, such as 64, 64..1500 (both ends included) \
             or 64|512|1500"
        )
    };
    let size = |text: &str| {
        let size = text.parse().ok();
        size.filter(|size| (MIN_FRAME_BYTES as u16..=MAX_SIZE_BYTES).contains(size))
            .ok_or_else(problem)
    };
    range(value, size)
}

fn ports(value: &str) -> Result<RangeInclusive<u16>, String> {
    range(value, |text| {
        plain(
            text,
            "ports from 0 to 65535, such as 7000 or 7000..7015 (both ends included)",
        )
    })
}

/// One number, or two with everything in between.
fn range(value: &str, number: impl Fn(&str) -> Result<u16, String>) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = match value.split_once("..") {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(value)?, number(value)?),
    };
    if first > last {
        return Err(format!(
            "has a range that ends before it begins: write {last}..{first}"
        ));
    }
    Ok(first..=last)
}

/// Two hexadecimal digits.
fn byte(text: &str) -> Option<u8> {
    let is_byte = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_byte.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

/// At least one byte.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = text.chars().collect();
    let bytes = digits.chunks(2).map(|pair| byte(&String::from_iter(pair)));
    bytes
        .collect::<Option<Vec<u8>>>()
        .filter(|bytes| !bytes.is_empty())
}

fn mac(value: &str) -> Result<[u8; 6], String> {
    let bytes: Option<Vec<u8>> = value.split(':').map(byte).collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| "needs a MAC address such as 02:00:00:00:00:01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(text: &str) -> String {
        text.parse::<Recipe>().unwrap_err().to_string()
    }

    #[test]
    fn reads_every_setting() {
        let recipe: Recipe =
            "tcp, size=64|512..600, rate=2.5Gbps, burst=8, count=1e5, src=1.2.3.4, dst=5.6.7.8, \
                              sport=1, dport=65534..65535, mac=0a:0B:0c:0d:0e:0f, smac=02:00:00:00:00:ff, seed=7"
                .parse()
                .unwrap();
        assert_eq!(recipe.protocol, Protocol::Tcp);
        assert_eq!(recipe.sizes(), [64..=64, 512..=600]);
        assert_eq!(
            recipe.rate,
            Rate::BitsPerSecond(2_500_000_000.try_into().unwrap())
        );
        assert_eq!(
            (recipe.burst.get(), recipe.count, recipe.seed),
            (8, Some(100_000), 7)
        );
        assert_eq!(
            (recipe.src.octets(), recipe.dst.octets()),
            ([1, 2, 3, 4], [5, 6, 7, 8])
        );
        assert_eq!((recipe.sport, recipe.dport), (1..=1, 65534..=65535));
        assert_eq!(
            (recipe.mac, recipe.smac),
            ([10, 11, 12, 13, 14, 15], [2, 0, 0, 0, 0, 255])
        );
        let recipe: Recipe = "icmp,pps=1.5e6".parse().unwrap();
        assert_eq!(recipe.rate, Rate::PacketsPerSecond(1_500_000.try_into().unwrap()));
        assert_eq!("udp".parse(), Ok(Recipe::new(Protocol::Udp)));
        for (text, bits) in [("9600bps", 9600), ("64kbps", 64_000), ("2.3Gbps", 2_300_000_000)] {
            assert_eq!(rate(text).unwrap().get(), bits);
        }
    }

    #[test]
    fn errors_name_the_word_and_the_possible_values() {
        let cases = [
            (
                "",
                "in the traffic ``, `` is not a protocol: begin with udp, icmp or tcp",
            ),
            (
                "sctp,size=64",
                "in the traffic `sctp,size=64`, `sctp` is not a protocol: begin with udp, icmp or tcp",
            ),
            (
                "udp,fast",
                "`fast` is not a setting: write KEY=VALUE with one of size, rate, pps, burst, count",
            ),
            (
                "udp,sise=64",
                "`sise=64` is not known: possible are size, rate, pps, burst, count, src, dst",
            ),
            (
                "udp,size=10",
                "`size=10` needs sizes from 60 to 9216 bytes, such as 64, 64..1500",
            ),
            (
                "udp,size=64|9217",
                "`size=64|9217` needs sizes from 60 to 9216 bytes",
            ),
            ("udp,size=", "`size=` needs sizes from 60 to 9216 bytes"),
            (
                "udp,size=1500..64",
                "`size=1500..64` has a range that ends before it begins: write 64..1500",
            ),
            (
                "udp,rate=10",
                "`rate=10` needs a rate with its unit, such as 10Gbps",
            ),
            ("udp,rate=0Gbps", "`rate=0Gbps` needs a rate with its unit"),
            ("udp,rate=infGbps", "`rate=infGbps` needs a rate with its unit"),
            ("udp,rate=0.3bps", "`rate=0.3bps` needs a rate with its unit"),
            (
                "udp,rate=1Gbps,pps=3",
                "`pps=3` is one rate too many: give rate or pps",
            ),
            (
                "udp,count=0",
                "`count=0` needs a whole number of packets from 1 to 4294967296",
            ),
            ("udp,count=1.5", "`count=1.5` needs a whole number of packets"),
            (
                "udp,count=1e10",
                "`count=1e10` needs a whole number of packets from 1 to 4294967296",
            ),
            ("udp,count=5,count=6", "`count=6` gives count a second time"),
            (
                "udp,burst=0",
                "`burst=0` needs a whole number of packets from 1 to 4294967295",
            ),
            (
                "udp,src=1.2.3",
                "`src=1.2.3` needs an IPv4 address such as 10.9.0.2",
            ),
            ("udp,dport=70000", "`dport=70000` needs ports from 0 to 65535"),
            (
                "udp,mac=1:2:3:4:5:6",
                "`mac=1:2:3:4:5:6` needs a MAC address such as 02:00:00:00:00:01",
            ),
            (
                "udp,mac=+2:00:00:00:00:01",
                "`mac=+2:00:00:00:00:01` needs a MAC address",
            ),
            ("udp,payload=abc", "`payload=abc` needs bytes in hexadecimal"),
            (
                "tcp,payload=00112233445566778899aa",
                "`payload` has 11 bytes, and a frame of 64 bytes has room for 10: set a larger size",
            ),
            ("udp,seed=-1", "`seed=-1` needs a whole number from 0"),
        ];
        for (text, expected) in cases {
            let found = problem(text);
            assert!(found.contains(expected), "{found}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(udp|tcp|icmp|x)(,(size|rate|pps|burst|count|src|mac|payload|seed|y)=[0-9a-fMGk:.|e+-]{0,12}(bps)?){0,4}") {
            if let Ok(recipe) = text.parse::<Recipe>() {
                prop_assert!(!recipe.sizes().is_empty());
                prop_assert!((MIN_FRAME_BYTES..=MAX_SIZE_BYTES.into()).contains(&recipe.size_bytes(0)));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            if let Err(error) = text.parse::<Recipe>() {
                prop_assert_eq!(&error.text, &text);
                prop_assert!(text.contains(&error.word));
            }
        }

        #[test]
        fn plain_numbers_are_exact(count in 1..=MAX_COUNT, pps in 1..=MAX_EXACT as u64) {
            let recipe: Recipe = format!("udp,count={count},pps={pps}").parse().unwrap();
            prop_assert_eq!(recipe.count, Some(count));
            prop_assert_eq!(recipe.rate, Rate::PacketsPerSecond(pps.try_into().unwrap()));
        }
    }
}
