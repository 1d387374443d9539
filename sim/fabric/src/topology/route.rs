//! The shortest ways through a topology.

use super::{Kind, Topology};
use std::collections::VecDeque;

/// For a switch: the ports that are on a shortest way to each NIC, by the NIC's number. Ports have the order of the cables
/// at the switch.
pub(crate) fn routes(topology: &Topology, switch: usize) -> Vec<Vec<u16>> {
    let ports: Vec<usize> = neighbours(topology, switch).collect();
    let ways = topology.nics().map(|(nic, ..)| {
        let far = distances(topology, nic);
        let on_way = ports.iter().enumerate().filter(|(_, neighbour)| {
            let (here, there) = (far[switch], far[**neighbour]);
            there.is_some_and(|there| here == Some(there + 1))
        });
        on_way.map(|(port, _)| port as u16).collect()
    });
    ways.collect()
}

fn neighbours(topology: &Topology, node: usize) -> impl Iterator<Item = usize> {
    let cables = topology.cables_at(node);
    cables.map(|(cable, end)| topology.cables[cable].ends[1 - end])
}

/// Cables between a NIC and every node; frames go through switches only.
fn distances(topology: &Topology, nic: usize) -> Vec<Option<u32>> {
    let mut far = vec![None; topology.nodes.len()];
    far[nic] = Some(0);
    let mut reached = VecDeque::from([(nic, 0)]);
    while let Some((node, distance)) = reached.pop_front() {
        if node != nic && matches!(topology.nodes[node].kind, Kind::Nic(_)) {
            continue;
        }
        for next in neighbours(topology, node) {
            if far[next].is_none() {
                far[next] = Some(distance + 1);
                reached.push_back((next, distance + 1));
            }
        }
    }
    far
}
