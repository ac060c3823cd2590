//! Writing a trace.

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;

use crate::{ApiServer, stored_object::StoredObject};

/// After so long without an event, what is buffered is written.
const IDLE: Duration = Duration::from_millis(100);

/// Where a storage notes its events.
#[derive(Debug)]
pub(crate) struct Journal {
    begin: Duration,
    // Without a bound, which would let a slow disk hold up writes; what waits shares its bytes with the window of past events.
    events: mpsc::Sender<(Duration, Bytes)>,
}

impl Journal {
    /// Notes an event of time `now`. Does not wait.
    pub(crate) fn note(&self, now: Duration, object: &StoredObject) {
        let offset = now.saturating_sub(self.begin);
        // The writer is gone after an error, which the recording reports when it is finished.
        let _ = self.events.send((offset, object.frame()));
    }
}

/// A trace cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// A trace that is being written: every event of the server, from its beginning to [`finish`](Self::finish).
#[derive(Debug)]
pub struct Recording {
    server: Arc<ApiServer>,
    path: PathBuf,
    writer: thread::JoinHandle<io::Result<()>>,
}

impl Recording {
    /// Makes the file, or empties it, and begins. A recording that the server had before gets no more events.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn begin(server: &Arc<ApiServer>, path: &Path) -> Result<Self, RecordError> {
        let fault = |source| RecordError {
            path: path.to_owned(),
            source,
        };
        let file = BufWriter::new(File::create(path).map_err(fault)?);
        let (events, received) = mpsc::channel();
        let writer = thread::Builder::new()
            .name("recording".to_owned())
            .spawn(move || write_events(file, &received))
            .map_err(fault)?;
        let begin = server.now();
        let journal = Journal { begin, events };
        server.read(|state| state.storage.set_journal(Some(journal)));
        Ok(Self {
            server: Arc::clone(server),
            path: path.to_owned(),
            writer,
        })
    }

    /// Ends and waits until all is written.
    ///
    /// # Errors
    /// [`RecordError`] of the first write that failed; the trace ends before it.
    pub fn finish(self) -> Result<(), RecordError> {
        self.server.read(|state| state.storage.set_journal(None));
        let outcome = self.writer.join();
        let outcome = outcome.expect("the writer does not panic");
        outcome.map_err(|source| RecordError {
            path: self.path,
            source,
        })
    }
}

fn write_events(
    mut file: BufWriter<File>,
    received: &mpsc::Receiver<(Duration, Bytes)>,
) -> io::Result<()> {
    loop {
        match received.recv_timeout(IDLE) {
            Ok((offset, frame)) => {
                write!(file, r#"{{"offset_ns":{},"#, offset.as_nanos())?;
                // The frame is a JSON object and its newline.
                file.write_all(&frame[1..])?;
            }
            Err(RecvTimeoutError::Timeout) => file.flush()?,
            Err(RecvTimeoutError::Disconnected) => return file.flush(),
        }
    }
}
