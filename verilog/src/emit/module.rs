//! The content of a module: everything between its ports and its end.

use std::collections::{BTreeMap, BTreeSet};

use super::file::with_doc;
use super::instances::{self, Array};
use super::ir::{CheckKind, ConstantId, Expr, Part, SignalId, Stmt, TopStatement};
use super::loops;
use super::marks::{self, literal};
use super::metadata::Metadata;
use super::plan::{Clocked, Plan};
use super::records::{View, Views};
use super::symbols::{Child, Role, Signal, Symbols};
use super::text::{Assignment, Writer, line};

fn declaration(keyword: &str, kind: &str, rest: &str, doc: &str) -> String {
    let space = if keyword.is_empty() { "" } else { " " };
    with_doc(&format!("    {keyword}{space}{kind} {rest};"), doc)
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
    declaration("localparam", &kind, &rest, "")
}

/// Type, sign and range of a declaration.
fn kind(signed: bool, width: usize, name: Option<&String>) -> String {
    let range = name.map_or_else(|| marks::range(width), |name| format!(" [{name}-1:0]"));
    format!("logic{}{range}", if signed { " signed" } else { "" })
}

fn kind_of(signal: &Signal, view: Option<&View>) -> String {
    match view {
        Some(view) => view.kind.clone(),
        None => kind(signal.signed, signal.width, signal.width_name.as_ref()),
    }
}

/// A signal of the module.
pub(crate) fn net(symbols: &Symbols, id: SignalId, view: Option<&View>, doc: &str) -> String {
    let signal = symbols.signal(id);
    declaration("", &kind_of(signal, view), &signal.identifier, doc)
}

/// Values at power-up of the outputs that are registers.
pub(crate) fn initial_outputs(symbols: &Symbols) -> BTreeMap<String, String> {
    let outputs = symbols.registers.iter().filter_map(|register| {
        let signal = symbols.signal(register.output);
        let value = register
            .initial
            .as_ref()
            .filter(|_| signal.role == Role::RegisteredOutput)?
            .as_literal()?;
        let base = if signal.width == 1 { 'b' } else { 'd' };
        Some((
            signal.identifier.clone(),
            format!("{}'{base}{value}", signal.width),
        ))
    });
    outputs.collect()
}

/// Writes the content of a module whose kernel was translated, and returns the names of its instances.
pub(crate) fn content(
    symbols: &Symbols,
    docs: &Metadata,
    plan: &Plan,
    views: &Views,
) -> (String, Vec<String>) {
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
    let mut content = Content {
        symbols,
        plan,
        docs,
        views,
        writer: Writer {
            symbols,
            views,
            renamed: &renamed,
            nets: BTreeMap::new(),
            // A loop's variable would hide a signal of its name.
            has_loops: !signals.chain(constants).any(|name| loops::is_variable(name)),
        },
        loops: Vec::new(),
    };
    content.find_loops();
    let mut names: Vec<_> = symbols
        .children
        .iter()
        .map(|child| child.identifier.clone())
        .collect();
    for (array, _) in &content.loops {
        for (place, name) in names.iter_mut().enumerate().skip(array.first).take(array.count) {
            *name = array.path(place);
        }
    }
    let sections = [
        content.constants(),
        views.declarations(),
        content.declarations(),
        content.ports_as_records(),
        content.logic(),
        content.clocked(),
        content.checks(),
        content.instances(),
    ];
    let sections = sections.into_iter().filter(|section| !section.is_empty());
    (sections.map(|section| format!("\n{section}")).collect(), names)
}

