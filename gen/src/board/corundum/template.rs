//! The application block that Corundum ships: whether it has the parameters and ports that ours will be given.

use super::error::CheckoutError;
use super::header::{Header, Name, header};
use super::revisions;
use super::tree;
use crate::terminal;
use spinneret_hdl::app::TOP;
use spinneret_hdl::app::corundum::{Generation, parameters, ports};
use std::collections::BTreeSet;
use std::path::Path;

/// The file of the application block that Corundum ships.
pub(super) const TEMPLATE: &str = "fpga/app/template/rtl/mqnic_app_block.v";

/// How many names an error tells.
const TOLD: usize = 5;

/// Compares all names of the template with those of our application block.
///
/// Corundum's core sets every parameter of the template and connects every port, so Vivado would stop at one that ours
/// lacks, and leave without a value what only ours has.
pub(super) fn check(root: &Path, shown: &str, asked: Generation) -> Result<(), CheckoutError> {
    let text = tree::read_lossy(&root.join(TEMPLATE))?;
    let found = header(&text, TOP).map_err(|source| CheckoutError::UnreadableTemplate {
        path: shown.to_owned(),
        file: TEMPLATE,
        module: TOP,
        source,
    })?;
    let differences = Differences::new(&found, asked);
    if differences.count() == 0 {
        return Ok(());
    }
    let [first, last] = found.lines;
    Err(CheckoutError::OtherNames {
        path: shown.to_owned(),
        asked: asked.name(),
        file: TEMPLATE,
        first,
        last,
        differences: differences.told(),
        advice: advice(&found),
    })
}

/// What to do if the generation that was asked for does not fit.
fn advice(found: &Header) -> String {
    let counts = Generation::ALL.map(|generation| (Differences::new(found, generation).count(), generation));
    // There are generations.
    let (count, nearest) = counts.into_iter().min().unwrap_or_default();
    if count == 0 {
        return format!(
            "use `--corundum {nearest}`, which fits, or check out another revision of Corundum: {}",
            revisions::told()
        );
    }
    format!(
        "the nearest of the known generations is {nearest}, which differs in {}: check out a revision of Corundum that fits \
         one: {}",
        terminal::count(count, "name", "names"),
        revisions::told()
    )
}

/// Where a template differs from a generation: kinds of names and the names, with their lines if the template has them.
struct Differences<'a> {
    additional: Vec<(&'static str, &'a Name)>,
    missing: Vec<(&'static str, String)>,
}

impl<'a> Differences<'a> {
    fn new(found: &'a Header, generation: Generation) -> Self {
        let mut differences = Self {
            additional: Vec::new(),
            missing: Vec::new(),
        };
        let ours = parameters(generation).into_iter().map(|parameter| parameter.name);
        differences.compare("parameter", &found.parameters, ours.collect());
        let ours = ports(generation).into_iter().map(|port| port.name);
        differences.compare("port", &found.ports, ours.collect());
        differences
    }

    fn compare(&mut self, kind: &'static str, theirs: &'a [Name], ours: Vec<String>) {
        let known: BTreeSet<_> = ours.iter().map(String::as_str).collect();
        let there: BTreeSet<_> = theirs.iter().map(|name| name.name.as_str()).collect();
        let additional = theirs.iter().filter(|name| !known.contains(name.name.as_str()));
        self.additional.extend(additional.map(|name| (kind, name)));
        let missing = ours.iter().filter(|name| !there.contains(name.as_str()));
        self.missing.extend(missing.map(|name| (kind, name.clone())));
    }

    fn count(&self) -> usize {
        self.additional.len() + self.missing.len()
    }

    /// `has the parameter \`A\` (line 5) too many, and lacks the port \`b\``.
    fn told(&self) -> String {
        let additional = self
            .additional
            .iter()
            .map(|(kind, name)| format!("{kind} `{}` (line {})", name.name, name.line));
        let missing = self.missing.iter().map(|(kind, name)| format!("{kind} `{name}`"));
        let mut parts = Vec::new();
        if !self.additional.is_empty() {
            parts.push(format!("has {} too many", first_of(additional)));
        }
        if !self.missing.is_empty() {
            parts.push(format!("lacks {}", first_of(missing)));
        }
        parts.join(" and ")
    }
}

/// The first few, and how many more there are.
fn first_of(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(TOLD);
    let told: Vec<_> = names.by_ref().take(TOLD).collect();
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{}{more}", told.join(", "))
}
