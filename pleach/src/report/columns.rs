//! Numbers with few digits, means with their spread, and tables with aligned columns.

/// Mean and spread (standard deviation) of some numbers.
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// A number with about four significant digits.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        _ if size >= 1e6 => format!("{value:.3e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 10.0 => format!("{value:.2}"),
        _ if size >= 1.0 => format!("{value:.3}"),
        _ if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// A number with its spread, if it has one.
pub fn with_spread(mean: f64, spread: Option<f64>) -> String {
    spread.map_or(digits(mean), |spread| format!("{} ±{}", digits(mean), digits(spread)))
}

/// Aligned columns: words to the left, numbers to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let wide =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let width: Vec<usize> = (0..columns).map(wide).collect();
    let starts_with_digit = |word: &String| {
        word.trim_start_matches(['-', '–']).chars().next().is_none_or(|c| c.is_ascii_digit())
    };
    let right = |column: usize| rows.iter().skip(1).all(|row| starts_with_digit(&row[column]));
    let lines = rows.iter().map(|row| {
        let cells = row.iter().enumerate().map(|(i, word)| {
            let space = " ".repeat(width[i] - word.chars().count());
            if right(i) { format!("{space}{word}") } else { format!("{word}{space}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}
