//! [`sparse_product`] and [`dense_product`]: products of matrices in the memory of NumPy.

use bytemuck::allocation::cast_vec;
use numpy::{Element, IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pleach::{Level, LoopSettings, WorkerPool, run_loop};
use pleach_loops::looping::Loop;
use pleach_loops::sparse::csrmm::{Csrmm, Products};
use pleach_loops::sparse::matrix::{Checked, Csr, CsrView, Dense, DenseView};
use pleach_loops::sparse::spmm::{Adding, Counting, Factors, Sparse, room};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// A sparse matrix by rows, as SciPy has it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Matrix<'py, T: Element> {
    width: usize,
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    values: PyReadonlyArray1<'py, T>,
}

impl<T: Element> Matrix<'_, T> {
    /// Where rows begin, copied: there are far fewer rows than entries.
    fn starts(&self) -> PyResult<Vec<usize>> {
        let start = |&start: &i64| usize::try_from(start).map_err(PyValueError::new_err);
        self.starts.as_slice()?.iter().map(start).collect()
    }

    /// The matrix; its entries are not copied.
    fn view<'a>(&'a self, starts: &'a [usize]) -> PyResult<Checked<CsrView<'a, T>>> {
        if i32::try_from(self.width).is_err() {
            return Err(PyValueError::new_err("expected fewer than 2^31 columns"));
        }
        // A negative column becomes one that is too large, which the check finds.
        let columns = bytemuck::cast_slice(self.columns.as_slice()?);
        let view = CsrView { width: self.width, starts, columns, values: self.values.as_slice()? };
        view.checked().map_err(PyValueError::new_err)
    }
}

/// A sparse matrix of either precision.
#[derive(FromPyObject)]
pub enum AnyMatrix<'py> {
    Double(Matrix<'py, f64>),
    Single(Matrix<'py, f32>),
}

/// A dense matrix of either precision.
#[derive(FromPyObject)]
pub enum AnyNumbers<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// Runs a loop on threads. A signal to the interpreter stops it.
fn run<L: Loop>(work: &L, threads: u32) -> PyResult<()> {
    let settings = LoopSettings { threads, ..LoopSettings::default() };
    let mut raised = None;
    let outcome =
        run_loop(WorkerPool::shared(), work, &settings, &mut |_| match Python::attach(|py| {
            py.check_signals()
        }) {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                raised = Some(why);
                ControlFlow::Break(())
            }
        });
    outcome.map_err(|why| PyRuntimeError::new_err(why.to_string()))?;
    raised.map_or(Ok(()), Err)
}

/// Starts of rows, columns and values.
type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn multiplied<'py, T: Sparse + Element>(
    py: Python<'py>,
    (a, b): (&Matrix<'py, T>, &Matrix<'py, T>),
    threads: u32,
    sorted: bool,
) -> PyResult<Parts<'py>> {
    let starts = (a.starts()?, b.starts()?);
    let (a, b) = (a.view(&starts.0)?, b.view(&starts.1)?);
    let Csr { starts, columns, values, .. } = py.detach(|| {
        let factors = Factors::new(a, b, Level::best()).map_err(PyValueError::new_err)?;
        let factors = if sorted { factors } else { factors.in_any_order() };
        let (mut lengths, mut product) = (vec![0; a.height()], Csr::default());
        run(&Counting::new(&factors, &mut lengths), threads)?;
        room(&lengths, b.width, &mut product).map_err(PyMemoryError::new_err)?;
        run(&Adding::new(&factors, &mut product), threads)?;
        Ok::<_, PyErr>(product)
    })?;
    // With starts of 64 bits, SciPy would copy the columns to as many bits.
    let starts = if values.len() <= i32::MAX as usize {
        starts.iter().map(|&start| start as i32).collect::<Vec<_>>().into_pyarray(py).into_any()
    } else {
        cast_vec::<usize, i64>(starts).into_pyarray(py).into_any()
    };
    let columns = cast_vec::<u32, i32>(columns).into_pyarray(py).into_any();
    Ok((starts, columns, values.into_pyarray(py).into_any()))
}

/// The product of two sparse matrices of the same precision.
#[pyfunction]
pub fn sparse_product<'py>(
    py: Python<'py>,
    a: AnyMatrix<'py>,
    b: AnyMatrix<'py>,
    threads: u32,
    sorted: bool,
) -> PyResult<Parts<'py>> {
    match (a, b) {
        (AnyMatrix::Double(a), AnyMatrix::Double(b)) => multiplied(py, (&a, &b), threads, sorted),
        (AnyMatrix::Single(a), AnyMatrix::Single(b)) => multiplied(py, (&a, &b), threads, sorted),
        _ => Err(PyTypeError::new_err("expected matrices of the same precision")),
    }
}

/// Memory with the product, and where it begins there.
type Numbers<'py> = (Bound<'py, PyAny>, usize);

fn multiplied_dense<'py, T: Products + Element>(
    py: Python<'py>,
    a: &Matrix<'py, T>,
    b: &PyReadonlyArray2<'py, T>,
    threads: u32,
) -> PyResult<Numbers<'py>> {
    let starts = a.starts()?;
    let a = a.view(&starts)?;
    let &[height, width] = b.shape() else { unreachable!("a matrix has two dimensions") };
    let b = DenseView::new(height, width, b.as_slice()?).map_err(PyValueError::new_err)?;
    let (numbers, begin) = py.detach(|| {
        let mut product = Dense::zeros(a.height(), width).map_err(PyMemoryError::new_err)?;
        let work = Csrmm::new(a, b, &mut product, Level::best()).map_err(PyValueError::new_err)?;
        run(&work, threads)?;
        drop(work);
        Ok::<_, PyErr>(product.into_memory())
    })?;
    Ok((numbers.into_pyarray(py).into_any(), begin))
}

/// The product of a sparse matrix and a dense one of the same precision.
#[pyfunction]
pub fn dense_product<'py>(
    py: Python<'py>,
    a: AnyMatrix<'py>,
    b: AnyNumbers<'py>,
    threads: u32,
) -> PyResult<Numbers<'py>> {
    match (a, b) {
        (AnyMatrix::Double(a), AnyNumbers::Double(b)) => multiplied_dense(py, &a, &b, threads),
        (AnyMatrix::Single(a), AnyNumbers::Single(b)) => multiplied_dense(py, &a, &b, threads),
        _ => Err(PyTypeError::new_err("expected matrices of the same precision")),
    }
}
