//! The modules that the variants in a library become, and their names.

use std::collections::{BTreeMap, BTreeSet};

use super::design::{Child, Module};
use super::entry::{Content, Entry};
use super::file::{self, Finished};
use super::variants::{Group, Settled, Variant};
use super::verbatim;

/// The modules of the variants, children before those that instantiate them.
pub(crate) fn modules(entries: &[Entry]) -> Vec<Module> {
    let mut families = Families::of(entries);
    families.settle();
    let names = families.names();
    families
        .order()
        .into_iter()
        .map(|group| families.module(group, &names))
        .collect()
}

/// Variants in groups, each of which becomes a module.
struct Families<'a> {
    entries: &'a [Entry],
    by_name: BTreeMap<&'a str, usize>,
    /// The variants of each group, the first of which stands for it.
    members: Vec<Vec<usize>>,
    groups: Vec<Option<Group<'a>>>,
    /// The group of each variant.
    group_of: Vec<Option<usize>>,
}

impl<'a> Families<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(number, entry)| (entry.name.as_str(), number));
        Self {
            entries,
            by_name: by_name.collect(),
            members: Vec::new(),
            groups: Vec::new(),
            group_of: vec![None; entries.len()],
        }
    }

    /// The modules that a variant instantiates.
    fn children(&self, entry: usize) -> impl Iterator<Item = usize> {
        let children = self.entries[entry].origin.children.iter();
        children.filter_map(|child| self.by_name.get(child.module.as_str()).copied())
    }

    /// Puts variants into groups: those of a block when all that any of them instantiates has become a module.
    fn settle(&mut self) {
        let mut families: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        let mut order = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            // An entry without a wish, or one that names no numbers, is a module of its own.
            let wish = entry.wish.as_deref().filter(|_| !entry.origin.named.is_empty());
            let key = wish.map_or((entry.name.as_str(), ""), |wish| {
                (wish, entry.origin.block.as_str())
            });
            let family = families.entry(key).or_default();
            if family.is_empty() {
                order.push(key);
            }
            family.push(number);
        }
        let mut waiting: Vec<Vec<usize>> = order.iter().filter_map(|key| families.remove(key)).collect();
        while !waiting.is_empty() {
            let is_ready = |family: &Vec<usize>| {
                let mut children = family.iter().flat_map(|entry| self.children(*entry));
                children.all(|child| self.group_of[child].is_some())
            };
            let next = match waiting.iter().position(is_ready) {
                Some(ready) => waiting.remove(ready),
                // Blocks whose variants are in one another come one by one.
                None => match waiting.iter().position(|family| family.len() > 1) {
                    Some(position) => {
                        let family = waiting.remove(position);
                        waiting.extend(family.into_iter().map(|entry| vec![entry]));
                        continue;
                    }
                    None => waiting.remove(0),
                },
            };
            self.settle_family(&next);
        }
    }

    fn settle_family(&mut self, family: &[usize]) {
        let first = self.groups.len();
        for entry in family.iter().copied() {
            let joined = match self.variant(entry) {
                Some(variant) => {
                    let mut groups = self.groups.iter_mut().enumerate().skip(first);
                    let joined =
                        groups.find_map(|(number, group)| group.as_mut()?.add(&variant).then_some(number));
                    if joined.is_none() {
                        self.groups.push(Some(Group::new(variant)));
                        self.members.push(Vec::new());
                    }
                    joined
                }
                None => {
                    self.groups.push(None);
                    self.members.push(Vec::new());
                    None
                }
            };
            let group = joined.unwrap_or(self.groups.len() - 1);
            self.members[group].push(entry);
            self.group_of[entry] = Some(group);
        }
    }

    fn variant(&self, number: usize) -> Option<Variant<'a>> {
        let entry = &self.entries[number];
        let Content::Translated(body) = &entry.content else {
            return None;
        };
        let settled = |name: &str| {
            let child = *self.by_name.get(name)?;
            let group = self.group_of[child]?;
            let settings = self.groups[group]
                .as_ref()
                .map(|group| group.settings(&self.entries[child].origin.named));
            let settings = settings.unwrap_or_default();
            Some(Settled { group, settings })
        };
        Some(Variant::new(
            &body.content,
            &body.ports,
            &entry.origin.named,
            settled,
        ))
    }

    /// The name of each group: that which its first variant asks for, with a number if another module has it.
    fn names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.groups.len()];
        let mut taken = BTreeSet::new();
        for (group, members) in self.members.iter().enumerate() {
            if self.entries[members[0]].wish.is_none() {
                names[group].clone_from(&self.entries[members[0]].name);
                taken.insert(names[group].clone());
            }
        }
        let mut waiting: Vec<usize> = (0..self.groups.len())
            .filter(|group| names[*group].is_empty())
            .collect();
        waiting.sort_by_key(|group| self.members[*group][0]);
        for group in waiting {
            let wish = self.entries[self.members[group][0]]
                .wish
                .clone()
                .unwrap_or_default();
            let mut name = wish.clone();
            for number in 1_usize.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{wish}_{number}");
            }
            names[group] = name;
        }
        names
    }

    /// The groups in the order of their variants, each after those that it instantiates.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        for group in self.group_of.iter().flatten() {
            self.visit(*group, &mut order);
        }
        order
    }

    fn visit(&self, group: usize, order: &mut Vec<usize>) {
        if order.contains(&group) {
            return;
        }
        for entry in &self.members[group] {
            let children: Vec<usize> = self
                .children(*entry)
                .filter_map(|child| self.group_of[child])
                .collect();
            children.into_iter().for_each(|child| self.visit(child, order));
        }
        order.push(group);
    }

    fn module(&self, group: usize, names: &[String]) -> Module {
        let entry = &self.entries[self.members[group][0]];
        let name = &names[group];
        let module_of = |name: &String| {
            let child = self
                .by_name
                .get(name.as_str())
                .and_then(|child| self.group_of[*child]);
            child.map_or_else(|| name.clone(), |group| names[group].clone())
        };
        let child = |child: &Child| Child {
            module: module_of(&child.module),
            ..child.clone()
        };
        let children: Vec<Child> = entry.origin.children.iter().map(child).collect();
        let mut instances: Vec<String> = Vec::new();
        for instance in children.iter().map(|child| &child.module).chain(&entry.cores) {
            if !instances.contains(instance) {
                instances.push(instance.clone());
            }
        }
        let finished = self.groups[group].as_ref().map(|group| Finished {
            declared: group.declared(),
            ranges: group.ranges(),
            content: group.text(|group| names[group].clone()),
        });
        let (text, doc) = match &entry.content {
            Content::Translated(body) => (
                file::file(name, body, &entry.fixed, &finished.unwrap_or_default()),
                body.doc.join("\n"),
            ),
            Content::Verbatim(code) => (verbatim::file(code), String::new()),
        };
        Module {
            name: name.clone(),
            text,
            doc,
            instances,
            block: entry.origin.block.clone(),
            children,
        }
    }
}
