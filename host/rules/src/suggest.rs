//! The name that was probably meant.

/// A question to append to an error about an unknown name: the nearest known one, or all of them.
pub(super) fn did_you_mean(unknown: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|name| (distance(unknown, name), name)).min();
    match nearest {
        Some((edits, name)) if edits <= 2.max(name.len() / 3) => format!("did you mean \"{name}\"?"),
        _ => format!("known are {}", known.join(", ")),
    }
}

/// Number of letters to insert, delete or replace to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().take(MAX_LETTERS).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()] + from.chars().count().saturating_sub(MAX_LETTERS)
}

/// Longer names are not compared letter by letter: no known name comes near.
const MAX_LETTERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("ipv4", "ipv4"), 0);
        assert_eq!(distance("udp-port", "udp-dport"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn suggests_the_nearest_name_or_lists_all() {
        let known = ["ipv4", "udp-dport"];
        assert_eq!(did_you_mean("udp-port", &known), "did you mean \"udp-dport\"?");
        assert_eq!(did_you_mean("IPv4", &known), "did you mean \"ipv4\"?");
        assert_eq!(did_you_mean("something", &known), "known are ipv4, udp-dport");
    }
}
