//! [`half_width`]: how far from a computed value the true one may be, given the spread of the runs behind it.

/// Student's factors for 95 % of all cases, from one degree of freedom on.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// Half the width of the interval around a value that holds the true one in 95 % of all cases.
///
/// The value depends on several means; each is given by how much the value changes if that mean is higher by its
/// standard error, and by its number of runs, two or more. Runs count as independent: the squares of the changes add
/// up, with the degrees of freedom by Welch and Satterthwaite.
pub fn half_width(changes: &[(f64, usize)]) -> f64 {
    let error = changes.iter().map(|(by, _)| by * by).sum::<f64>().sqrt();
    if error == 0.0 {
        return 0.0;
    }
    let weights = changes.iter().map(|(by, runs)| (by / error).powi(4) / (*runs as f64 - 1.0));
    student(1.0 / weights.sum::<f64>()) * error
}

/// Student's factor for a number of degrees of freedom, rounded down while they are few.
fn student(freedom: f64) -> f64 {
    match (freedom + 1e-9) as usize {
        few @ 0..=10 => STUDENT[few.max(1) - 1],
        _ => 1.96 + 2.37 / freedom + 2.82 / freedom.powi(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students_and_welchs() {
        assert_eq!(half_width(&[]), 0.0);
        assert_eq!(half_width(&[(0.0, 2)]), 0.0);
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 2e-3;
        // One mean of two and of five runs.
        assert!(near(half_width(&[(1.0, 2)]), 12.706));
        assert!(near(half_width(&[(-1.0, 5)]), 2.776));
        // Two means with equal errors: the degrees of freedom add up.
        assert!(near(half_width(&[(1.0, 3), (1.0, 3)]), 2.776 * 2f64.sqrt()));
        // One of two means has nearly all of the error, and few runs.
        assert!(near(half_width(&[(1.0, 3), (0.01, 50)]), 4.303));
        assert!(near(student(20.0), 2.086) && near(student(60.0), 2.000));
        assert!(near(student(1e9), 1.960));
    }
}