struct Content<'a> {
    symbols: &'a Symbols,
    plan: &'a Plan,
    docs: &'a Metadata,
    views: &'a Views,
    writer: Writer<'a>,
    /// Instances that are written as loops, with their text.
    loops: Vec<(Array, String)>,
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
        self.plan.for_each_expression(self.symbols, &mut note);
        used.into_iter().map(|id| constant(self.symbols, id)).collect()
    }

    fn declarations(&self) -> String {
        let mut out = String::new();
        let ids = (0..self.symbols.signals.len()).map(SignalId);
        for id in ids
            .clone()
            .filter(|id| self.symbols.signal(*id).role == Role::Local && self.is_used(*id))
        {
            out.push_str(&self.net(id, self.doc(&self.symbols.signal(id).path)));
        }
        for register in &self.symbols.registers {
            let signal = self.symbols.signal(register.output);
            if signal.role == Role::RegisteredOutput {
                continue;
            }
            let initial = register.initial.as_ref().map(|value| self.writer.expr(value));
            let value = initial.map_or_else(String::new, |value| format!(" = {value}"));
            let rest = format!("{}{value}", signal.identifier);
            let attribute = register.attribute.as_ref();
            let attribute = attribute.map_or_else(String::new, |name| format!("(* {name} = \"TRUE\" *)"));
            let kind = kind_of(signal, self.views.get(register.output));
            out.push_str(&declaration(&attribute, &kind, &rest, self.doc(&register.path)));
        }
        for id in ids {
            let in_array = self.loops.iter().find(|(array, _)| array.nets.contains_key(&id));
            match in_array.map(|(array, _)| array.declarations.get(&id)) {
                Some(declaration) => out.extend(declaration.map(|text| format!("    {text};\n"))),
                None if self.is_net(id) => out.push_str(&self.net(id, "")),
                None => {}
            }
        }
        out
    }

    /// Whether a port of a part or of a register has a signal of its own.
    fn is_net(&self, id: SignalId) -> bool {
        match self.symbols.signal(id).role {
            Role::ChildInput | Role::RegisterClock | Role::RegisterReset | Role::RegisterData(_) => {
                self.plan.driven.contains(&id)
            }
            Role::ChildOutput => self.plan.read.contains(&id) && !self.plan.outputs.contains_key(&id),
            _ => false,
        }
    }

    /// Finds the instances that are written as loops.
    fn find_loops(&mut self) {
        let arrays = instances::arrays(self.symbols, self.views, |id| self.is_net(id));
        for array in arrays.into_iter().filter(|_| self.writer.has_loops) {
            let before = self.writer.nets.clone();
            self.writer.nets.extend(array.nets.clone());
            let children = &self.symbols.children[array.first..array.first + array.count];
            let texts: Vec<_> = children
                .iter()
                .map(|child| self.instance(child, &array.identifier))
                .collect();
            match loops::generate(&texts, &array.label) {
                Some(text) => self.loops.push((array, text)),
                None => self.writer.nets = before,
            }
        }
    }

    fn net(&self, id: SignalId, doc: &str) -> String {
        net(self.symbols, id, self.views.get(id), doc)
    }

    /// Signals that stand for ports, and their connection with them.
    fn ports_as_records(&self) -> String {
        let (mut declarations, mut connections) = (String::new(), String::new());
        for (id, view, name) in self.views.ports() {
            declarations.push_str(&declaration("", &view.kind, name, ""));
            let port = self.symbols.signal(id);
            let (to, from) = match port.role {
                Role::Input => (name, &port.identifier),
                _ => (&port.identifier, name),
            };
            line(&mut connections, 1, &format!("assign {to} = {from};"));
        }
        declarations + &connections
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

    /// Returns the text of the checks, which simulations and proofs run and synthesis leaves out.
    fn checks(&self) -> String {
        let checks = &self.plan.checks;
        let Some(first) = checks.first() else {
            return String::new();
        };
        let (mut proof, mut simulation) = (String::new(), String::new());
        for check in checks {
            let condition = self.writer.expr(&check.condition);
            let message = check.message.replace(['"', '\\', '%'], "'");
            let statement = match check.kind {
                CheckKind::Assert => "assert",
                CheckKind::Assume => "assume",
                CheckKind::Cover => "cover",
            };
            line(&mut proof, 3, &format!("// {message}"));
            line(&mut proof, 3, &format!("{statement} ({condition});"));
            if check.kind != CheckKind::Cover {
                line(
                    &mut simulation,
                    3,
                    &format!("if (!({condition})) $error(\"{message}\");"),
                );
            }
        }
        let reset = first
            .reset
            .map_or_else(|| "1'b0", |reset| self.writer.name(reset));
        let block = |statements: &str| {
            let clock = self.writer.name(first.clock);
            format!(
                "    always @(posedge {clock}) begin\n        if (!{reset}) begin\n{statements}        end\n    end\n"
            )
        };
        let simulated = match simulation.is_empty() {
            true => String::new(),
            false => format!("`elsif SYNTHESIS\n`else\n{}", block(&simulation)),
        };
        format!("`ifdef FORMAL\n{}{simulated}`endif\n", block(&proof))
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
        let mut texts = Vec::new();
        for (place, child) in self.symbols.children.iter().enumerate() {
            let mut loops = self.loops.iter();
            let text =
                match loops.find(|(array, _)| (array.first..array.first + array.count).contains(&place)) {
                    Some((array, text)) if array.first == place => text.clone(),
                    Some(_) => continue,
                    None => self.instance(child, &child.identifier),
                };
            texts.push(self.comments_of(child) + &text);
        }
        texts.join("\n")
    }

    fn comments_of(&self, child: &Child) -> String {
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
        out
    }

    fn instance(&self, child: &Child, identifier: &str) -> String {
        let mut out = String::new();
        let head = format!("{}{identifier}", marks::module(&child.module, &child.parameters));
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
