//! Whether a run in which handlers did something wrong is one that fails.

use crate::report::{FaultKind, Summary};
use crate::terminal::Failure;
use anyhow::anyhow;

/// The counter of packets for which no program was there.
const NO_CONTEXT: &str = "no_context";

/// Fails if handlers did something wrong and that is not allowed.
///
/// # Errors
/// [`trouble`], as a failure of the work.
pub(super) fn check(summary: &Summary, allow_faults: bool) -> Result<(), Failure> {
    match trouble(summary).filter(|_| !allow_faults) {
        Some(trouble) => Err(Failure::Work(anyhow!(trouble))),
        None => Ok(()),
    }
}

/// What handlers did wrong, in a sentence that names the most frequent case; the summary has the others.
pub(crate) fn trouble(summary: &Summary) -> Option<String> {
    let no_context = summary.drops.get(NO_CONTEXT).copied().unwrap_or(0);
    let others = summary.refused_commands.saturating_sub(count(&summary.refusals));
    let troubles = [
        kinds("handlers failed", &summary.faults),
        summary.broken.first().map(|hpu| {
            let (core, others) = (format!("{}.{}", hpu.cluster, hpu.core), summary.broken.len() - 1);
            let others = if others > 0 {
                format!(", and so do {others} others")
            } else {
                String::new()
            };
            format!(
                "HPU {core} stands still after {} in {}{others}",
                hpu.cause, hpu.place
            )
        }),
        kinds("handlers were refused something", &summary.refusals),
        (others > 0).then(|| format!("{others} commands or copies were refused that no handler asked for")),
        (no_context > 0).then(|| format!("{no_context} packets were dropped because no program served them")),
    ];
    let troubles: Vec<String> = troubles.into_iter().flatten().collect();
    (!troubles.is_empty()).then(|| {
        let troubles = troubles.join("; ");
        format!("{troubles}. With --allow-faults the command succeeds all the same")
    })
}

fn count(kinds: &[FaultKind]) -> u64 {
    kinds.iter().map(|kind| kind.count).sum()
}

/// How often something happened, and the most frequent case of it.
fn kinds(what: &str, kinds: &[FaultKind]) -> Option<String> {
    let first = kinds.first()?;
    let times = match count(kinds) {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let place = [&first.handler, &first.source].map(String::as_str);
    let place: Vec<&str> = place.into_iter().filter(|place| !place.is_empty()).collect();
    let which = if kinds.len() > 1 { ", most often" } else { ":" };
    Some(format!(
        "{what} {times}{which} {} in {}",
        first.cause,
        place.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::BrokenHpu;

    fn kind(handler: &str, cause: &str, count: u64) -> FaultKind {
        FaultKind {
            handler: handler.to_owned(),
            source: "app.c:4".to_owned(),
            cause: cause.to_owned(),
            count,
            ..FaultKind::default()
        }
    }

    #[test]
    fn each_trouble_is_told_and_fails_unless_it_is_allowed() {
        let broken = BrokenHpu {
            cluster: 1,
            core: 2,
            place: "start".to_owned(),
            pc: 0,
            cause: "store".to_owned(),
        };
        let cases = [
            (
                Summary {
                    faults: vec![kind("a_ph", "load", 2), kind("a_th", "trap", 1)],
                    ..Summary::default()
                },
                "handlers failed 3 times, most often load in a_ph, app.c:4. ",
            ),
            (
                Summary {
                    broken: vec![broken],
                    ..Summary::default()
                },
                "HPU 1.2 stands still after store in start. ",
            ),
            (
                Summary {
                    refusals: vec![kind("a_ph", "packet", 1)],
                    refused_commands: 3,
                    ..Summary::default()
                },
                "handlers were refused something once: packet in a_ph, app.c:4; 2 commands or copies were refused that no ",
            ),
            (
                Summary {
                    drops: [(NO_CONTEXT.to_owned(), 4)].into(),
                    ..Summary::default()
                },
                "4 packets were dropped because no program served them. ",
            ),
        ];
        for (summary, begin) in cases {
            let failure = check(&summary, false).expect_err(begin).to_string();
            assert!(failure.starts_with(begin), "{failure}");
            assert!(failure.contains("--allow-faults"), "{failure}");
            assert!(check(&summary, true).is_ok(), "{begin}");
        }
        // Packets that came too fast are no mistake of the program.
        let overload = Summary {
            drops: [("overload".to_owned(), 9), ("no_slot".to_owned(), 9)].into(),
            ..Summary::default()
        };
        assert!(check(&overload, false).is_ok());
    }
}
