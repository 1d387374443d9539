//! Waveforms of the hardware: of all of it or a part, and of all time or a window.

use super::{Behind, Hardware, Nic, NicError};
use spinneret_sim::model::{Model as _, ModelError};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The application in the hierarchy of a waveform: names of what is in it need not begin with this.
const TOP: &str = "TOP.spinneret_app";

/// A waveform that is asked for.
#[derive(Clone, Debug)]
pub struct WaveRequest {
    /// Where it goes.
    pub path: PathBuf,
    /// An instance of a module, with all that is in it, or a signal: names with points between them, as
    /// [`find_scope`] gives them. `None` for everything.
    pub scope: Option<String>,
    /// Picoseconds since the start in which it is written.
    pub window_ps: Range<u64>,
}

/// What of the hardware a name means in waveforms: names of instances from the application on. `None` if there is nothing of
/// that name.
///
/// # Errors
/// If no waveform can be written to the path, which has none afterwards that anybody asked for.
pub fn find_scope(name: &str, path: &Path) -> Result<Option<String>, ModelError> {
    let inside = format!("{TOP}.{name}");
    for scope in [&*inside, name] {
        let mut hardware = Hardware::application();
        match hardware.instance_mut().trace_part_to(path, Some(scope)) {
            Ok(()) => return Ok(Some(scope.to_owned())),
            Err(ModelError::NoScope { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl<B: Behind> Nic<B> {
    /// Starts a waveform (FST) of the hardware. Its times are those of the NIC, also where time was left out.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn trace(&mut self, wave: WaveRequest) -> Result<(), NicError> {
        let instance = self.sim.dut.instance_mut();
        instance.trace_part_to(&wave.path, wave.scope.as_deref())?;
        self.wave_ps = Some(wave.window_ps);
        self.look_at_wave();
        Ok(())
    }

    /// Lets the waveform, if there is one, begin or end.
    pub(super) fn look_at_wave(&mut self) {
        let now_ps = self.now_ps();
        if let Some(window_ps) = &self.wave_ps {
            let is_recording = window_ps.contains(&now_ps);
            if now_ps >= window_ps.end {
                self.wave_ps = None;
            }
            self.sim.dut.instance_mut().set_recording(is_recording);
        }
    }
}
