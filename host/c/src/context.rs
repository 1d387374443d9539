//! Programs and contexts.

use crate::calls::{Functions, TypedFunction};
use crate::ffi::{self, Failure, Kind, Object, SPINNERET_OK, check_place, guarded, put, text};
use crate::nic::{OpenNic, spinneret_nic};
use spinneret_host::{
    Context, CounterQueue, Join, MatcherParams, Options, Program, Rule, RuleFile, Ruleset, Share, Usage,
};
use spinneret_rpc::BackgroundService;
use spinneret_rpc::described::Described;
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A program for the NIC.
#[derive(Debug)]
pub struct spinneret_program {
    _opaque: [u8; 0],
}

/// Handlers on a NIC.
#[derive(Debug)]
pub struct spinneret_context {
    _opaque: [u8; 0],
}

/// Resources of a context.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_options {
    /// Host memory in bytes; 0 for none.
    pub host_bytes: u32,
    /// Handler memory in bytes; 0 for a quarter of what the program leaves.
    pub handler_bytes: u32,
    /// Scratchpad in each cluster in bytes; 0 for a quarter of the available memory.
    pub scratchpad_bytes: u32,
}

/// A context with a handle.
#[derive(Debug)]
pub(crate) struct OpenContext {
    // They end before the context does.
    pub(crate) services: Mutex<Option<BackgroundService>>,
    /// Functions of the program for handlers, each with the number of its API.
    pub(crate) functions: Mutex<Vec<(u16, Functions)>>,
    /// Functions with prototypes that the program has offered.
    pub(crate) typed: Mutex<Vec<(Described, TypedFunction)>>,
    /// Values of counters, once the program has asked for them.
    pub(crate) queue: Mutex<Option<CounterQueue>>,
    pub(crate) context: Arc<Context>,
    /// The handle of its NIC.
    pub(crate) nic: usize,
}

impl Kind for OpenContext {
    const NAME: &str = "context";
}

impl Object for OpenContext {
    fn owner(&self) -> Option<usize> {
        Some(self.nic)
    }

    /// If another thread is using it, it is closed when that thread is done.
    fn close(self: Arc<Self>) -> Result<(), Failure> {
        let Some(Self {
            services, context, ..
        }) = Arc::into_inner(self)
        else {
            return Ok(());
        };
        drop(services);
        match Arc::into_inner(context) {
            Some(context) => Ok(context.close()?),
            None => Ok(()),
        }
    }
}

impl Kind for Program {
    const NAME: &str = "program";
}

impl Object for Program {}

