//! Rule files: rulesets for the matching engine, in TOML.
//!
//! The format is described in `docs/rules.md`. A file holds up to as many rulesets as the matcher has;
//! each joins up to three rules by AND or OR and may name an end-of-message rule. Everything that a
//! person can get wrong is an error that names the file, the line, the ruleset and the rule, and says
//! what to write instead.
//!
//! ```
//! use spinneret_rules::{MatcherParams, RuleFile};
//!
//! let text = b"[[ruleset]]\nrules = ['ipv4', { ip-proto = 17 }, { udp-dport = '5000-5999' }]\n";
//! let file = RuleFile::parse("ports.toml", text, &MatcherParams::REFERENCE)?;
//! assert_eq!(file.rulesets.len(), 1);
//! # Ok::<(), spinneret_rules::RuleFileError>(())
//! ```

use crate::named::describe;
use crate::rule::{self, MatcherParams};
use crate::{Join, NamedRuleset, Problem, RuleFileError, RulePlace, Ruleset, did_you_mean};
use spinneret_regmap::matching::Rule;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 4] = ["name", "mode", "rules", "end-of-message"];
const FIRST_STEPS: &str =
    "write [[ruleset]] and below it rules = [\"ipv4\"]; docs/rules.md describes the format";

/// The rulesets of a file.
pub(super) fn parse(text: &str, params: &MatcherParams) -> Result<Vec<NamedRuleset>, Problem> {
    let document = DeTable::parse(text).map_err(|error| {
        let message = error.message().trim().replace('\n', ", ");
        Problem::new(
            error.span().unwrap_or(0..0),
            format!("this is not TOML: {message}"),
        )
    })?;
    let document = document.get_ref();
    for key in document.keys() {
        if key.get_ref() != "ruleset" {
            let hint = did_you_mean(key.get_ref(), &["ruleset"]);
            return Err(Problem::new(
                key.span(),
                format!("unknown key {:?}: {hint}", key.get_ref()),
            ));
        }
    }
    let Some(entry) = document.get("ruleset") else {
        return Err(Problem::new(0..0, format!("there is no ruleset: {FIRST_STEPS}")));
    };
    let rulesets = tables(entry)?;
    if rulesets.is_empty() {
        return Err(Problem::new(
            entry.span(),
            format!("there is no ruleset: {FIRST_STEPS}"),
        ));
    }
    if let Some((_, extra)) = rulesets.get(params.rulesets) {
        let (given, available) = (rulesets.len(), params.rulesets);
        let problem =
            format!("there are {given} rulesets, but the matcher has {available}: join or remove some");
        return Err(Problem::new(extra.clone(), problem));
    }
    let parse_one = |(index, (table, span)): (usize, &(&DeTable<'_>, Range<usize>))| {
        // The name is only to find the ruleset in messages here; its type is checked with the other keys.
        let name = table.get("name").and_then(|name| name.get_ref().as_str());
        ruleset(table, span, params).map_err(|problem| problem.in_ruleset(index, name))
    };
    rulesets.iter().enumerate().map(parse_one).collect()
}

/// The tables of an array of tables, with their positions.
fn tables<'t, 'i>(entry: &'t Spanned<DeValue<'i>>) -> Result<Vec<(&'t DeTable<'i>, Range<usize>)>, Problem> {
    let wrong = |span| {
        Problem::new(
            span,
            format!("\"ruleset\" must be a list of tables: {FIRST_STEPS}"),
        )
    };
    let DeValue::Array(array) = entry.get_ref() else {
        return Err(wrong(entry.span()));
    };
    let table = |item: &'t Spanned<DeValue<'i>>| match item.get_ref() {
        DeValue::Table(table) => Ok((table, item.span())),
        _ => Err(wrong(item.span())),
    };
    array.iter().map(table).collect()
}

fn ruleset(
    table: &DeTable<'_>,
    span: &Range<usize>,
    params: &MatcherParams,
) -> Result<NamedRuleset, Problem> {
    for key in table.keys() {
        if !KEYS.contains(&key.get_ref().as_ref()) {
            let hint = did_you_mean(key.get_ref(), &KEYS);
            return Err(Problem::new(
                key.span(),
                format!("unknown key {:?}: {hint}", key.get_ref()),
            ));
        }
    }
    let name = table.get("name").map(text_of_name).transpose()?;
    let mode = table.get("mode").map_or(Ok(Join::And), parse_mode)?;
    let Some(entries) = table.get("rules") else {
        return Err(Problem::new(
            span.clone(),
            "\"rules\" is missing: write rules = [\"ipv4\"] or the like",
        ));
    };
    let rules = rules(entries, mode, params)?;
    let available = params.rules_per_ruleset.saturating_sub(1);
    if rules.len() > available {
        let given = rules.len();
        let problem = format!("there are {given} rules, but the matcher has {available} for a ruleset");
        return Err(Problem::new(entries.span(), problem));
    }
    let end_of_message = table
        .get("end-of-message")
        .map_or(Ok(Ruleset::USUAL_END), |entry| {
            end_of_message(entry, params).map_err(|problem| problem.in_rule(RulePlace::EndOfMessage))
        })?;
    Ok(NamedRuleset {
        name,
        ruleset: Ruleset {
            join: mode,
            rules,
            end_of_message,
        },
    })
}

fn rules(entries: &Spanned<DeValue<'_>>, mode: Join, params: &MatcherParams) -> Result<Vec<Rule>, Problem> {
    let DeValue::Array(array) = entries.get_ref() else {
        let found = describe(entries.get_ref());
        let problem = format!("\"rules\" must be a list, not {found}: write rules = [\"ipv4\"]");
        return Err(Problem::new(entries.span(), problem));
    };
    if array.is_empty() {
        let problem = "\"rules\" is empty: write rules = [\"always\"] to match every frame, or [\"never\"]";
        return Err(Problem::new(entries.span(), problem));
    }
    let mut rules = Vec::new();
    for (number, entry) in array.iter().enumerate() {
        let several = |parsed: Vec<Rule>| match (mode, parsed.len()) {
            (Join::Or, 2..) => Err(Problem::new(
                entry.span(),
                "\"slmp\" is three rules that must all match: use it in a ruleset with mode = \"and\"",
            )),
            _ => Ok(parsed),
        };
        let parsed = rule::parse(entry, params).and_then(several);
        rules.extend(parsed.map_err(|problem| problem.in_rule(RulePlace::Number(number)))?);
    }
    Ok(rules)
}

fn end_of_message(entry: &Spanned<DeValue<'_>>, params: &MatcherParams) -> Result<Rule, Problem> {
    match rule::parse(entry, params)?.as_slice() {
        [rule] => Ok(*rule),
        _ => Err(Problem::new(
            entry.span(),
            "\"slmp\" is three rules: write end-of-message = \"slmp-eom\"",
        )),
    }
}

fn text_of_name(value: &Spanned<DeValue<'_>>) -> Result<String, Problem> {
    let wrong = |why: &str| {
        Problem::new(
            value.span(),
            format!("\"name\" {why}: write name = \"slmp\" or the like"),
        )
    };
    match value.get_ref().as_str() {
        None => Err(wrong("must be text")),
        Some("") => Err(wrong("is empty")),
        Some(name) if name.chars().any(char::is_control) => Err(wrong("has control characters")),
        Some(name) => Ok(name.to_owned()),
    }
}

fn parse_mode(value: &Spanned<DeValue<'_>>) -> Result<Join, Problem> {
    match value.get_ref().as_str() {
        Some("and") => Ok(Join::And),
        Some("or") => Ok(Join::Or),
        _ => {
            let found = describe(value.get_ref());
            Err(Problem::new(
                value.span(),
                format!("mode must be \"and\" or \"or\", not {found}"),
            ))
        }
    }
}

/// Largest rule file that is read; the largest sensible one has a few kilobytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// A rule file that has been read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// The rulesets in the order of the file; the first one that matches a frame wins.
    pub rulesets: Vec<NamedRuleset>,
}

impl RuleFile {
    /// Reads and checks a rule file for a matcher of the given sizes.
    ///
    /// # Errors
    /// If the file cannot be read, is not a rule file, or asks for what the matcher does not have.
    pub fn read(path: &Path, params: &MatcherParams) -> Result<Self, RuleFileError> {
        let name = path.display().to_string();
        let unreadable = |source| RuleFileError::Unreadable(name.clone(), source);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Self::parse(&name, &bytes, params)
    }

    /// Checks the contents of a rule file; `name` is what errors call the file.
    ///
    /// # Errors
    /// If the bytes are not a rule file, or ask for what the matcher does not have.
    pub fn parse(name: &str, bytes: &[u8], params: &MatcherParams) -> Result<Self, RuleFileError> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(RuleFileError::TooLarge(name.to_owned()));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| RuleFileError::not_utf8(name, bytes, &error))?;
        let rulesets = parse(text, params).map_err(|problem| problem.in_file(name, text))?;
        Ok(Self { rulesets })
    }

    /// Whether a rule counts from the IP payload, so that the matcher must have the option `ip_relative`.
    pub fn is_relative(&self) -> bool {
        self.rulesets.iter().any(|named| named.ruleset.is_relative())
    }
}
