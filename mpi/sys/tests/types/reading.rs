//! What a tree means: the bytes of an element, in their order, from the standard's definitions. Extents are those that MPI
//! gives.

use spinneret_mpi_sys::{Combiner, Datatype, Tree};

/// Bytes around the elements that nobody may touch.
const GUARD: usize = 64;

/// Packs and unpacks elements with MPI and without.
pub(crate) fn compare(datatype: &Datatype, tree: &Tree, count: usize, seed: u64) -> Result<(), String> {
    let mut runs = Vec::new();
    read(tree, 0, &mut runs);
    let bounds = tree.bounds;
    if bounds.size == 0 {
        // There are no true bounds.
        let (mut packed, mut position) = ([0xee; 4], 1);
        let result = datatype.pack(&[], 0, count, &mut packed, &mut position);
        return same(
            "what is packed of nothing",
            &(result.is_ok(), packed, position),
            &(true, [0xee; 4], 1),
        );
    }
    let is_inside = |&(start, length): &(i64, i64)| {
        start >= bounds.true_lower_bound && start + length <= bounds.true_lower_bound + bounds.true_extent
    };
    // What `pack` and `unpack` check rests on this.
    if !runs.iter().all(is_inside) {
        return Err(format!("bytes out of the true bounds {bounds:?}: {runs:?}"));
    }
    let far = (count as i64 - 1) * bounds.extent;
    let lowest = bounds.true_lower_bound + far.min(0);
    let highest = bounds.true_lower_bound + bounds.true_extent + far.max(0);
    if highest - lowest > 1 << 24 {
        return Ok(());
    }
    let length = (highest - lowest) as usize + 2 * GUARD;
    let Ok(origin) = usize::try_from(GUARD as i64 - lowest) else {
        // The address of the first element lies before the area.
        return Ok(());
    };
    let memory: Vec<u8> = (0..length).map(|index| mix(seed, index)).collect();
    let mut places = Vec::new();
    for element in 0..count as i64 {
        for &(start, bytes) in &runs {
            let first = (origin as i64 + element * bounds.extent + start) as usize;
            places.extend(first..first + bytes as usize);
        }
    }
    let packed: Vec<u8> = places.iter().map(|&place| memory[place]).collect();
    let expected = [&[0xee; 5][..], &packed, &[0xee; 9]].concat();

    let mut found = vec![0xee; expected.len()];
    let mut position = 5;
    let words = |error: spinneret_mpi_sys::Error| error.to_string();
    datatype
        .pack(&memory, origin, count, &mut found, &mut position)
        .map_err(words)?;
    same("packed bytes", &found, &expected)?;
    same("the position behind them", &position, &(5 + packed.len()))?;
    let room = datatype.pack_size(count).map_err(words)?;
    same("whether there is room", &(room >= packed.len()), &true)?;

    let mut expected = vec![0x55; length];
    for &place in &places {
        expected[place] = memory[place];
    }
    let mut unpacked = vec![0x55; length];
    position = 5;
    datatype
        .unpack(&found, &mut position, &mut unpacked, origin, count)
        .map_err(words)?;
    same("unpacked bytes", &unpacked, &expected)?;
    same(
        "the position behind what was read",
        &position,
        &(5 + packed.len()),
    )?;
    refuses_what_does_not_fit(datatype, origin, lowest, length, count, packed.len())
}

fn refuses_what_does_not_fit(
    datatype: &Datatype,
    origin: usize,
    lowest: i64,
    length: usize,
    count: usize,
    bytes: usize,
) -> Result<(), String> {
    if bytes == 0 {
        return Ok(());
    }
    let mut packed = vec![0; bytes];
    let short = vec![0; length - GUARD - 1];
    let is_refused = datatype.pack(&short, origin, count, &mut packed, &mut 0).is_err();
    same("whether a short area is refused", &is_refused, &true)?;
    if let Ok(early) = usize::try_from(-lowest - 1) {
        let is_refused = datatype
            .pack(&vec![0; length], early, count, &mut packed, &mut 0)
            .is_err();
        same("whether bytes before an area are refused", &is_refused, &true)?;
    }
    let mut area = vec![0; length];
    let is_refused = datatype
        .unpack(&packed, &mut 1, &mut area, origin, count)
        .is_err();
    same("whether too few bytes are refused", &is_refused, &true)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}"))
}

