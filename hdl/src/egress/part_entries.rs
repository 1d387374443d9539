//! Parts of the egress path in the catalog, for proofs of their own.

use super::{EgressShape, FrameReader, FrameRoom, LineAligner, entry};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values};
use crate::stream::AxisShape;
use spinneret_verilog::prelude::Block;

/// [`FrameReader`].
pub(crate) const READER_ENTRY: Entry = Entry {
    name: "frame_reader",
    doc: "reads the lines of frames by bursts that stay in their block of memory",
    shipped: false,
    parameters: |_| reader_parameters(),
    derived: |_| Vec::new(),
    build: build_reader,
};

/// [`FrameRoom`].
pub(crate) const ROOM_ENTRY: Entry = Entry {
    name: "frame_room",
    doc: "counts the places of the frame buffer that nobody has a claim to",
    shipped: false,
    parameters: |_| room_parameters(),
    derived: |_| Vec::new(),
    build: build_room,
};

/// [`LineAligner`].
pub(crate) const ALIGNER_ENTRY: Entry = Entry {
    name: "line_aligner",
    doc: "makes beats of lines, whatever place of a line a frame starts at",
    shipped: false,
    parameters: |_| aligner_parameters(),
    derived: |_| Vec::new(),
    build: build_aligner,
};

fn reader_parameters() -> Vec<Parameter> {
    vec![
        Parameter::new(
            "data_width",
            512,
            [16, 1024],
            "width of a line in bits, a power of two",
        ),
        Parameter::new("address_width", 32, [16, 64], "width of an address in bits"),
        Parameter::new(
            "max_frame",
            spinneret_regmap::MAX_FRAME.into(),
            [256, 16384],
            "longest frame in bytes",
        ),
        Parameter::new("id_width", 6, [1, 16], "width of a command's id in bits"),
    ]
}

fn build_reader(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(READER_ENTRY.name, &reader_parameters(), values)?;
    let get = |name: &str| checked.get(name) as usize;
    if !get("data_width").is_power_of_two() {
        return Err(checked.refuse("data_width", "it is a power of two".into()));
    }
    let reference = EgressShape::new(&entry::ENTRY.values(Config::Reference))?;
    let axis = AxisShape {
        data: get("data_width"),
        ..reference.axis
    };
    Ok(Box::new(FrameReader::new(EgressShape {
        axis,
        address: get("address_width"),
        max_frame: get("max_frame"),
        command_id: get("id_width"),
        ..reference
    })))
}

fn room_parameters() -> Vec<Parameter> {
    vec![
        Parameter::new("places", 512, [2, 16384], "beats of the buffer"),
        Parameter::new("most", 150, [1, 8192], "beats of the longest frame"),
    ]
}

fn build_room(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(ROOM_ENTRY.name, &room_parameters(), values)?;
    let (places, most) = (checked.get("places"), checked.get("most"));
    if places < 2 * most {
        let reason = format!("two of the longest frames need {} places", 2 * most);
        return Err(checked.refuse("places", reason));
    }
    Ok(Box::new(FrameRoom::new(places as usize, most as usize)))
}

fn aligner_parameters() -> Vec<Parameter> {
    vec![
        Parameter::new(
            "data_width",
            512,
            [16, 1024],
            "width of a line and of a beat in bits, a power of two",
        ),
        Parameter::new("beats_width", 8, [1, 16], "width of a number of beats in bits"),
    ]
}

fn build_aligner(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(ALIGNER_ENTRY.name, &aligner_parameters(), values)?;
    let data = checked.get("data_width") as usize;
    if !data.is_power_of_two() {
        return Err(checked.refuse("data_width", "it is a power of two".into()));
    }
    Ok(Box::new(LineAligner::new(
        data,
        checked.get("beats_width") as usize,
    )))
}

#[cfg(test)]
mod tests {
    use super::{ALIGNER_ENTRY, READER_ENTRY, ROOM_ENTRY};
    use crate::entry::{Config, Entry};

    fn refused(entry: &Entry, name: &str, value: u64) -> Option<String> {
        let mut values = entry.values(Config::Reference);
        values.insert(name.to_owned(), value);
        (entry.build)(&values).err().map(|error| error.to_string())
    }

    #[test]
    fn impossible_parameters_are_refused_with_a_reason() {
        assert_eq!(
            refused(&READER_ENTRY, "data_width", 48).as_deref(),
            Some("frame_reader: data_width = 48 is not possible: it is a power of two")
        );
        assert_eq!(
            refused(&ROOM_ENTRY, "places", 299).as_deref(),
            Some("frame_room: places = 299 is not possible: two of the longest frames need 300 places")
        );
        assert_eq!(
            refused(&ALIGNER_ENTRY, "data_width", 48).as_deref(),
            Some("line_aligner: data_width = 48 is not possible: it is a power of two")
        );
    }
}
