//! `deny.toml`.

use serde::Deserialize;

/// The rules that dependencies are held to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub(crate) licenses: Licenses,
    pub(crate) bans: Bans,
    pub(crate) sources: Sources,
    /// These need the database of advisories, so `cargo deny` alone looks at them.
    #[serde(rename = "advisories")]
    _advisories: Option<toml::Table>,
}

impl Rules {
    /// Reads the text of `deny.toml`.
    ///
    /// # Errors
    /// If it is not one, or has rules that are not known here.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| format!("deny.toml: {error}"))
    }

    /// Whether a crate may be there in several versions.
    pub fn allow_several_versions(&self) -> bool {
        !self.bans.multiple_versions.denies()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Licenses {
    pub(crate) allow: Vec<String>,
    #[serde(default)]
    pub(crate) exceptions: Vec<Exception>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) allow: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Bans {
    multiple_versions: Level,
    pub(crate) wildcards: Level,
    #[serde(default)]
    pub(crate) allow_wildcard_paths: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sources {
    pub(crate) unknown_registry: Level,
    pub(crate) unknown_git: Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Allow,
    Warn,
    Deny,
}

impl Level {
    pub(crate) fn denies(self) -> bool {
        self == Self::Deny
    }
}
