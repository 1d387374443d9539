//! Widths of the block that joins our frames with Corundum's.

use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::stream::AxisShape;

/// Widths of the block that joins our frames with Corundum's, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxInjectShape {
    /// The frames.
    pub axis: AxisShape,
    /// The tag of a frame.
    pub tag: usize,
    /// The timestamp of a completion.
    pub timestamp: usize,
}

impl TxInjectShape {
    /// The shape that parameter values by name describe.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name| checked.get(name) as usize;
        if !get("data_width").is_multiple_of(8) {
            return Err(checked.refuse("data_width", "it is a multiple of 8".into()));
        }
        let needed = get("tag_width") + 1;
        if get("user_width") < needed {
            let reason = format!("tag ({}) and error bit need {needed}", get("tag_width"));
            return Err(checked.refuse("user_width", reason));
        }
        Ok(Self {
            axis: AxisShape {
                data: get("data_width"),
                id: get("id_width"),
                dest: get("dest_width"),
                user: get("user_width"),
            },
            tag: get("tag_width"),
            timestamp: get("timestamp_width"),
        })
    }

    /// The error bit in a packed beat.
    pub fn error_at(self) -> usize {
        self.axis.user_at()
    }

    /// The highest bit of the tag in a packed beat.
    pub fn tag_top_at(self) -> usize {
        self.axis.user_at() + self.tag
    }
}
