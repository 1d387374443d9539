//! Blocks that are broken on purpose: changes of their text that a proof has to find out, from `tb/proofs/mutations.txt`.

/// A change of a block's text that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The proof that has to find it out.
    pub proof: &'static str,
    /// What the change breaks, as a sentence.
    pub breaks: &'static str,
    /// The text that is replaced where it stands first.
    pub from: String,
    /// The new text.
    pub to: String,
}

/// All mutations.
pub fn mutations() -> Vec<Mutation> {
    parse(include_str!("../../proofs/mutations.txt"))
}

/// A paragraph begins with the name of its proof; a mutation is a sentence, lines with `-` and lines with `+`.
fn parse(text: &'static str) -> Vec<Mutation> {
    let mut all: Vec<Mutation> = Vec::new();
    let (mut proof, mut breaks) = ("", "");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let is_new = all.last().is_none_or(|mutation| mutation.breaks != breaks);
        let (removed, added) = (line.strip_prefix("- "), line.strip_prefix("+ "));
        if line.is_empty() {
            proof = "";
        } else if proof.is_empty() {
            proof = line;
        } else if let Some(part) = removed.or(added) {
            if is_new {
                all.push(Mutation {
                    proof,
                    breaks,
                    from: String::new(),
                    to: String::new(),
                });
            }
            if let Some(mutation) = all.last_mut() {
                let text = if removed.is_some() {
                    &mut mutation.from
                } else {
                    &mut mutation.to
                };
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part.strip_suffix('$').unwrap_or(part));
            }
        } else {
            breaks = line;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Mutation, mutations, parse};

    #[test]
    fn reads_texts_of_several_lines_and_spaces_at_their_end() {
        let text = "# comment\n\nfifo\nForgets.\n- a <= 1;\n-   b\n+ a <= 0;\n+   b\nShows.\n- hit = x & $\n+ hit = $\n\nslots\nLoses.\n- c\n+ d\n";
        let mutation = |proof, breaks, from: &str, to: &str| Mutation {
            proof,
            breaks,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let expected = [
            mutation("fifo", "Forgets.", "a <= 1;\n  b", "a <= 0;\n  b"),
            mutation("fifo", "Shows.", "hit = x & ", "hit = "),
            mutation("slots", "Loses.", "c", "d"),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn every_mutation_names_a_proof_and_changes_text() {
        for mutation in mutations() {
            assert!(crate::proofs::find(mutation.proof).is_some(), "{mutation:?}");
            assert!(
                !mutation.from.is_empty() && mutation.from != mutation.to,
                "{mutation:?}"
            );
        }
    }
}
