//! Results that travel to another process arrive unchanged, and invalid results are refused.

use pleach_core::search::level::Level;
use pleach_loops::looping::Loop;
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;
use pleach_loops::sparse::csrmm::Csrmm;
use pleach_loops::sparse::generate::named;
use pleach_loops::sparse::matrix::{Csr, Dense};
use pleach_loops::sparse::spmm::{Adding, Counting, Factors, all, room};

/// Runs a loop here and sends its results there, range by range; wrong bytes are refused.
fn travels(here: &impl Loop, there: &impl Loop) {
    let units = here.units();
    here.run(0..units, &mut here.local());
    let (from, to) = (here.remote().unwrap(), there.remote().unwrap());
    for start in (0..units).step_by(3) {
        let range = start..(start + 3).min(units);
        let mut bytes = Vec::new();
        range.clone().for_each(|unit| from.pack(unit, &mut bytes));
        for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &[]] {
            assert!(to.unpack_all(range.clone(), wrong).is_err(), "{range:?}");
        }
        to.unpack_all(range, &bytes).unwrap();
    }
}

#[test]
fn products_arrive_unchanged() {
    for word in ["fem:600", "web:500x4", "grid:300"] {
        let matrix = named(word, 1).unwrap().unwrap().checked().unwrap();
        let dense = Dense::by(matrix.width, 5, |row, column| (row * 3 + column) as f64).unwrap();
        let zeros = || Dense::zeros(matrix.height(), 5).unwrap();
        let (mut here, mut there) = (zeros(), zeros());
        travels(
            &Csrmm::new(matrix.checked_view(), dense.view(), &mut here, Level::Off).unwrap(),
            &Csrmm::new(matrix.checked_view(), dense.view(), &mut there, Level::Off).unwrap(),
        );
        assert!(here.numbers() == there.numbers(), "{word}");
        let factors =
            Factors::new(matrix.checked_view(), matrix.checked_view(), Level::Off).unwrap();
        product_travels(&factors, (matrix.height(), matrix.width));
    }
}

/// Both loops of a sparse product travel.
fn product_travels(factors: &Factors<'_, f64>, (height, width): (usize, usize)) {
    let mut lengths = [vec![0; height], vec![0; height]];
    let [here, there] = &mut lengths;
    travels(&Counting::new(factors, here), &Counting::new(factors, there));
    assert_eq!(lengths[0], lengths[1]);
    let mut products = [Csr::<f64>::default(), Csr::default()];
    for product in &mut products {
        room(&lengths[0], width, product).unwrap();
    }
    let [here, there] = &mut products;
    travels(&Adding::new(factors, here), &Adding::new(factors, there));
    let [here, there] = &products;
    assert!(here.columns == there.columns && here.values == there.values);
}

/// A process could not send a unit of a wide product, because it was longer than any message.
#[test]
fn units_of_wide_products_are_short() {
    let sparse = Csr::of(7, 1, &[(0, 0, 1.0), (5, 0, 2.0)]).checked().unwrap();
    let dense = Dense::by(1, 700_000, |_, column| column as f64).unwrap();
    let (mut here, mut there) =
        (Dense::zeros(7, 700_000).unwrap(), Dense::zeros(7, 700_000).unwrap());
    let of = |result| Csrmm::new(sparse.checked_view(), dense.view(), result, Level::Off).unwrap();
    let (from, to) = (of(&mut here), of(&mut there));
    let mut bytes = Vec::new();
    from.remote().unwrap().pack(0, &mut bytes);
    assert_eq!((from.units(), bytes.len()), (3, 3 * 700_000 * 8));
    travels(&from, &to);
    drop((from, to));
    assert!(here.numbers() == there.numbers() && here.row(5)[9] == 18.0);
}

/// The same for a sparse product. Each row adds up a thousand rows of five hundred entries, so it could have half a
/// million.
#[test]
fn units_of_sparse_products_are_short() {
    let full = |rows: u32, columns: u32| -> Vec<(u32, u32, f64)> {
        let row =
            |row: u32| (0..columns).map(move |column| (row, column, f64::from(row + 3 * column)));
        (0..rows).flat_map(row).collect()
    };
    let a = Csr::of(50, 1000, &full(50, 1000)).checked().unwrap();
    let b = Csr::of(1000, 1_000_000, &full(1000, 500)).checked().unwrap();
    let factors = Factors::new(a.checked_view(), b.checked_view(), Level::Off).unwrap();
    let mut lengths = vec![0; 50];
    let counting = Counting::new(&factors, &mut lengths);
    let rows: Vec<usize> = (0..counting.units())
        .map(|unit| {
            let mut bytes = Vec::new();
            counting.remote().unwrap().pack(unit, &mut bytes);
            bytes.len() / 4
        })
        .collect();
    assert_eq!(rows, [24, 24, 2]);
    drop(counting);
    product_travels(&factors, (50, 1_000_000));
}

