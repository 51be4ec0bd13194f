//! The compiled part of the Python package: it converts arguments, starts searches and waits for them.

mod cluster;
mod command;
mod failure;
mod loops;
mod native;
mod own;
mod problems;
mod report;
mod run;

use pyo3::prelude::*;

/// The compiled part of Pleach; its functions are private to the package.
#[pymodule]
mod _pleach {
    #[pymodule_export]
    use super::cluster::Cluster;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::failure::{SearchLost, WrongTree};
    #[pymodule_export]
    use super::loops::{dense_product, sparse_product};
    #[pymodule_export]
    use super::native::native;
    #[pymodule_export]
    use super::own::{Children, own};
    #[pymodule_export]
    use super::problems::{
        Graph, atsp, atsp_instance, clique, cores, flowshop, flowshop_instance, knapsack, qap,
        qap_instance, queens, uts,
    };
    #[pymodule_export]
    use super::run::Search;
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
