//! Names: canonical paths of signals, array indices and Verilog identifiers.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::literal;

/// A loop variable and its value in the current iteration.
pub(crate) type LoopVariable = (String, u64);

/// Turns a name of the syntax tree into the canonical path: parts joined with `$`, array indices resolved.
///
/// Returns `None` if an index is not a constant.
pub(crate) fn canonical(name: &str, loops: &[LoopVariable]) -> Option<String> {
    let joined = name
        .replace("::", "$")
        .replace('.', "$")
        .replace(char::is_whitespace, "");
    let mut path = String::with_capacity(joined.len());
    let mut rest = joined.trim_start_matches('$');
    while let Some(open) = rest.find('[') {
        let close = matching_bracket(rest, open)?;
        path.push_str(rest.get(..open)?);
        path.push('$');
        path.push_str(&evaluate_index(rest.get(open + 1..close)?, loops)?.to_string());
        rest = rest.get(close + 1..)?;
    }
    path.push_str(rest);
    Some(path)
}

/// A canonical path as people write it.
pub(crate) fn display(path: &str) -> String {
    path.replace('$', ".")
}

/// The identifier of a canonical path.
pub(crate) fn identifier(path: &str) -> String {
    path.replace("r#", "").replace('$', "_")
}

/// Whether a name can be written in SystemVerilog without escaping.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !KEYWORDS.contains(name)
}

/// The path without the indices at its end: `rules$3` is one of the `rules`.
pub(crate) fn without_index(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('$').collect();
    while parts.len() > 1
        && parts
            .last()
            .is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        parts.pop();
    }
    parts.join("$")
}

fn matching_bracket(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (position, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(position);
                }
            }
            _ => {}
        }
    }
    None
}

/// The value of `+ - * /` over literals and loop variables.
fn evaluate_index(text: &str, loops: &[LoopVariable]) -> Option<u64> {
    let value = |text| evaluate_index(text, loops);
    // Split at the last operator of the lowest precedence: it is evaluated last.
    for symbols in [['+', '-'], ['*', '/']] {
        if let Some(place) = text.rfind(symbols) {
            let (left, right) = (value(&text[..place])?, value(&text[place + 1..])?);
            return match text.as_bytes()[place] {
                b'+' => left.checked_add(right),
                b'-' => left.checked_sub(right),
                b'*' => left.checked_mul(right),
                _ => left.checked_div(right),
            };
        }
    }
    let variable = loops.iter().rev().find(|(name, _)| name == text);
    let literal = || literal::parse_rust_integer(text).and_then(|value| u64::try_from(value).ok());
    variable.map(|(_, value)| *value).or_else(literal)
}

static KEYWORDS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| KEYWORD_LIST.split_whitespace().collect());

/// The reserved words of IEEE 1800-2017, Annex B.
const KEYWORD_LIST: &str = "
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin
    bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos
    config const constraint context continue cover covergroup coverpoint cross deassign default defparam design
    disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate
    endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence
    endtable endtask enum event eventually expect export extends extern final first_match for force foreach
    forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
    implements implies import incdir include initial inout input inside instance int integer interconnect
    interface intersect join join_any join_none large let liblist library local localparam logic longint
    macromodule matches medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled not
    notif0 notif1 null or output package packed parameter pmos posedge primitive priority program property
    protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran
    rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint
    shortreal showcancelled signed small soft solve specify specparam static string strong strong0 strong1
    struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique
    unique0 unsigned until until_with untyped use uwire var vectored virtual void wait wait_order wand weak
    weak0 weak1 while wildcard wire with within wor xnor xor";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_array_indices_with_loop_variables() {
        let loops = [("i".to_owned(), 2), ("j".to_owned(), 5)];
        assert_eq!(canonical("rules[i].hit", &loops).as_deref(), Some("rules$2$hit"));
        assert_eq!(canonical("a[2 * i + 1][j - 1]", &loops).as_deref(), Some("a$5$4"));
        assert_eq!(canonical(".x::y", &[]).as_deref(), Some("x$y"));
    }

    #[test]
    fn refuses_indices_that_are_no_constants() {
        for name in [
            "a[N]",
            "a[0 - 1]",
            "a[1",
            "a[]",
            "a[1 / 0]",
            "a[18446744073709551615 + 1]",
        ] {
            assert_eq!(canonical(name, &[]), None, "{name}");
        }
    }

    #[test]
    fn knows_keywords_and_indices() {
        assert!(is_identifier("tdata_0"));
        for name in ["", "0a", "a$b", "always", "é", "logic"] {
            assert!(!is_identifier(name), "{name}");
        }
        assert_eq!(without_index("rules$3$1"), "rules");
        assert_eq!(without_index("rules$3$hit"), "rules$3$hit");
    }
}