/// Reads a program: an ELF file with handlers.
///
/// # Safety
/// `path` is a string; the handle is written to `program`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_program_open(
    path: *const c_char,
    program: *mut *mut spinneret_program,
) -> c_int {
    guarded(|| {
        check_place(program, "program")?;
        // SAFETY: the caller promises a string.
        let path = unsafe { text(path, "path") }?;
        let handle = ffi::insert(Program::open(Path::new(path))?);
        // SAFETY: the caller promises the place.
        unsafe { put(program, "program", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// Closes a program. Contexts that run it continue.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_program_close(program: *mut spinneret_program) -> c_int {
    guarded(|| {
        ffi::remove::<Program, _>(program)?;
        Ok(SPINNERET_OK)
    })
}

/// Opens a context: the handlers `NAME_hh`, `NAME_ph` and `NAME_th` of the program, where NAME is `handlers`, handle packets
/// that match `rules`. All contexts of a process share one program.
///
/// # Safety
/// `handlers` is a string, or null if the program has handlers of one name; `rules` and `options` can be read, and `options` may be null for 1 MiB of host memory and a quarter
/// of the other resources; the handle is written to `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_open_context(
    nic: *mut spinneret_nic,
    program: *mut spinneret_program,
    handlers: *const c_char,
    rules: *const spinneret_ruleset,
    options: *const spinneret_options,
    context: *mut *mut spinneret_context,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        let program: Arc<Program> = ffi::get(program)?;
        check_place(context, "context")?;
        // SAFETY: the caller promises a string or null, and that the others can be read.
        let (name, rules, options) =
            unsafe { (handlers_name(&program, handlers)?, ruleset(rules)?, read(options)) };
        let opened = open.nic.open_context(&program, &name, &rules, &options)?;
        let handle = ffi::insert(OpenContext {
            services: Mutex::default(),
            functions: Mutex::default(),
            typed: Mutex::default(),
            queue: Mutex::default(),
            context: Arc::new(opened),
            nic: nic.addr(),
        });
        // SAFETY: the caller promises the place.
        unsafe { put(context, "context", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// The name of the handlers of a context.
///
/// # Safety
/// `handlers` is a string, or null.
pub(crate) unsafe fn handlers_name(program: &Program, handlers: *const c_char) -> Result<String, Failure> {
    Ok(match handlers.is_null() {
        true => program.only_name()?.to_owned(),
        // SAFETY: the caller says that it is a string.
        false => unsafe { text(handlers, "handlers") }?.to_owned(),
    })
}

/// The options of the caller, or the usual ones.
///
/// # Safety
/// They are null, or can be read.
unsafe fn read(options: *const spinneret_options) -> Options {
    if options.is_null() {
        return Options::default();
    }
    // SAFETY: the caller says that they can be read; every pattern of bits is good.
    let given = unsafe { options.read_unaligned() };
    let unless_0 = |bytes| Some(bytes).filter(|bytes| *bytes != 0);
    Options {
        host_bytes: given.host_bytes,
        handler_bytes: unless_0(given.handler_bytes),
        scratchpad_bytes: unless_0(given.scratchpad_bytes),
    }
}

/// Closes a context: its handlers end, its memory is freed, and its packets go to the host again. The handle is invalid
/// afterwards, even if the call fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_close_context(context: *mut spinneret_context) -> c_int {
    guarded(|| {
        ffi::remove::<OpenContext, _>(context)?.close()?;
        Ok(SPINNERET_OK)
    })
}

/// Changes the rules that select the packets of a context.
///
/// # Safety
/// `rules` can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_set_rules(
    context: *mut spinneret_context,
    rules: *const spinneret_ruleset,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        // SAFETY: the caller promises that they can be read.
        open.context.set_ruleset(&unsafe { ruleset(rules) }?)?;
        Ok(SPINNERET_OK)
    })
}

/// Share of a context in the NIC. Only spinneret's own clusters have weights, budgets and rates.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_share {
    /// Weight in HPU time, copies to and from the host, and packets to send, relative to those of other contexts: 1 to 15.
    pub weight: u32,
    /// Clocks after which a handler is stopped; 0: never.
    pub budget: u32,
    /// Bound on slots of the packet buffer, beyond which packets are dropped and counted; 0: none.
    pub slots: u32,
    /// Limit of the bytes of packets that handlers send in a clock of the clusters, in units of 1/256; 0: none.
    pub egress_rate: u32,
}

/// Sets the share of a context. One that is opened has weight 1, a million clocks, and no other limit, or the share that the
/// options of `spinneret serve` name.
///
/// # Safety
/// `share` can be read, or is null for the first one of a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_set_share(
    context: *mut spinneret_context,
    share: *const spinneret_share,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        // SAFETY: the caller promises that it can be read, or is null.
        let share = unsafe { share.as_ref() }.map(|share| Share {
            weight: share.weight,
            budget: share.budget,
            slots: share.slots,
            egress_rate: share.egress_rate,
        });
        open.context.set_share(share.unwrap_or_default())?;
        Ok(SPINNERET_OK)
    })
}

/// Use of the NIC by contexts of a number, since the clusters were reset.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_usage {
    /// Clocks that handlers took.
    pub clocks: u64,
    /// Bytes that handlers copied to the host.
    pub host_written: u64,
    /// Bytes that handlers copied from the host.
    pub host_read: u64,
    /// Bytes of packets that handlers sent.
    pub sent: u64,
    /// Handlers that have ended, modulo 2^32.
    pub handlers: u32,
    /// Handlers that were stopped because they used up their budget.
    pub budget_ends: u32,
    /// Handlers that failed, those that used up their budget among them.
    pub failures: u32,
    /// Packets that were dropped because the context was at its bound on slots, since the NIC was reset.
    pub dropped_bound: u32,
}

