//! What becomes of received messages: each is stored or refused, and its sender hears which.

use crate::terminal::{Failure, Store, print, tell};
use anyhow::{Result, anyhow, bail};
use spinneret_slmp::{GivenUp, Received, Verdict};
use std::path::{Path, PathBuf};

/// Takes messages: one for a file, or many for a folder.
#[derive(Debug)]
pub(super) struct Inbox {
    store: Store,
    /// The one message for the file has come.
    is_stored: bool,
}

impl Inbox {
    /// An empty one.
    ///
    /// # Errors
    /// If a folder should take one message, or a file many.
    pub(super) fn new(path: &Path, many: bool) -> Result<Self, Failure> {
        let store = Store::new(path, many).map_err(Failure::Usage)?;
        Ok(Self {
            store,
            is_stored: false,
        })
    }

    /// Whether no other message is wanted.
    pub(super) fn is_done(&self) -> bool {
        self.is_stored
    }

    /// Stores a message, lets its sender know, and prints what became of it.
    ///
    /// # Errors
    /// If it is the one that is waited for and cannot be stored, or `confirm` fails.
    pub(super) fn take(
        &mut self,
        message: &Received,
        confirm: impl FnOnce(Verdict) -> Result<()>,
    ) -> Result<()> {
        let saved = self.save(message);
        let verdict = match saved {
            Ok(_) => Verdict::Stored,
            Err(_) => Verdict::Refused,
        };
        confirm(verdict)?;
        match saved {
            Ok(path) => {
                let (bytes, from) = (message.data.len(), message.key.from);
                self.is_stored = self.store.is_single();
                print(format_args!("{}: {bytes} bytes from {from}\n", path.display()))
            }
            Err(error) => self.failed(anyhow!("{error:#}")),
        }
    }

    /// Prints that a message did not come whole.
    ///
    /// # Errors
    /// If it is the one that is waited for.
    pub(super) fn give_up(&self, given_up: &GivenUp) -> Result<()> {
        let GivenUp { key, bytes, length } = given_up;
        let of = length.map_or_else(
            || "and its end never came".to_owned(),
            |length| format!("of {length}"),
        );
        self.failed(anyhow!(
            "message {:#010x} of {} stopped after {bytes} bytes {of}: the sender or the network stopped, the message is \
             longer than --max-size, or this receiver was restarted in its middle; nothing of it was stored",
            key.message_id,
            key.from
        ))
    }

    /// The end of receiving.
    ///
    /// # Errors
    /// If the one message has not come.
    pub(super) fn finish(&self) -> Result<()> {
        match self.store.is_single() && !self.is_stored {
            true => bail!("no message came"),
            false => Ok(()),
        }
    }

    fn save(&self, message: &Received) -> Result<PathBuf> {
        if self.is_stored {
            bail!(
                "a second message, of {}, was refused: one file holds one message (--many takes more)",
                message.key.from
            );
        }
        self.store.save(message)
    }

    /// The failure of one message ends the command only if that message is all it waits for.
    fn failed(&self, error: anyhow::Error) -> Result<()> {
        if self.store.is_single() && !self.is_stored {
            return Err(error);
        }
        tell(error);
        Ok(())
    }
}
