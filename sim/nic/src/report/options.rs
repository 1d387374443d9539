//! Options of a record, and its outputs.

use super::ReportError;
use super::page::PageOptions;
use super::plot::Plot;
use super::tables::ShowProgress;
use super::trace::Trace;
use crate::nic::NicConfig;
use spinneret_packets::capture::whole_file::WholeFile;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Options of a record. Disabled outputs cost neither time nor memory.
pub struct Options {
    /// A trace for Perfetto goes to this file.
    pub trace: Option<PathBuf>,
    /// A picture goes to this file.
    pub plot: Option<PathBuf>,
    /// A page about the run.
    pub page: PageOptions,
    /// Whether progress is shown on standard error.
    pub progress: ShowProgress,
    /// Kinds of faults of which the first one is described; those of others are only counted.
    pub faults_in_full: usize,
    /// Where messages about faults and the lines of handlers go.
    pub messages: Box<dyn Write + Send>,
}

impl Default for Options {
    /// No files; progress, lines of handlers and the first ten faults on standard error.
    fn default() -> Self {
        Self {
            trace: None,
            plot: None,
            page: PageOptions::default(),
            progress: ShowProgress::Yes,
            faults_in_full: 10,
            messages: Box::new(io::stderr()),
        }
    }
}

impl Options {
    /// Only a summary.
    pub fn silent() -> Self {
        Self {
            progress: ShowProgress::No,
            messages: Box::new(io::sink()),
            ..Self::default()
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("trace", &self.trace)
            .field("plot", &self.plot)
            .field("page", &self.page)
            .field("progress", &self.progress)
            .field("faults_in_full", &self.faults_in_full)
            .finish_non_exhaustive()
    }
}

/// Where messages go.
pub(super) struct Messages(Box<dyn Write + Send>);

impl Messages {
    pub(super) fn new(writer: Box<dyn Write + Send>) -> Self {
        Self(writer)
    }

    /// Writes a line. A run does not end if its messages cannot be written.
    pub(super) fn write(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Messages")
    }
}

/// The files of a record. A file that fails is given up, and the run goes on without it.
#[derive(Debug)]
pub(super) struct Files {
    trace: Option<(PathBuf, Trace)>,
    plot: Option<(PathBuf, WholeFile, Plot)>,
    failures: Vec<ReportError>,
}

impl Files {
    pub(super) fn create(options: &Options, config: &NicConfig) -> Result<Self, ReportError> {
        let shape = [config.cluster.clusters, config.cluster.hpus];
        let trace = options.trace.as_ref().map(|path| {
            let trace = Trace::create(path, shape, config.core_ps);
            Ok((
                path.clone(),
                trace.map_err(|error| ReportError::write("trace", path, error))?,
            ))
        });
        let plot = options.plot.as_ref().map(|path| {
            let file = WholeFile::create(path).map_err(|error| ReportError::write("plot", path, error))?;
            Ok((path.clone(), file, Plot::default()))
        });
        Ok(Self {
            trace: trace.transpose()?,
            plot: plot.transpose()?,
            failures: Vec::new(),
        })
    }

    /// Whether there is any file.
    pub(super) fn is_any(&self) -> bool {
        self.trace.is_some() || self.plot.is_some()
    }

    /// Does something to the trace, if there is one.
    pub(super) fn trace(&mut self, write: impl FnOnce(&mut Trace) -> io::Result<()>) {
        let Some((_, trace)) = &mut self.trace else { return };
        if let Err(error) = write(trace)
            && let Some((path, _)) = self.trace.take()
        {
            self.failures.push(ReportError::write("trace", &path, error));
        }
    }

    /// Does something to the plot, if there is one.
    pub(super) fn plot(&mut self, add: impl FnOnce(&mut Plot)) {
        if let Some((_, _, plot)) = &mut self.plot {
            add(plot);
        }
    }

    /// Completes all files: what could not be written.
    pub(super) fn finish(mut self) -> Vec<ReportError> {
        if let Some((path, trace)) = self.trace
            && let Err(error) = trace.finish()
        {
            self.failures.push(ReportError::write("trace", &path, error));
        }
        if let Some((path, file, plot)) = self.plot
            && let Err(error) = save(&path, file, &plot)
        {
            self.failures.push(error);
        }
        self.failures
    }
}

fn save(path: &Path, mut file: WholeFile, plot: &Plot) -> Result<(), ReportError> {
    let svg = plot.svg().map_err(|error| ReportError::Draw {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let written = file.write_all(svg.as_bytes()).and_then(|()| file.finish());
    written.map_err(|error| ReportError::write("plot", path, error))
}
