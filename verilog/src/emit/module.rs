//! The content of a module: everything between its ports and its end.

use std::collections::{BTreeMap, BTreeSet};

use super::file::with_doc;
use super::ir::{ConstantId, Expr, Part, SignalId, Stmt};
use super::loops;
use super::lower::{Kernel, TopStatement};
use super::marks::{self, literal};
use super::metadata::Metadata;
use super::plan::{Clocked, Plan};
use super::symbols::{Child, Role, Signal, Symbols};
use super::text::{Assignment, Writer, line};

fn declaration(keyword: &str, kind: &str, rest: &str, doc: &str) -> String {
    with_doc(&format!("    {keyword}{kind} {rest};"), doc)
}

/// A constant field as a named constant.
pub(crate) fn constant(symbols: &Symbols, id: ConstantId) -> String {
    let constant = symbols.constant(id);
    let rest = format!(
        "{} = {}",
        constant.identifier,
        literal(&constant.value, constant.width)
    );
    let kind = kind(constant.signed, constant.width, None);
    declaration("localparam logic", &kind, &rest, "")
}

/// Sign and range of a declaration, with a space before them.
fn kind(signed: bool, width: usize, name: Option<&String>) -> String {
    let range = name.map_or_else(|| marks::range(width), |name| format!(" [{name}-1:0]"));
    format!("{}{range}", if signed { " signed" } else { "" })
}

fn kind_of(signal: &Signal) -> String {
    kind(signal.signed, signal.width, signal.width_name.as_ref())
}

/// A signal of the module.
pub(crate) fn net(symbols: &Symbols, id: SignalId, doc: &str) -> String {
    let signal = symbols.signal(id);
    declaration("logic", &kind_of(signal), &signal.identifier, doc)
}

/// Writes the content of a module whose kernel was translated.
pub(crate) fn content(symbols: &Symbols, kernel: &Kernel, plan: &Plan) -> String {
    let renamed: BTreeMap<SignalId, SignalId> = symbols
        .registers
        .iter()
        .map(|register| (register.data, register.output))
        .collect();
    let renamed = renamed
        .into_iter()
        .filter(|(data, _)| !plan.driven.contains(data))
        .collect();
    let signals = symbols.signals.iter().map(|signal| &signal.identifier);
    let constants = symbols.constants.iter().map(|constant| &constant.identifier);
    let content = Content {
        symbols,
        plan,
        docs: &kernel.metadata,
        writer: Writer {
            symbols,
            renamed: &renamed,
            // A loop's variable would hide a signal of its name.
            has_loops: !signals.chain(constants).any(|name| loops::is_variable(name)),
        },
    };
    let sections = [
        content.constants(),
        content.declarations(),
        content.logic(),
        content.clocked(),
        content.instances(),
    ];
    sections
        .into_iter()
        .filter(|section| !section.is_empty())
        .map(|section| format!("\n{section}"))
        .collect()
}

struct Content<'a> {
    symbols: &'a Symbols,
    plan: &'a Plan,
    docs: &'a Metadata,
    writer: Writer<'a>,
}

