//! Chooses the MPI library to open, if any. The launcher's environment decides that beforehand, because a library under
//! another library's launcher may end the process in its first call.

use super::dialect::Family;
use crate::NetError;
use std::path::PathBuf;
use std::str::FromStr;

/// The user's choice of MPI library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The library that matches the launcher; no MPI without a launcher.
    #[default]
    Auto,
    /// No MPI.
    Off,
    /// This library, whatever the launcher.
    Path(PathBuf),
}

impl FromStr for Choice {
    type Err = NetError;

    /// Reads `auto`, `off`, or a path.
    fn from_str(text: &str) -> Result<Self, NetError> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            // The system's loader would take an empty name for this program itself.
            "" => Err(NetError::CannotOpen { path: String::new(), why: "an empty name".into() }),
            path => Ok(Self::Path(path.into())),
        }
    }
}

/// A family of launchers, with its variables and libraries.
#[derive(Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name in messages.
    pub name: &'static str,
    /// Any of these variables reveals it. Settings such as `OMPI_MCA_…` do not: users set them too.
    pub signs: &'static [&'static str],
    /// The variables that number its processes.
    pub ranks: &'static [&'static str],
    /// The variables with the number of processes that it started.
    pub sizes: &'static [&'static str],
    /// Libraries, the best first.
    pub libraries: &'static [&'static str],
    /// The families of libraries that understand it.
    pub families: &'static [Family],
    /// What to do if there is no library.
    pub help: &'static str,
}

