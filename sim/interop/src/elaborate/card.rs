//! A card that both checkouts have everything for.

use super::written::write;
use anyhow::{Result, bail};
use spinneret_bsp::{Board, Family};
use spinneret_gen::Error;
use spinneret_gen::board::corundum::{CheckoutError, Options};
use spinneret_gen::render::File;
use spinneret_hdl::app::corundum::Generation;
use std::path::{Path, PathBuf};

/// The card that is tried before all others.
const FIRST: &str = "vcu1525";

/// A card that can be built.
pub(super) struct Card {
    pub(super) board: &'static Board,
    pub(super) generation: Generation,
    /// The folder that holds what was rendered.
    pub(super) folder: PathBuf,
    pub(super) files: Vec<File>,
}

impl Card {
    /// The first card that can be built, written below a folder.
    pub(super) fn first(corundum: &Path, fpspin: &Path, root: &Path) -> Result<Self> {
        let folder = root.join("card");
        let mut refusals = Vec::new();
        for board in cards() {
            for generation in Generation::ALL {
                let options = Options {
                    generation,
                    corundum: Some(corundum.to_owned()),
                    pspin: Some(fpspin.to_owned()),
                    ..Options::default()
                };
                match spinneret_gen::board::render(board, &options, &folder) {
                    Ok(output) => {
                        for file in &output.files {
                            write(&folder.join(&file.name), &file.text)?;
                        }
                        return Ok(Self {
                            board,
                            generation,
                            folder,
                            files: output.files,
                        });
                    }
                    Err(error) => refusals.push(error),
                }
            }
        }
        match telling(refusals) {
            Some(error) => Err(error.into()),
            None => bail!("no card has a design of Corundum"),
        }
    }
}

/// All cards in the order in which they are tried.
fn cards() -> Vec<&'static Board> {
    let boards = spinneret_bsp::boards().iter();
    let mut cards: Vec<_> = boards
        .filter(|board| board.family == Family::UltraScalePlus)
        .collect();
    cards.sort_by_key(|board| board.name != FIRST);
    cards
}

/// The refusal that says most: the first one in the generation that fits, if there is one that fits.
fn telling(mut refusals: Vec<Error>) -> Option<Error> {
    let is_of_other_generation =
        |error: &Error| matches!(error, Error::Checkout(CheckoutError::OtherNames { .. }));
    let at = refusals.iter().position(|error| !is_of_other_generation(error));
    (!refusals.is_empty()).then(|| refusals.swap_remove(at.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{CheckoutError, Error, cards, telling};

    #[test]
    fn the_first_card_is_one_of_them_and_comes_once() {
        let names: Vec<_> = cards().iter().map(|card| card.name).collect();
        assert_eq!(names[0], super::FIRST);
        assert_eq!(names.iter().filter(|name| **name == super::FIRST).count(), 1);
    }

    #[test]
    fn a_generation_that_does_not_fit_is_told_only_if_none_does() {
        let other = |asked| {
            Error::Checkout(CheckoutError::OtherNames {
                path: "c".to_owned(),
                asked,
                file: "f",
                first: 1,
                last: 2,
                differences: String::new(),
                advice: String::new(),
            })
        };
        let missing = Error::Checkout(CheckoutError::NoDirectory {
            option: "--x",
            path: "y".to_owned(),
        });
        let told = |refusals| telling(refusals).map(|error| error.to_string());
        assert!(told(vec![other("a"), missing, other("b")]).is_some_and(|text| text.contains("--x y")));
        assert!(told(vec![other("a"), other("b")]).is_some_and(|text| text.contains("generation a")));
        assert_eq!(told(vec![]), None);
    }
}
