//! pi and oh-my-pi: our own dialect. Entries pass as they are; what they may not say here is kept and not obeyed.

mod read;
mod write;

use crate::codec::{Codec, Place};
use crate::error::Error;
use crate::limits::Limits;
use crate::passage::Passage;
use crate::place::between_dashes;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::target::Target;

/// Reads and writes sessions of pi, or of oh-my-pi.
pub(crate) struct Pi {
    pub(crate) omp: bool,
}

impl Pi {
    fn agent(&self) -> &'static str {
        if self.omp { "omp" } else { "pi" }
    }
}

impl Codec for Pi {
    fn read_within(&self, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
        read::read(self, source, limits, sink)
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let place = self.place(passage.start());
        let mut out = target.create(&place.file)?;
        write::write(self, passage, &mut *out)
    }

    /// The directory is the one that both programs know: oh-my-pi has shorter names for directories in the home, and finds
    /// these, too.
    fn place(&self, start: &Start) -> Place {
        let id = write::session_id(&start.id);
        let time = start.created.replace([':', '.'], "-");
        let resume: &[&str] = if self.omp { &["omp", "--resume", &id] } else { &["pi", "--session", &id] };
        Place {
            directory: between_dashes(&start.cwd),
            file: format!("{time}_{id}.jsonl"),
            resume: resume.iter().map(|word| (*word).to_owned()).collect(),
            import: Vec::new(),
        }
    }
}
