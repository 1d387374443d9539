//! The two models, and what most tests begin with.

use spinneret_models::{UartMatch, UartMatchSmall};
use spinneret_regmap::matching::Rule;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_tb::uart_match::{Host, Setup, code, frame, rule_frame};

/// As on the board, with a faster line.
pub(crate) const BOARD: Setup = Setup {
    matcher: MatcherParams {
        data_width_bits: 64,
        rulesets: 2,
        rules_per_ruleset: 4,
        inspected_bytes: 64,
        ip_relative: false,
    },
    clocks_per_bit: 16,
    quiet_clocks: 1024,
    heartbeat_clocks: 1024,
};

/// The smallest one.
pub(crate) const SMALL: Setup = Setup {
    matcher: MatcherParams {
        data_width_bits: 64,
        rulesets: 1,
        rules_per_ruleset: 2,
        inspected_bytes: 8,
        ip_relative: false,
    },
    clocks_per_bit: 4,
    quiet_clocks: 80,
    heartbeat_clocks: 2,
};

pub(crate) fn board(run: &mut TestRun) -> Host<UartMatch> {
    Host::new(run.simulation(), BOARD)
}

pub(crate) fn small(run: &mut TestRun) -> Host<UartMatchSmall> {
    Host::new(run.simulation(), SMALL)
}

/// Puts one rule of the first ruleset and its end-of-message rule into force; the others say nothing.
pub(crate) fn load<M: Model>(host: &mut Host<M>, rule: &Rule, end_of_message: &Rule) {
    let rules = host.setup().matcher.rules_per_ruleset as u8;
    host.exchange(&rule_frame(0, rule));
    for number in 1..rules - 1 {
        host.exchange(&rule_frame(number, &Rule::ALWAYS));
    }
    host.exchange(&rule_frame(rules - 1, end_of_message));
    host.exchange(&frame(code::CONTROL, &[1, 0]));
}