fn mix(seed: u64, index: usize) -> u8 {
    (seed ^ index as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .to_be_bytes()[0]
}

/// Adds the runs of bytes, start and length, of an element at an address.
pub(crate) fn read(tree: &Tree, base: i64, runs: &mut Vec<(i64, i64)>) {
    let (numbers, bytes) = (&tree.integers, &tree.addresses);
    let extent = tree.children.first().map_or(0, |child| child.bounds.extent);
    let mut block = |index: usize, start: i64, length: i64| {
        let child = &tree.children[index];
        for element in 0..length {
            read(child, base + start + element * child.bounds.extent, runs);
        }
    };
    let count = numbers.first().copied().unwrap_or(0);
    let blocks = 0..count as usize;
    match tree.combiner {
        Combiner::Named => named(tree, base, runs),
        Combiner::Dup | Combiner::Resized => block(0, 0, 1),
        Combiner::Contiguous => block(0, 0, count),
        Combiner::Vector => {
            blocks.for_each(|index| block(0, index as i64 * numbers[2] * extent, numbers[1]));
        }
        Combiner::Hvector => blocks.for_each(|index| block(0, index as i64 * bytes[0], numbers[1])),
        Combiner::Indexed => {
            let starts = &numbers[1 + blocks.len()..];
            blocks.for_each(|index| block(0, starts[index] * extent, numbers[1 + index]));
        }
        Combiner::Hindexed => blocks.for_each(|index| block(0, bytes[index], numbers[1 + index])),
        Combiner::IndexedBlock => {
            blocks.for_each(|index| block(0, numbers[2 + index] * extent, numbers[1]));
        }
        Combiner::HindexedBlock => blocks.for_each(|index| block(0, bytes[index], numbers[1])),
        Combiner::Struct => blocks.for_each(|index| block(index, bytes[index], numbers[1 + index])),
        Combiner::Subarray | Combiner::Darray => {
            for place in array(tree) {
                block(0, place * extent, 1);
            }
        }
        other => panic!("{other:?} is not made here"),
    }
}

/// MPI's own types are in one piece, but pairs may have a gap between and behind.
fn named(tree: &Tree, base: i64, runs: &mut Vec<(i64, i64)>) {
    let parts: &[(i64, i64)] = match tree.name.as_deref() {
        Some("MPI_DOUBLE_INT" | "MPI_LONG_INT") => &[(0, 8), (8, 4)],
        Some("MPI_SHORT_INT") => &[(0, 2), (4, 4)],
        Some("MPI_LONG_DOUBLE_INT") => &[(0, 16), (16, 4)],
        _ => &[(0, tree.bounds.size)],
    };
    runs.extend(parts.iter().map(|(start, length)| (base + start, *length)));
}

/// The places of elements in the whole array, in their order.
fn array(tree: &Tree) -> Vec<i64> {
    let numbers = &tree.integers;
    let (sizes, chosen) = if tree.combiner == Combiner::Subarray {
        let dimensions = numbers[0] as usize;
        let row = |index: usize| &numbers[1 + index * dimensions..][..dimensions];
        let ranges = row(1)
            .iter()
            .zip(row(2))
            .map(|(length, start)| (*start..start + length).collect());
        (row(0).to_vec(), ranges.collect::<Vec<Vec<i64>>>())
    } else {
        let dimensions = numbers[2] as usize;
        let row = |index: usize| &numbers[3 + index * dimensions..][..dimensions];
        // Processes are numbered so that the last coordinate changes first, whatever the order of the array.
        let mut rank = numbers[1];
        let mut chosen = vec![Vec::new(); dimensions];
        for index in (0..dimensions).rev() {
            let processes = row(3)[index];
            chosen[index] = dealt(
                row(0)[index],
                row(1)[index],
                row(2)[index],
                processes,
                rank % processes,
            );
            rank /= processes;
        }
        (row(0).to_vec(), chosen)
    };
    // From the dimension that changes last to the one that changes first.
    let mut dimensions: Vec<usize> = (0..sizes.len()).collect();
    if numbers.last() == Some(&1) {
        dimensions.reverse();
    }
    let mut places = vec![0];
    for index in dimensions {
        let inner = |place: &i64| {
            let start = place * sizes[index];
            chosen[index]
                .iter()
                .map(move |element| start + element)
                .collect::<Vec<_>>()
        };
        places = places.iter().flat_map(inner).collect();
    }
    places
}

/// The elements of a dimension that one of its processes has.
fn dealt(size: i64, kind: i64, argument: i64, processes: i64, rank: i64) -> Vec<i64> {
    let length = match (kind, argument) {
        (0, -1) => (size + processes - 1) / processes,
        (1, -1) => 1,
        (2, _) => size,
        (_, argument) => argument,
    };
    (0..size)
        .filter(|element| element / length % processes == rank)
        .collect()
}
