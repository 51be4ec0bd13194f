//! [`table`]: rows under headings, with as many columns as fit.

use super::text::{Line, Paint, bar, cut, percent, width};

/// The content of a cell.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A word, aligned left.
    Word(String),
    /// A number, aligned right.
    Number(String),
    /// A fraction as a bar with a percentage, if known.
    Part(Option<f64>),
}

/// A column: its heading, and its rank for when space runs out: the highest rank is dropped first, and the first
/// column always stays.
pub type Column = (&'static str, u8);

/// Blanks between two columns.
const GAP: usize = 2;
/// The maximum number of columns of a word.
const WORD: usize = 24;
/// The fewest and the most columns of a bar, without its number.
const BAR: (usize, usize) = (4, 28);
/// The columns of a bar's number, with a blank before it.
const PERCENT: usize = 6;

/// A table in this many columns of the screen: a line of headings, then one for each row.
pub fn table(columns: &[Column], rows: &[Vec<Cell>], across: usize) -> Vec<Line> {
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(least).chain([width(columns[at].0)]).max().unwrap_or(0)
    };
    let least: Vec<usize> = (0..columns.len()).map(widest).collect();
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let room = |shown: &[usize]| -> usize { shown.iter().map(|&at| least[at] + GAP).sum() };
    while room(&shown) > across + GAP && shown.len() > 1 {
        let first_to_go = shown.iter().skip(1).copied().max_by_key(|&at| columns[at].1);
        shown.retain(|&at| Some(at) != first_to_go);
    }
    let spare = (across + GAP).saturating_sub(room(&shown)).min(BAR.1 - BAR.0);
    let is_bar = |at: usize| rows.iter().any(|row| matches!(row.get(at), Some(Cell::Part(_))));
    let widths: Vec<(usize, usize)> = shown
        .iter()
        .map(|&at| (at, if is_bar(at) { least[at] + spare } else { least[at].min(across) }))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = Line>| {
        cells.enumerate().fold(Line::default(), |line, (i, cell)| {
            let gap = if i > 0 { " ".repeat(GAP) } else { String::new() };
            line.and(gap, Paint::Plain).then(cell)
        })
    };
    let is_number = |at: usize| rows.iter().any(|row| matches!(row.get(at), Some(Cell::Number(_))));
    let mut heads = widths.iter().map(|&(at, wide)| {
        let head = cut(columns[at].0, wide);
        Line::of(if is_number(at) { right(&head, wide) } else { head }, Paint::Dim).padded(wide)
    });
    let mut lines = vec![line(&mut heads)];
    for row in rows {
        let mut cells = widths
            .iter()
            .map(|&(at, wide)| row.get(at).map_or(Line::default(), |it| set(it, wide)));
        lines.push(line(&mut cells).cut(across));
    }
    lines.into_iter().map(|line| line.cut(across)).collect()
}

/// The columns that a cell needs.
fn least(cell: &Cell) -> usize {
    match cell {
        Cell::Word(text) => width(text).min(WORD),
        Cell::Number(text) => width(text),
        Cell::Part(_) => BAR.0 + PERCENT,
    }
}

fn right(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text))) + text
}

/// A cell, padded to its columns.
fn set(cell: &Cell, columns: usize) -> Line {
    match cell {
        Cell::Word(text) => Line::of(cut(text, columns), Paint::Plain).padded(columns),
        Cell::Number(text) => Line::of(right(&cut(text, columns), columns), Paint::Plain),
        Cell::Part(part) => {
            let said = part.map_or("–".into(), percent);
            let drawn = bar(part.unwrap_or(0.0), columns.saturating_sub(PERCENT));
            Line::of(drawn, Paint::Bar).and(right(&said, PERCENT), Paint::Plain).cut(columns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(across: usize) -> Vec<String> {
        let columns = [("part", 0), ("nodes", 2), ("busy", 1), ("holds", 3)];
        let row = |name: &str, nodes: &str, part| {
            let number = |text: &str| Cell::Number(text.into());
            vec![Cell::Word(name.into()), number(nodes), Cell::Part(part), number("7")]
        };
        let rows = [row("cpu0", "12,345", Some(0.5)), row("gpu0", "9", None)];
        let lines = table(&columns, &rows, across);
        lines.iter().map(|line| line.text().trim_end().to_string()).collect()
    }

    #[test]
    fn columns_go_one_by_one_where_there_is_no_room() {
        let all = [
            "part   nodes  busy                 holds",
            "cpu0  12,345  ██████▌······  50 %      7",
            "gpu0       9  ·············     –      7",
        ];
        assert_eq!(shown(40), all);
        assert_eq!(shown(25)[1], "cpu0  12,345  ██▌··  50 %");
        assert_eq!(shown(17)[1], "cpu0  ██▌··  50 %");
        assert_eq!(shown(9)[1], "cpu0");
        assert_eq!(shown(3), ["pa…", "cp…", "gp…"]);
        assert_eq!(shown(0), ["", "", ""]);
    }

    #[test]
    fn no_line_is_too_long() {
        let columns = [("site", 0), ("host", 1)];
        let word = |text: &str| Cell::Word(text.into());
        let rows = [vec![word("site1"), word(&"機".repeat(99))], vec![word("")], vec![]];
        for across in 0..60 {
            let lines = table(&columns, &rows, across);
            assert!(
                lines.len() == 4 && lines.iter().all(|line| line.width() <= across),
                "{across}"
            );
        }
    }
}
