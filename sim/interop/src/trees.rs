//! The user's checkouts: which revisions they are, and whether every card can be built with them.

use anyhow::Result;
use spinneret_bsp::Family;
use spinneret_gen::board::corundum::Options;
use spinneret_hdl::app::corundum::Generation;
use std::path::Path;
use std::process::Command;

/// The commit of a checkout, in short.
pub fn revision(path: &Path) -> String {
    let output = Command::new("git")
        .args(["rev-parse", "--short=10", "HEAD"])
        .current_dir(path)
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "of no known revision".to_owned(),
    }
}

/// Renders every card with both checkouts, in the generation that fits: whether one at least can be built.
///
/// # Errors
/// If there is no place for temporary files.
pub fn cards(corundum: &Path, fpspin: &Path) -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    let mut written = 0;
    for board in spinneret_bsp::boards()
        .iter()
        .filter(|board| board.family == Family::UltraScalePlus)
    {
        let attempts = Generation::ALL.map(|generation| {
            let options = Options {
                generation,
                corundum: Some(corundum.to_owned()),
                pspin: Some(fpspin.to_owned()),
                ..Options::default()
            };
            let output = spinneret_gen::board::render(board, &options, scratch.path());
            (generation, output)
        });
        let good = attempts
            .iter()
            .find_map(|(generation, output)| Some((generation, output.as_ref().ok()?)));
        match good {
            Some((generation, output)) => {
                written += 1;
                println!(
                    "{:8} generation {generation}: {} files",
                    board.name,
                    output.files.len()
                );
            }
            None => {
                for (generation, output) in &attempts {
                    if let Err(error) = output {
                        println!("{:8} generation {generation}: {error}", board.name);
                    }
                }
            }
        }
    }
    Ok(written > 0)
}
