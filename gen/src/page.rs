//! Pages of documentation of which a part is written by a command.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces what stands between two marks; `None` if the text lacks one of them.
pub fn between(text: &str, [begin, end]: [&str; 2], new: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{new}{end}{after}"))
}

/// Replaces a page as a whole; it keeps its permissions.
///
/// # Errors
/// The file system refuses; then the page is as it was.
pub fn replace(page: &Path, text: &str) -> io::Result<()> {
    let folder = page.parent().unwrap_or(Path::new("."));
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(text.as_bytes())?;
    staged
        .as_file()
        .set_permissions(fs::metadata(page)?.permissions())?;
    staged.persist(page).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn replaces_only_what_is_between_the_marks() {
        let marks = ["<a>", "<b>"];
        assert_eq!(
            between("x<a>old<b>y", marks, "new\n").as_deref(),
            Some("x<a>\nnew\n<b>y")
        );
        assert_eq!(between("x<a>old", marks, "new\n"), None);
        assert_eq!(between("<b><a>", marks, "new\n"), None);
    }
}
