//! Files that received messages go to.

use anyhow::{Context as _, Result};
use spinneret_packets::capture::whole_file::WholeFile;
use spinneret_slmp::Received;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where messages are stored.
#[derive(Debug)]
pub(crate) enum Store {
    /// One message in this file.
    File(PathBuf),
    /// Each in a file of its own in this folder.
    Folder(PathBuf),
}

impl Store {
    /// A place for messages, if it can be one.
    ///
    /// # Errors
    /// If a folder should take one message, or a file many.
    pub(crate) fn new(path: &Path, many: bool) -> Result<Self> {
        match (many, path.is_dir()) {
            (true, true) => Ok(Self::Folder(path.to_owned())),
            (true, false) => anyhow::bail!(
                "{} is no folder, and with --many each message gets a file of its own",
                path.display()
            ),
            (false, true) => anyhow::bail!("{} is a folder: name a file, or give --many", path.display()),
            (false, false) => {
                let folder = folder_of(path);
                anyhow::ensure!(
                    folder.is_dir(),
                    "there is no folder {} for {}",
                    folder.display(),
                    path.display()
                );
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Whether one message is all that is wanted.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Stores a message: the file has its final name only when all of it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written; nothing of it is left then.
    pub(crate) fn save(&self, message: &Received) -> Result<PathBuf> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => {
                let from = message.key.from;
                let name = format!("{}-{}-{:08x}", from.ip(), from.port(), message.key.message_id);
                folder.join(name)
            }
        };
        self.write(&path, &message.data)
            .with_context(|| format!("{} cannot be stored", path.display()))?;
        Ok(path)
    }

    fn write(&self, path: &Path, data: &[u8]) -> Result<()> {
        let mut file = WholeFile::create(path)?;
        file.write_all(data)?;
        Ok(file.finish_on_disk()?)
    }
}

/// The folder of a file; the one that we are in if it has none.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinneret_slmp::MessageKey;

    fn message(data: &[u8]) -> Received {
        Received {
            key: MessageKey {
                from: "10.0.0.1:4000".parse().expect("it is an address"),
                message_id: 0xabc,
            },
            data: data.to_vec(),
        }
    }

    #[test]
    fn a_message_is_stored_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("message");
        let store = Store::new(&path, false).expect("there is room");
        assert!(store.is_single());
        assert_eq!(store.save(&message(b"first")).expect("there is room"), path);
        store.save(&message(b"second")).expect("there is room");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"second");
        // A folder of that name cannot be replaced by a file.
        std::fs::remove_file(&path).expect("it is ours");
        std::fs::create_dir(&path).expect("it is ours");
        let error = store.save(&message(b"third")).unwrap_err().to_string();
        assert!(error.ends_with("message cannot be stored"), "{error}");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("it is ours").count(),
            1,
            "nothing is left"
        );
    }

    #[test]
    fn messages_of_a_folder_have_their_senders_in_their_names() {
        let folder = tempfile::tempdir().expect("there is room");
        let store = Store::new(folder.path(), true).expect("it is a folder");
        let path = store.save(&message(b"one")).expect("there is room");
        assert_eq!(path, folder.path().join("10.0.0.1-4000-00000abc"));
    }

    #[test]
    fn a_place_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let refused = |path: &Path, many| Store::new(path, many).unwrap_err().to_string();
        assert!(refused(folder.path(), false).ends_with("is a folder: name a file, or give --many"));
        assert!(refused(&folder.path().join("file"), true).contains("is no folder"));
        assert!(refused(&folder.path().join("nowhere/file"), false).starts_with("there is no folder"));
    }
}
