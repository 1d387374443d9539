//! Divides the statements of a kernel into groups that become one `assign`, `always_comb` or part of an
//! `always_ff` each.
//!
//! Statements that write the same signal stay together. Everything else sees only settled values, so it may stand apart.

use std::collections::{BTreeMap, BTreeSet};

use super::ir::{SignalId, Stmt, TopStatement};

/// The signals that one statement, or one group, reads and writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub(crate) reads: BTreeSet<SignalId>,
    pub(crate) writes: BTreeSet<SignalId>,
}

/// Statements that must stay in order, by their number in the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) members: Vec<usize>,
    pub(crate) access: Access,
}

/// The signals that a statement reads and writes.
pub(crate) fn access(stmt: &Stmt) -> Access {
    let mut access = Access::default();
    stmt.for_each(&mut |inner| {
        for expr in inner.expressions() {
            expr.for_each_read(&mut |signal, _, _| {
                access.reads.insert(signal);
            });
        }
        if let Stmt::Assign { target, .. } = inner {
            access.writes.insert(target.signal);
        }
    });
    access
}

/// The groups of a kernel, in the order of their first statements.
pub(crate) fn group(statements: &[TopStatement]) -> Vec<Group> {
    let accesses: Vec<Access> = statements
        .iter()
        .map(|statement| access(&statement.stmt))
        .collect();
    let mut union = Union::new(accesses.len());
    let mut last_write: BTreeMap<SignalId, usize> = BTreeMap::new();
    for (number, access) in accesses.iter().enumerate() {
        for signal in &access.writes {
            if let Some(earlier) = last_write.insert(*signal, number) {
                union.join(earlier, number);
            }
        }
    }
    let groups = collect(&accesses, &mut union);
    join_cycles(groups, &accesses)
}

fn collect(accesses: &[Access], union: &mut Union) -> Vec<Group> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for number in 0..accesses.len() {
        groups.entry(union.find(number)).or_default().push(number);
    }
    groups
        .into_values()
        .map(|members| of_members(members, accesses))
        .collect()
}

fn of_members(members: Vec<usize>, accesses: &[Access]) -> Group {
    let mut access = Access::default();
    for member in &members {
        access.reads.extend(&accesses[*member].reads);
        access.writes.extend(&accesses[*member].writes);
    }
    Group { members, access }
}

/// Joins groups that wait for one another: in program order they are one sequence without a loop.
fn join_cycles(groups: Vec<Group>, accesses: &[Access]) -> Vec<Group> {
    let mut writer: BTreeMap<SignalId, usize> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        writer.extend(group.access.writes.iter().map(|signal| (*signal, number)));
    }
    let sources: Vec<Vec<usize>> = groups
        .iter()
        .map(|group| {
            group
                .access
                .reads
                .iter()
                .filter_map(|signal| writer.get(signal).copied())
                .collect()
        })
        .collect();
    let mut union = Union::new(accesses.len());
    let first = |number: usize| groups[number].members.first().copied().unwrap_or(0);
    for group in &groups {
        group
            .members
            .windows(2)
            .for_each(|pair| union.join(pair[0], pair[1]));
    }
    let mut joined = false;
    for component in components(&sources) {
        for pair in component.windows(2) {
            union.join(first(pair[0]), first(pair[1]));
            joined = true;
        }
    }
    if joined {
        collect(accesses, &mut union)
    } else {
        groups
    }
}

/// The strongly connected components of a graph (Kosaraju's algorithm, without recursion).
fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        targets.iter().for_each(|target| predecessors[*target].push(node));
    }
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    for root in 0..successors.len() {
        visit(root, successors, &mut seen, &mut order);
    }
    let mut seen = vec![false; successors.len()];
    let mut found = Vec::new();
    for root in order.into_iter().rev() {
        let mut component = Vec::new();
        visit(root, &predecessors, &mut seen, &mut component);
        if !component.is_empty() {
            found.push(component);
        }
    }
    found
}

/// Appends the unseen nodes that can be reached from `root`, each after its successors.
fn visit(root: usize, successors: &[Vec<usize>], seen: &mut [bool], finished: &mut Vec<usize>) {
    let mut stack = vec![(root, 0)];
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    while let Some((node, next)) = stack.pop() {
        match successors[node].get(next) {
            Some(&target) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
            None => finished.push(node),
        }
    }
}

/// Disjoint sets whose representative is their smallest member.
struct Union {
    parents: Vec<usize>,
}

impl Union {
    fn new(size: usize) -> Self {
        Self {
            parents: (0..size).collect(),
        }
    }

    fn find(&mut self, member: usize) -> usize {
        let mut root = member;
        while self.parents[root] != root {
            self.parents[root] = self.parents[self.parents[root]];
            root = self.parents[root];
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_strongly_connected_components() {
        let graph = [vec![1], vec![2], vec![0], vec![2], vec![]];
        let mut found: Vec<Vec<usize>> = components(&graph)
            .into_iter()
            .map(|mut component| {
                component.sort_unstable();
                component
            })
            .collect();
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3], vec![4]]);
    }
}