/// All launchers, in this order: a job of the first kind may have been started inside one of the second.
static LAUNCHERS: [Launcher; 2] = [
    Launcher {
        name: "a launcher that speaks PMIx",
        signs: &["PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
        ranks: &["OMPI_COMM_WORLD_RANK", "PMIX_RANK"],
        sizes: &["OMPI_COMM_WORLD_SIZE"],
        libraries: &["libmpi.so.40"],
        families: &[Family::OpenMpi],
        help: "install Open MPI (on Debian, libopenmpi3), or name its library by hand",
    },
    Launcher {
        name: "a launcher that speaks PMI",
        signs: &["PMI_RANK", "PMI_FD"],
        ranks: &["PMI_RANK"],
        sizes: &["PMI_SIZE"],
        libraries: &["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"],
        families: &[Family::Abi, Family::Mpich],
        help: "install MPICH (on Debian, libmpich12), add its folder to LD_LIBRARY_PATH, \
               or name its library by hand",
    },
];

/// What to open.
#[derive(Debug, PartialEq, Eq)]
pub enum LibraryPlan {
    /// Nothing.
    Nothing,
    /// One of the launcher's libraries.
    Launched {
        /// The launcher.
        launcher: &'static Launcher,
        /// The variable that revealed it.
        sign: &'static str,
        /// The number of processes that it started, if it reports that.
        size: Option<u32>,
    },
    /// A library named by hand.
    ByHand {
        /// Its path.
        path: PathBuf,
        /// The number of processes that a launcher started, if it reports that.
        size: Option<u32>,
    },
}

/// The number that a launcher gave this process. `variable` looks up the environment.
pub fn rank(variable: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    let names = LAUNCHERS.iter().flat_map(|launcher| launcher.ranks);
    names.filter_map(|name| variable(name)).find_map(|text| text.trim().parse().ok())
}

/// The number of processes of the job on this machine, if the launcher reports that. Slurm writes `2(x3),1` for two on
/// each of three machines and one on another, but does not say which machine this is, so we assume the fullest.
pub fn processes_here(variable: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    let names = [
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MPI_LOCALNRANKS",
        "PMI_LOCAL_SIZE",
        "SLURM_STEP_TASKS_PER_NODE",
    ];
    let most = |text: String| {
        let number = |of_some: &str| of_some.split('(').next()?.trim().parse().ok();
        text.split(',').map(number).collect::<Option<Vec<u32>>>()?.into_iter().max()
    };
    names.iter().filter_map(|name| variable(name)).find_map(most)
}

/// Chooses by the environment, which `variable` looks up. A job of one process counts as none.
pub fn choose(choice: &Choice, variable: &dyn Fn(&str) -> Option<String>) -> LibraryPlan {
    let found = LAUNCHERS.iter().find_map(|launcher| {
        let sign = launcher.signs.iter().copied().find(|name| variable(name).is_some())?;
        let said = launcher.sizes.iter().find_map(|name| variable(name));
        Some((launcher, sign, said.and_then(|text| text.trim().parse().ok())))
    });
    let size = found.and_then(|(_, _, size)| size);
    match (choice, found) {
        (Choice::Off, _) => LibraryPlan::Nothing,
        _ if size == Some(1) => LibraryPlan::Nothing,
        (Choice::Path(path), _) => LibraryPlan::ByHand { path: path.clone(), size },
        (Choice::Auto, Some((launcher, sign, size))) => {
            LibraryPlan::Launched { launcher, sign, size }
        }
        (Choice::Auto, None) => LibraryPlan::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is chosen where these variables are set.
    fn chosen(choice: &str, variables: &[(&str, &str)]) -> LibraryPlan {
        choose(&choice.parse().unwrap(), &|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_string())
        })
    }

    /// The first library and the size of a launched plan.
    fn launched(variables: &[(&str, &str)]) -> (&'static str, &'static str, Option<u32>) {
        match chosen("auto", variables) {
            LibraryPlan::Launched { launcher, sign, size } => (launcher.libraries[0], sign, size),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_a_launcher_nothing_is_opened() {
        assert_eq!(chosen("auto", &[]), LibraryPlan::Nothing);
        let settings = [("OMPI_MCA_btl", "self"), ("PMIX_MCA_gds", "hash"), ("SLURM_PROCID", "0")];
        assert_eq!(chosen("auto", &settings), LibraryPlan::Nothing);
    }

    #[test]
    fn each_launcher_gets_its_library() {
        let open = "libmpi.so.40";
        let of = |size| [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", size)];
        assert_eq!(launched(&of("4")), (open, "OMPI_COMM_WORLD_RANK", Some(4)));
        assert_eq!(launched(&[("PMIX_RANK", "3")]), (open, "PMIX_RANK", None));
        assert_eq!(launched(&[("PMIX_NAMESPACE", "job")]), (open, "PMIX_NAMESPACE", None));
        let abi = "libmpi_abi.so.1";
        let of = |size| [("PMI_RANK", "0"), ("PMI_SIZE", size)];
        assert_eq!(launched(&of("2")), (abi, "PMI_RANK", Some(2)));
        assert_eq!(launched(&[("PMI_FD", "6")]), (abi, "PMI_FD", None));
        assert_eq!(launched(&of("many")), (abi, "PMI_RANK", None));
    }

    #[test]
    fn launchers_report_the_processes_of_a_machine() {
        let says = |name: &'static str, value: &'static str| {
            processes_here(&move |asked| (asked == name).then(|| value.into()))
        };
        assert_eq!(says("PMI_LOCAL_SIZE", "3"), Some(3));
        assert_eq!(says("SLURM_STEP_TASKS_PER_NODE", "2(x3)"), Some(2));
        assert_eq!(says("SLURM_STEP_TASKS_PER_NODE", "2(x3),4,1(x2)"), Some(4));
        assert_eq!(says("SLURM_STEP_TASKS_PER_NODE", "many"), None);
        assert_eq!(says("SLURM_NTASKS", "4"), None);
    }

    #[test]
    fn pmix_goes_before_pmi() {
        let both = [("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("PMIX_RANK", "0")];
        assert_eq!(launched(&both), ("libmpi.so.40", "PMIX_RANK", None));
    }

    #[test]
    fn one_process_needs_no_mpi() {
        assert_eq!(chosen("auto", &[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), LibraryPlan::Nothing);
        let open = [("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")];
        assert_eq!(chosen("auto", &open), LibraryPlan::Nothing);
        assert_eq!(chosen("/opt/libmpi.so", &open), LibraryPlan::Nothing);
    }

    #[test]
    fn the_users_choice_wins() {
        let pmi = [("PMI_RANK", "0"), ("PMI_SIZE", "2")];
        assert_eq!(chosen("off", &pmi), LibraryPlan::Nothing);
        let path = PathBuf::from("/opt/libmpi.so.40");
        let by_hand = |size| LibraryPlan::ByHand { path: path.clone(), size };
        assert_eq!(chosen("/opt/libmpi.so.40", &pmi), by_hand(Some(2)));
        assert_eq!(chosen("/opt/libmpi.so.40", &[]), by_hand(None));
        assert!("".parse::<Choice>().is_err());
    }
}
