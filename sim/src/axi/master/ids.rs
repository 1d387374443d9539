//! Which ids are in use.

use std::collections::BTreeMap;

/// Bursts that are under way, by id: an atomic operation must have its id for itself (AMBA IHI 0022,
/// section E1.1), because nothing says in which order it and others of that id are answered.
#[derive(Debug, Default)]
pub(super) struct Ids {
    users: BTreeMap<u64, Users>,
}

#[derive(Debug)]
struct Users {
    /// Answers that are missing.
    answers: usize,
    atomic: bool,
}

impl Ids {
    /// Whether a burst of that id may be offered.
    pub(super) fn may_start(&self, id: u64, atomic: bool) -> bool {
        self.users.get(&id).is_none_or(|users| !atomic && !users.atomic)
    }

    /// A burst is offered, which will be answered that many times.
    pub(super) fn start(&mut self, id: u64, atomic: bool, answers: usize) {
        let users = self.users.entry(id).or_insert(Users { answers: 0, atomic });
        users.answers += answers;
    }

    /// An answer was complete.
    pub(super) fn end(&mut self, id: u64) {
        if let Some(users) = self.users.get_mut(&id) {
            users.answers -= 1;
            if users.answers == 0 {
                self.users.remove(&id);
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.users.clear();
    }
}

/// Sorts the numbers of bursts by id, and keeps their order otherwise.
pub(super) fn by_id(bursts: impl Iterator<Item = (u64, u64)>) -> BTreeMap<u64, Vec<u64>> {
    let mut sorted: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (id, number) in bursts {
        sorted.entry(id).or_default().push(number);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn atomic_operations_have_their_id_for_themselves() {
        let mut ids = Ids::default();
        ids.start(1, false, 1);
        ids.start(1, false, 1);
        ids.start(2, true, 2);
        let state = |ids: &Ids| [1, 2, 3].map(|id| (ids.may_start(id, false), ids.may_start(id, true)));
        assert_eq!(state(&ids), [(true, false), (false, false), (true, true)]);
        ids.end(1);
        ids.end(2);
        assert_eq!(state(&ids), [(true, false), (false, false), (true, true)]);
        ids.end(1);
        ids.end(2);
        ids.end(2);
        assert_eq!(state(&ids), [(true, true); 3]);
        ids.start(1, true, 1);
        ids.clear();
        assert_eq!(state(&ids), [(true, true); 3]);
    }
}
