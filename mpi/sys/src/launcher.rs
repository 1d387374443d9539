//! The launcher of this process.

use std::env;
use std::fmt::{self, Display};

/// The launcher of this process, one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The kind of launcher, which says which MPI is meant.
    pub family: Family,
    /// The number of this process, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub size: usize,
}

/// Kinds of launchers, by what they write into the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// Hydra, the `mpirun` of MPICH, and others that speak its protocol, such as those of Intel MPI and MVAPICH.
    Pmi,
}

impl Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Pmi => "MPICH",
        })
    }
}

/// Whether `mpirun` started this process, and as which of how many. MPI is not asked: this costs nothing, and can be called
/// before MPI is started, or without any MPI.
pub fn launched() -> Option<Launcher> {
    launched_by(&|name| env::var(name).ok())
}

fn launched_by(variable: &dyn Fn(&str) -> Option<String>) -> Option<Launcher> {
    let number = |name: &str| variable(name)?.parse::<usize>().ok();
    let of = |family, rank: &str, size: &str| {
        let (rank, size) = (number(rank)?, number(size)?);
        (rank < size).then_some(Launcher { family, rank, size })
    };
    of(Family::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
        .or_else(|| of(Family::Pmi, "PMI_RANK", "PMI_SIZE"))
}

#[cfg(test)]
mod tests {
    use super::{Family, Launcher, launched_by};

    fn with(variables: &[(&str, &str)]) -> Option<Launcher> {
        launched_by(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn knows_both_launchers() {
        let of = |family| {
            Some(Launcher {
                family,
                rank: 1,
                size: 4,
            })
        };
        let open = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(with(&open), of(Family::OpenMpi));
        assert_eq!(with(&[("PMI_RANK", "1"), ("PMI_SIZE", "4")]), of(Family::Pmi));
    }

    #[test]
    fn ignores_invalid_launcher_variables() {
        for variables in [
            &[][..],
            &[("PMI_RANK", "1")],
            &[("PMI_RANK", "4"), ("PMI_SIZE", "4")],
            &[("PMI_RANK", "-1"), ("PMI_SIZE", "4")],
            &[("OMPI_COMM_WORLD_RANK", "one"), ("OMPI_COMM_WORLD_SIZE", "2")],
        ] {
            assert_eq!(with(variables), None, "{variables:?}");
        }
    }
}