/// Reads how a context has used the NIC, which only spinneret's own clusters count.
///
/// # Safety
/// The result is written to `usage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_get_usage(
    context: *mut spinneret_context,
    usage: *mut spinneret_usage,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        check_place(usage, "usage")?;
        let Usage {
            handlers,
            clocks,
            budget_ends,
            failures,
            host_written,
            host_read,
            sent,
            dropped_bound,
        } = open.context.usage()?;
        let used = spinneret_usage {
            clocks,
            host_written,
            host_read,
            sent,
            handlers,
            budget_ends,
            failures,
            dropped_bound,
        };
        // SAFETY: the caller promises the place.
        unsafe { put(usage, "usage", used) }?;
        Ok(SPINNERET_OK)
    })
}

/// Reads a counter that handlers update with `push_counter(&__host_data.counters[index], value)`: the sum of the values,
/// modulo 2^32, and their number.
///
/// # Safety
/// The results are written to `sum` and `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_handler_counter(
    context: *mut spinneret_context,
    index: u32,
    sum: *mut u32,
    count: *mut u32,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenContext> = ffi::get(context)?;
        check_place(sum, "sum")?;
        check_place(count, "count")?;
        let counter = open.context.handler_counter(index)?;
        // SAFETY: the caller promises both places.
        unsafe {
            put(sum, "sum", counter.sum)?;
            put(count, "count", counter.count)?;
        }
        Ok(SPINNERET_OK)
    })
}

/// A packet matches if all rules match.
pub const SPINNERET_ALL: u32 = 0;
/// A packet matches if at least one rule matches.
pub const SPINNERET_ANY: u32 = 1;
/// Maximum number of rules, without the end-of-message rule.
pub const SPINNERET_RULES: usize = 3;

/// A rule: it matches if a word of the packet, masked, is from `first` to `last`. The word is at bytes 4 * word to
/// 4 * word + 3, in network order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_rule {
    /// Index of the word.
    pub word: u32,
    /// Its bits that are compared.
    pub mask: u32,
    /// The smallest value that matches.
    pub first: u32,
    /// The largest value that matches.
    pub last: u32,
    /// 1: words are counted from the IP payload; 0: from the beginning of the packet.
    pub in_ip_payload: u32,
}

/// Selects packets for handlers. All bytes 0: all packets, and each is a message.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_ruleset {
    /// `SPINNERET_ALL` or `SPINNERET_ANY`.
    pub join: u32,
    /// Number of rules. Without rules, `SPINNERET_ALL` matches all packets, and `SPINNERET_ANY` none.
    pub count: u32,
    /// The rules.
    pub rules: [spinneret_rule; SPINNERET_RULES],
    /// 1: packets that match the next rule end a message; 0: every packet is a message.
    pub has_messages: u32,
    /// The rule for packets that end a message.
    pub end_of_message: spinneret_rule,
}

impl From<Rule> for spinneret_rule {
    fn from(rule: Rule) -> Self {
        Self {
            word: rule.idx,
            mask: rule.mask,
            first: rule.start,
            last: rule.end,
            in_ip_payload: rule.relative.into(),
        }
    }
}

impl spinneret_rule {
    fn to_rule(self) -> Rule {
        Rule {
            idx: self.word,
            mask: self.mask,
            start: self.first,
            end: self.last,
            relative: self.in_ip_payload != 0,
        }
    }
}

impl From<&Ruleset> for spinneret_ruleset {
    fn from(ruleset: &Ruleset) -> Self {
        Self {
            join: match ruleset.join {
                Join::And => SPINNERET_ALL,
                Join::Or => SPINNERET_ANY,
            },
            count: ruleset.rules.len() as u32,
            rules: std::array::from_fn(|place| ruleset.at(place).into()),
            has_messages: (ruleset.end_of_message != Ruleset::USUAL_END).into(),
            end_of_message: ruleset.end_of_message.into(),
        }
    }
}