impl Content<'_> {
    fn doc(&self, path: &str) -> &str {
        self.docs.doc(path)
    }

    fn constants(&self) -> String {
        let mut used = BTreeSet::new();
        let mut note = |expr: &Expr| {
            expr.for_each_constant(&mut |id| {
                used.insert(id);
            });
        };
        let clocked = self
            .plan
            .clocked
            .iter()
            .flat_map(|clocked| clocked.statements.iter().map(|(_, s)| s));
        for statement in self.plan.logic.iter().flatten().chain(clocked) {
            statement
                .stmt
                .for_each(&mut |inner| inner.expressions().into_iter().for_each(&mut note));
        }
        self.plan.inputs.values().for_each(&mut note);
        self.plan
            .clocked
            .iter()
            .flat_map(|clocked| &clocked.resets)
            .for_each(|(expr, _)| note(expr));
        for register in &self.symbols.registers {
            register
                .initial
                .iter()
                .chain(register.reset.iter().map(|(_, value)| value))
                .for_each(&mut note);
        }
        used.into_iter().map(|id| constant(self.symbols, id)).collect()
    }

    fn declarations(&self) -> String {
        let mut out = String::new();
        let ids = (0..self.symbols.signals.len()).map(SignalId);
        for id in ids
            .clone()
            .filter(|id| self.symbols.signal(*id).role == Role::Local && self.is_used(*id))
        {
            out.push_str(&net(self.symbols, id, self.doc(&self.symbols.signal(id).path)));
        }
        for register in &self.symbols.registers {
            let signal = self.symbols.signal(register.output);
            let initial = register.initial.as_ref().map(|value| self.writer.expr(value));
            let value = initial.map_or_else(String::new, |value| format!(" = {value}"));
            let rest = format!("{}{value}", signal.identifier);
            let attribute = register.attribute.as_ref();
            let keyword = attribute.map_or_else(
                || "logic".to_owned(),
                |name| format!("(* {name} = \"TRUE\" *) logic"),
            );
            out.push_str(&declaration(
                &keyword,
                &kind_of(signal),
                &rest,
                self.doc(&register.path),
            ));
        }
        for id in ids {
            let needed = match self.symbols.signal(id).role {
                Role::ChildInput | Role::RegisterClock | Role::RegisterReset | Role::RegisterData(_) => {
                    self.plan.driven.contains(&id)
                }
                Role::ChildOutput => self.plan.read.contains(&id) && !self.plan.outputs.contains_key(&id),
                _ => false,
            };
            if needed {
                out.push_str(&net(self.symbols, id, ""));
            }
        }
        out
    }

    fn is_used(&self, local: SignalId) -> bool {
        let connected = self.plan.outputs.values().any(|target| *target == local);
        connected || self.plan.driven.contains(&local) || self.plan.read.contains(&local)
    }

    fn logic(&self) -> String {
        let mut out = String::new();
        let mut after_block = false;
        for group in &self.plan.logic {
            let single = match &group[..] {
                [statement] => self.continuous(statement),
                _ => None,
            };
            let comments = group.first().map_or(&[][..], |statement| &statement.comments);
            let spaced = !out.is_empty() && (after_block || single.is_none() || !comments.is_empty());
            if spaced {
                out.push('\n');
            }
            after_block = single.is_none();
            match single {
                Some(text) => {
                    comments
                        .iter()
                        .for_each(|comment| line(&mut out, 1, &format!("// {comment}")));
                    line(&mut out, 1, &text);
                }
                None => self.always_comb(group, &mut out),
            }
        }
        out
    }

    /// The text of a group that is one assignment to a whole signal.
    fn continuous(&self, statement: &TopStatement) -> Option<String> {
        match &statement.stmt {
            Stmt::Assign { target, value } if target.part == Part::Whole => Some(format!(
                "assign {}",
                self.writer.assignment(target, value, Assignment::Blocking)
            )),
            _ => None,
        }
    }

    fn always_comb(&self, group: &[TopStatement], out: &mut String) {
        line(out, 1, "always_comb begin");
        self.writer
            .runs(self.statements(group, Assignment::Blocking), 2, out);
        line(out, 1, "end");
    }

    /// The texts of statements and of the comments in front of them.
    fn statements<'b>(
        &self,
        statements: impl IntoIterator<Item = &'b TopStatement>,
        kind: Assignment,
    ) -> Vec<String> {
        let texts = |statement: &TopStatement| {
            let comments = statement
                .comments
                .iter()
                .cloned()
                .map(Stmt::Comment)
                .collect::<Vec<_>>();
            self.writer
                .statements(comments.iter().chain([&statement.stmt]), kind, 2)
        };
        statements.into_iter().flat_map(texts).collect()
    }

    fn clocked(&self) -> String {
        let blocks: Vec<String> = self
            .plan
            .clocked
            .iter()
            .map(|clocked| self.always_ff(clocked))
            .collect();
        blocks.join("\n")
    }

    fn always_ff(&self, clocked: &Clocked) -> String {
        let mut out = String::new();
        let edge = if clocked.edge.falling {
            "negedge"
        } else {
            "posedge"
        };
        line(
            &mut out,
            1,
            &format!(
                "always_ff @({edge} {}) begin",
                self.writer.name(clocked.edge.clock)
            ),
        );
        let statements = clocked.statements.iter().map(|(_, statement)| statement);
        self.writer
            .runs(self.statements(statements, Assignment::Nonblocking), 2, &mut out);
        for number in &clocked.copies {
            let register = &self.symbols.registers[*number];
            let (output, data) = (self.writer.name(register.output), self.writer.name(register.data));
            if output != data {
                line(&mut out, 2, &format!("{output} <= {data};"));
            }
        }
        for (condition, registers) in &clocked.resets {
            line(
                &mut out,
                2,
                &format!("if ({}) begin", self.writer.expr(condition)),
            );
            for register in registers.iter().map(|number| &self.symbols.registers[*number]) {
                if let Some((_, value)) = &register.reset {
                    let (name, value) = (self.writer.name(register.output), self.writer.expr(value));
                    line(&mut out, 3, &format!("{name} <= {value};"));
                }
            }
            line(&mut out, 2, "end");
        }
        line(&mut out, 1, "end");
        out
    }

    fn instances(&self) -> String {
        let texts: Vec<String> = self
            .symbols
            .children
            .iter()
            .map(|child| self.instance(child))
            .collect();
        texts.join("\n")
    }

    fn instance(&self, child: &Child) -> String {
        let mut out = String::new();
        let doc = self.doc(&child.name);
        if !doc.is_empty() {
            line(&mut out, 1, &format!("// {doc}"));
        }
        let comments = child
            .ports
            .iter()
            .filter_map(|(_, id)| self.plan.comments.get(id))
            .flatten();
        comments.for_each(|comment| line(&mut out, 1, &format!("// {comment}")));
        let head = format!(
            "{}{}",
            marks::module(&child.module, &child.parameters),
            child.identifier
        );
        if child.ports.is_empty() {
            line(&mut out, 1, &format!("{head} ();"));
            return out;
        }
        line(&mut out, 1, &format!("{head} ("));
        for (number, (port, id)) in child.ports.iter().enumerate() {
            let comma = if number + 1 < child.ports.len() { "," } else { "" };
            line(&mut out, 2, &format!(".{port}({}){comma}", self.connection(*id)));
        }
        line(&mut out, 1, ");");
        out
    }

    fn connection(&self, port: SignalId) -> String {
        if let Some(expr) = self.plan.inputs.get(&port) {
            return self.writer.expr(expr);
        }
        if let Some(target) = self.plan.outputs.get(&port) {
            return self.writer.name(*target).to_owned();
        }
        let unread = self.symbols.signal(port).role == Role::ChildOutput && !self.plan.read.contains(&port);
        if unread {
            String::new()
        } else {
            self.writer.name(port).to_owned()
        }
    }
}