/// Rows that are longer than the product's width or shorter than what they add up, and a column that the product does
/// not have.
#[test]
fn impossible_rows_are_refused() {
    let matrix = named("grid:100", 1).unwrap().unwrap().checked().unwrap();
    let factors = Factors::new(matrix.checked_view(), matrix.checked_view(), Level::Off).unwrap();
    let mut lengths = vec![0; matrix.height()];
    let counting = Counting::new(&factors, &mut lengths);
    for byte in [0xff, 0] {
        let bytes = vec![byte; 4 * matrix.height()];
        assert!(counting.remote().unwrap().unpack_all(0..counting.units(), &bytes).is_err());
    }
    drop(counting);
    let mut product = Csr::<f64>::default();
    room(&vec![1; matrix.height()], matrix.width, &mut product).unwrap();
    let adding = Adding::new(&factors, &mut product);
    // The first unit has 48 rows.
    for (column, fits) in [(0xff, false), (0, true)] {
        let bytes = [&[0][..], &[column; 4 * 48], &[0; 8 * 48]].concat();
        assert_eq!(adding.remote().unwrap().unpack_all(0..1, &bytes).is_ok(), fits);
    }
}

/// Lengths of rows that another process counted wrongly used to spoil other rows, and to crash or hang threads.
#[test]
fn wrong_lengths_are_noticed() {
    let changes =
        [[1, 0, 0], [0, 0, -1], [1, 1, 1], [-1, -1, -1], [1, -1, 0], [0, -1, 1], [-1, 0, 1]];
    for (word, level, unsorted) in [
        ("fem:600", Level::best(), false),
        ("fem:600", Level::Off, false),
        ("web:500x4", Level::Off, false),
        ("web:500x4", Level::Off, true),
    ] {
        let matrix = named(word, 1).unwrap().unwrap().checked().unwrap();
        let factors = Factors::new(matrix.checked_view(), matrix.checked_view(), level).unwrap();
        let factors = if unsorted { factors.in_any_order() } else { factors };
        let mut expected = Csr::default();
        all(&factors, &mut expected).unwrap();
        let lengths: Vec<usize> = expected.starts.windows(2).map(|two| two[1] - two[0]).collect();
        let row = lengths.windows(3).position(|three| !three.contains(&0)).unwrap();
        for change in changes {
            let mut wrong = lengths.clone();
            for (length, change) in wrong[row..].iter_mut().zip(change) {
                *length = length.checked_add_signed(change).unwrap();
            }
            let mut products = [Csr::default(), Csr::default(), Csr::default()];
            for (product, lengths) in products.iter_mut().zip([&wrong, &wrong, &lengths]) {
                room(lengths, matrix.width, product).unwrap();
            }
            let [here, there, right] = products.each_mut().map(|it| Adding::new(&factors, it));
            let units = here.units();
            let mut local = here.local();
            here.run(0..units, &mut local);
            assert!(here.is_wrong(), "{word}, {level}, {unsorted}, {change:?}");
            // A thread's memory is clean, and only the process that ran the rows noticed.
            right.run(0..units, &mut local);
            assert!(!right.is_wrong() && !there.is_wrong());
            let mut bytes = Vec::new();
            (0..units).for_each(|unit| here.remote().unwrap().pack(unit, &mut bytes));
            there.remote().unwrap().unpack_all(0..units, &bytes).unwrap();
            assert!(there.is_wrong());
            drop((here, there, right, local));
            assert!(products[2] == expected, "{word}, {level}, {unsorted}, {change:?}");
        }
    }
}

#[test]
fn pictures_arrive_unchanged() {
    let mesh = Mesh::named("sphere:500").unwrap().unwrap();
    let scene = Scene::new(&mesh, &Transfer::usual(mesh.range(), mesh.sphere().1));
    let settings = Settings { method: Method::March, ..Settings::default() };
    let frame = Frame::new(&scene, &View::new(90, 70), settings).unwrap();
    let (mut here, mut there) = (frame.picture(), frame.picture());
    let rays = (frame.rays(&mut here, Level::Off), frame.rays(&mut there, Level::Off));
    travels(&rays.0, &rays.1);
    assert_eq!(rays.0.tally(), rays.1.tally());
    assert!(rays.0.tally().segments > 0);
    drop(rays);
    assert!(here == there);
}