/// Reads one ruleset of a rule file (docs/rules.md); its number counts from 0. Returns the number of rulesets in the file.
///
/// # Safety
/// `path` is a string; the rules are written to `rules`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_read_rules(
    path: *const c_char,
    number: u32,
    rules: *mut spinneret_ruleset,
) -> c_int {
    guarded(|| {
        check_place(rules, "rules")?;
        // SAFETY: the caller promises a string.
        let path = unsafe { text(path, "path") }?;
        let file = RuleFile::read(Path::new(path), &MatcherParams::BOARD)
            .map_err(|error| Failure::argument(error.to_string()))?;
        let count = file.rulesets.len();
        let named = file.rulesets.get(number as usize).ok_or_else(|| {
            Failure::argument(format!(
                "{path}: there is no ruleset {number}, but {count} of them"
            ))
        })?;
        // SAFETY: the caller promises the place.
        unsafe { put(rules, "rules", (&named.ruleset).into()) }?;
        Ok(count as c_int)
    })
}

/// The rules of the caller.
///
/// # Safety
/// They are null, or can be read.
pub(crate) unsafe fn ruleset(rules: *const spinneret_ruleset) -> Result<Ruleset, Failure> {
    if rules.is_null() {
        return Err(Failure::argument("rules is a null pointer"));
    }
    // SAFETY: the caller says that they can be read; every pattern of bits is a ruleset.
    let rules = unsafe { rules.read_unaligned() };
    let joined = match rules.join {
        SPINNERET_ALL => Ruleset::all(),
        SPINNERET_ANY => Ruleset::any(),
        join => {
            return Err(Failure::argument(format!(
                "join is {join}, and neither SPINNERET_ALL nor SPINNERET_ANY"
            )));
        }
    };
    let Some(given) = rules.rules.get(..rules.count as usize) else {
        return Err(Failure::argument(format!(
            "a ruleset has at most {SPINNERET_RULES} rules, not {}",
            rules.count
        )));
    };
    let inspected = MatcherParams::BOARD.inspected_words() as u32;
    for rule in given
        .iter()
        .chain((rules.has_messages != 0).then_some(&rules.end_of_message))
    {
        if rule.word >= inspected {
            return Err(Failure::argument(format!(
                "a rule looks at word {} of the packet: it must be 0 to {}",
                rule.word as i32,
                inspected - 1
            )));
        }
    }
    let decide = given
        .iter()
        .fold(joined, |joined, rule| joined.rule(rule.to_rule()));
    Ok(match rules.has_messages {
        0 => decide,
        _ => decide.end_of_message(rules.end_of_message.to_rule()),
    })
}

/// IPv4, in a packet without VLAN tags.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ipv4() -> spinneret_rule {
    Rule::IPV4.into()
}

/// IPv4 protocol number from `first` to `last`; 17 is UDP.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_protocol(first: u8, last: u8) -> spinneret_rule {
    Rule::ip_protocol(first, last).into()
}

/// UDP (or TCP) destination port from `first` to `last`, after an IPv4 header of 20 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_udp_destination_port(first: u16, last: u16) -> spinneret_rule {
    Rule::udp_destination_port(first, last).into()
}

/// UDP (or TCP) source port from `first` to `last`, after an IPv4 header of 20 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_udp_source_port(first: u16, last: u16) -> spinneret_rule {
    Rule::udp_source_port(first, last).into()
}

/// UDP (or TCP) destination port from `first` to `last`, behind any IP header. FPsPIN cannot do it.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_payload_destination_port(first: u16, last: u16) -> spinneret_rule {
    Rule::ip_payload_destination_port(first, last).into()
}

/// UDP (or TCP) source port from `first` to `last`, behind any IP header. FPsPIN cannot do it.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_payload_source_port(first: u16, last: u16) -> spinneret_rule {
    Rule::ip_payload_source_port(first, last).into()
}
