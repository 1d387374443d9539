//! The order of statements.

use std::collections::BTreeMap;

use super::super::error::Error;
use super::super::group::{Access, access};
use super::super::ir::{SignalId, Stmt, TopStatement};
use super::super::symbols::Symbols;

/// Statements with the comments in front of them.
pub(super) fn with_comments(statements: Vec<Stmt>) -> Vec<TopStatement> {
    let mut comments = Vec::new();
    let mut all = Vec::new();
    for stmt in statements {
        match stmt {
            Stmt::Comment(text) => comments.push(text),
            stmt => all.push(TopStatement {
                comments: std::mem::take(&mut comments),
                stmt,
            }),
        }
    }
    all
}

/// The statements in an order in which every signal is assigned before it is read; otherwise as the kernel has them.
pub(super) fn ordered(symbols: &Symbols, statements: Vec<TopStatement>) -> Result<Vec<TopStatement>, Error> {
    let accesses: Vec<_> = statements
        .iter()
        .map(|statement| access(&statement.stmt))
        .collect();
    let mut writers: BTreeMap<SignalId, Vec<usize>> = BTreeMap::new();
    for (number, access) in accesses.iter().enumerate() {
        for signal in &access.writes {
            writers.entry(*signal).or_default().push(number);
        }
    }
    let mut order = Order {
        symbols,
        accesses: &accesses,
        writers: &writers,
        state: vec![0; statements.len()],
        sorted: Vec::new(),
    };
    for number in 0..statements.len() {
        order.visit(number)?;
    }
    let sorted = order.sorted;
    let mut statements: Vec<_> = statements.into_iter().map(Some).collect();
    Ok(sorted
        .into_iter()
        .filter_map(|number| statements[number].take())
        .collect())
}

struct Order<'a> {
    symbols: &'a Symbols,
    accesses: &'a [Access],
    writers: &'a BTreeMap<SignalId, Vec<usize>>,
    /// 0: not seen, 1: waits for others, 2: sorted.
    state: Vec<u8>,
    sorted: Vec<usize>,
}

impl Order<'_> {
    fn visit(&mut self, number: usize) -> Result<(), Error> {
        match self.state[number] {
            2 => return Ok(()),
            1 => {
                let signal = self.accesses[number].writes.iter().next();
                return Err(Error::Kernel {
                    path: self.symbols.block.clone(),
                    message: format!(
                        "`{}` depends on itself: a combinational loop",
                        signal.map_or_else(String::new, |id| self.symbols.display(*id))
                    ),
                    line: String::new(),
                });
            }
            _ => {}
        }
        self.state[number] = 1;
        let access = &self.accesses[number];
        let earlier = access
            .writes
            .iter()
            .filter_map(|signal| self.writers.get(signal))
            .flatten()
            .filter(|writer| **writer < number);
        let sources = access
            .reads
            .iter()
            .filter_map(|signal| self.writers.get(signal))
            .flatten()
            .filter(|writer| **writer != number);
        let needed: Vec<usize> = sources.chain(earlier).copied().collect();
        for writer in needed {
            self.visit(writer)?;
        }
        self.state[number] = 2;
        self.sorted.push(number);
        Ok(())
    }
}
