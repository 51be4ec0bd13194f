//! [`shop_of`]: a shop from a table with a row for each job.

use super::table::{MOST, Row, Table};
use super::titles::{Column, checked, column_of, is_machine, is_sum, unit_of, words_of};
use crate::decimal::{Decimal, MOST_DECIMALS, written};
use crate::report::counted;
use pleach_problems::flowshop::instance::{Instance, LONGEST_PATH};
use pleach_problems::flowshop::read::MOST_TIME;
use pleach_problems::flowshop::shop::Shop;
use std::collections::HashMap;

/// The maximum number of characters of a cell in an error.
const SHOWN: usize = 40;

/// Reads a shop. Errors continue after the name of the file.
pub fn shop_of(table: &Table) -> Result<Shop, String> {
    let expected = "expected a line for each job, with a time for each machine";
    let Some(first) = table.rows.first() else {
        return Err(format!(": empty, {expected}"));
    };
    let reading = Reading::new(table, first)?;
    let mut comments =
        table.comments.iter().filter(|comment| are_words(comment) || are_numbered(comment));
    if reading.head.is_none()
        && let Some(comment) = comments.find(|comment| reading.would_change(comment, &table.rows))
    {
        return Err(format!(
            ", line {}: could be a comment or a header; expected a header without '#', or a comment without separators",
            comment.line
        ));
    }
    let rows = &table.rows[usize::from(reading.head.is_some())..];
    if rows.is_empty() {
        return Err(format!(", line {}: no line after the header, {expected}", first.line));
    }
    if rows.len() == MOST {
        return Err(format!(": {MOST} jobs, expected at most {}", MOST - 1));
    }
    let names = reading.columns.iter().position(|&column| column == Column::Names);
    if let [_, .., last] = rows
        && let Some(name) = names.map(|at| last.cell(at)).filter(|name| is_sum(name))
    {
        let (line, name) = (last.line, shown(name));
        return Err(format!(
            ", line {line}: '{name}' could be a sum or a job; expected only jobs, or another name for this one"
        ));
    }
    if let Some(row) = rows.iter().find(|row| row.len() != reading.columns.len()) {
        let (n, all) = (row.len(), reading.columns.len());
        let hint = if n < all {
            format!("; column {} is empty", reading.column(n))
        } else if all == 1 && table.rows[1..].iter().all(|row| row.len() > 1) {
            "; a title above the table needs a '#'".into()
        } else {
            String::new()
        };
        return Err(format!(
            ", line {}: {}, expected {all} as in line {}{hint}",
            row.line,
            counted(n, "cell"),
            first.line
        ));
    }
    if !reading.columns.contains(&Column::Times) {
        return Err(format!(", line {}: no column of times, {expected}", first.line));
    }
    if table.separator == b';' && reading.mark == '.' {
        reading.check_points(rows)?;
    }
    let dates = [Column::Due, Column::Releases];
    let decimals = reading.decimals(rows, &[Column::Times, dates[0], dates[1]])?;
    let times = reading.numbers(rows, Column::Times, decimals, MOST_TIME)?;
    let instance = Instance::new(times.len() / rows.len(), times).map_err(|why| {
        let scale = if decimals > 0 {
            "; the limit applies to the number without its decimal mark"
        } else {
            ""
        };
        format!(": {why}{scale}")
    })?;
    let mut shop = Shop::new(instance);
    shop.decimals = decimals;
    let optional = |column, decimals, most| {
        let numbers = || reading.numbers(rows, column, decimals, most);
        reading.columns.contains(&column).then(numbers).transpose()
    };
    shop.due = optional(Column::Due, decimals, LONGEST_PATH as u32)?;
    shop.releases = optional(Column::Releases, decimals, LONGEST_PATH as u32)?;
    let weight_decimals = reading.decimals(rows, &[Column::Weights])?;
    shop.weights = optional(Column::Weights, weight_decimals, MOST_TIME)?;
    shop.weight_decimals = weight_decimals;
    if let Some(at) = names {
        let names = rows.iter().map(|row| (row.line, name(row.cell(at))));
        shop.jobs = different(names, "job")?;
    }
    if let Some(head) = reading.head {
        let titles = reading.columns.iter().zip(head.cells());
        let of_machines = titles.filter(|(column, _)| **column == Column::Times);
        let names = (1..).zip(of_machines).map(|(number, (_, title))| {
            (head.line, if title.is_empty() { format!("M{number}") } else { name(title) })
        });
        shop.machines = different(names, "machine")?;
    }
    Ok(shop)
}

/// How a table is read.
struct Reading<'t> {
    head: Option<&'t Row>,
    /// The first line, which may be the header.
    first: u64,
    columns: Vec<Column>,
    /// What stands before decimals.
    mark: char,
}

impl<'t> Reading<'t> {
    fn new(table: &Table, first: &'t Row) -> Result<Self, String> {
        let columns = vec![Column::Times; first.len()];
        let mut reading = Self { head: None, first: first.line, columns, mark: '.' };
        // With commas between the cells, a comma cannot mark decimals.
        let numbers = || table.rows.iter().flat_map(Row::cells).filter(|cell| is_number(cell));
        if table.separator == b';' && numbers().any(|cell| cell.contains(',')) {
            reading.mark = ',';
        }
        let has_word = |row: &Row| !is_number(row.cell(0));
        let has_title = column_of(first.cell(0)) == Column::Names && has_word(first);
        let all_words = has_word(first) && are_words(first);
        let has_head = has_title || all_words && (first.len() > 1 || table.rows.len() > 1);
        if has_title
            && words_of(first.cell(0)).is_empty()
            && first.cells().skip(1).all(is_number)
            && !are_increasing(first)
        {
            return Err(format!(
                ", line {}: could be a header or a job without a name; expected the title 'job', or a name",
                first.line
            ));
        }
        let rows = &table.rows[usize::from(has_head)..];
        let named = rows.iter().find(|&row| has_word(row)).filter(|_| first.len() > 1);
        if !has_head {
            if has_word(first) && are_numbered(first) {
                return Err(format!(
                    ", line {}: could be a job or a header; expected a header that begins with 'job'",
                    first.line
                ));
            }
            if named.is_some() {
                reading.columns[0] = Column::Names;
            }
            return Ok(reading);
        }
        reading.with_head(first, rows)
    }

    /// Reads the columns under a header.
    fn with_head(mut self, head: &'t Row, rows: &[Row]) -> Result<Self, String> {
        self.head = Some(head);
        let title = head.cell(0);
        let named = rows.iter().find(|row| !is_number(row.cell(0))).filter(|_| head.len() > 1);
        // A title with a number is one of several machines.
        let numbered = words_of(title).iter().any(|word| word.contains(digit));
        let of_machine = numbered || is_machine(title);
        let one_of_several = numbered || head.len() == 1 || head.cells().skip(1).any(is_machine);
        if is_machine(title) && !one_of_several {
            return Err(format!(
                ", line {}: a line for each machine, expected one for each job: transpose the table",
                head.line
            ));
        }
        if let Some(row) = named.filter(|_| of_machine && column_of(title) == Column::Times) {
            return Err(format!(
                ", line {}, column '{}': '{}' could be a time or the name of a job; expected a number, or the title 'job'",
                row.line,
                shown(title),
                shown(row.cell(0))
            ));
        }
        for (at, title) in head.cells().enumerate() {
            let column = checked(title, at, named.is_some());
            self.columns[at] = column
                .map_err(|why| format!(", line {}, column '{}': {why}", head.line, shown(title)))?;
        }
        for column in [Column::Due, Column::Weights, Column::Releases] {
            let mut with = (0..head.len()).filter(|&at| self.columns[at] == column);
            if let (Some(_), Some(at)) = (with.next(), with.next()) {
                return Err(format!(
                    ", line {}: '{}' is a second column of that kind, expected one",
                    head.line,
                    shown(head.cell(at))
                ));
            }
        }
        let is_time = |at: &usize| self.columns[*at].is_time();
        let unit = |at: usize| Some((at, unit_of(head.cell(at))?));
        let mut units = (0..head.len()).filter(is_time).filter_map(unit);
        if let Some((one, unit)) = units.next()
            && let Some((other, _)) = units.find(|(_, other)| *other != unit)
        {
            return Err(format!(
                ", line {}, column '{}': another unit than in column '{}', expected the same in all",
                head.line,
                shown(head.cell(other)),
                shown(head.cell(one))
            ));
        }
        if self.columns[0] == Column::Times && !of_machine && head.len() > 1 && counts(rows) {
            return Err(format!(
                ", line {}, column '{}': could be times or the numbers of the jobs; expected the title 'job' or 'M1'",
                head.line,
                shown(title)
            ));
        }
        Ok(self)
    }

    /// Whether a table without a header would be refused or mean something else if a comment were its header.
    fn would_change(&self, comment: &'t Row, rows: &[Row]) -> bool {
        let columns = vec![Column::Times; comment.len()];
        let other = Self { head: None, first: self.first, columns, mark: self.mark };
        !other.with_head(comment, rows).is_ok_and(|other| other.columns == self.columns)
    }

    /// Refuses points that may separate thousands, as they do in languages in which semicolons separate cells.
    fn check_points(&self, rows: &[Row]) -> Result<(), String> {
        let mut first = None;
        for row in rows {
            for at in (0..self.columns.len()).filter(|&at| self.columns[at] != Column::Names) {
                if !row.cell(at).contains('.') {
                    continue;
                }
                if !has_thousands(row.cell(at)) {
                    return Ok(());
                }
                first = first.or(Some((row, at)));
            }
        }
        let Some((row, at)) = first else { return Ok(()) };
        Err(format!(
            ", line {}, column {}: '{}' could be a decimal number or thousands; expected no point in thousands, or \
             commas instead of semicolons",
            row.line,
            self.column(at),
            shown(row.cell(at))
        ))
    }

    /// The decimals that some columns need.
    fn decimals(&self, rows: &[Row], of: &[Column]) -> Result<u32, String> {
        let mut most = 0;
        for row in rows {
            for (at, _) in self.columns.iter().enumerate().filter(|(_, it)| of.contains(it)) {
                let number = Decimal::parse(row.cell(at), self.mark);
                most = most.max(number.ok_or_else(|| self.wrong(row, at, 0, MOST_TIME))?.decimals);
            }
        }
        Ok(most)
    }

    /// The numbers of the columns of a kind, row by row, without a decimal mark.
    fn numbers(
        &self,
        rows: &[Row],
        of: Column,
        decimals: u32,
        most: u32,
    ) -> Result<Vec<u32>, String> {
        let mut all = Vec::new();
        for row in rows {
            for (at, _) in self.columns.iter().enumerate().filter(|(_, it)| **it == of) {
                let number = Decimal::parse(row.cell(at), self.mark);
                let scaled = number.and_then(|number| number.scaled(decimals));
                let scaled = scaled.and_then(|number| u32::try_from(number).ok());
                let scaled = scaled.filter(|&number| number <= most);
                all.push(scaled.ok_or_else(|| self.wrong(row, at, decimals, most))?);
            }
        }
        Ok(all)
    }

    /// A column as errors name it.
    fn column(&self, at: usize) -> String {
        match self.head.map(|head| head.cell(at)).filter(|title| !title.is_empty()) {
            Some(title) => format!("'{}'", shown(title)),
            None => (at + 1).to_string(),
        }
    }

    /// The error of a cell that is not a number within the limits.
    fn wrong(&self, row: &Row, at: usize, decimals: u32, most: u32) -> String {
        let cell = match row.cell(at) {
            "" => "empty".into(),
            cell => format!("'{}'", shown(cell)),
        };
        let most = written(most.into(), decimals);
        let mark = if self.mark == ',' { ", a comma before decimals" } else { "" };
        let scale = if decimals > 0 {
            format!("{decimals} decimals, as others have")
        } else {
            format!("at most {MOST_DECIMALS} decimals{mark}")
        };
        let hint = if self.mark == '.' && is_number(row.cell(at)) && row.cell(at).contains(',') {
            "; a comma marks decimals only between semicolons"
        } else if self.head.is_none() && row.line == self.first && at > 0 {
            "; a header begins with 'job'"
        } else if self.columns[at] == Column::Due && row.cell(at).starts_with('-') {
            "; if the job is overdue, add the same number to all due and release dates"
        } else if [Column::Due, Column::Releases].contains(&self.columns[at])
            && is_date(row.cell(at))
        {
            "; dates are times from the start of the schedule, in the unit of all times"
        } else if self.columns.len() == 1 && row.cell(at).contains([' ', ':']) {
            "; commas, semicolons, tabs or | separate cells"
        } else {
            ""
        };
        format!(
            ", line {}, column {}: {cell}, expected a number from 0 to {most} with {scale}{hint}",
            row.line,
            self.column(at)
        )
    }
}

/// Whether a cell looks like a number, even a wrong one.
fn is_number(cell: &str) -> bool {
    let cell = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let mut before = ' ';
    cell.starts_with(digit)
        && cell.chars().all(|c| {
            let exponent = "eE".contains(std::mem::replace(&mut before, c));
            digit(c) || ".,eE".contains(c) || exponent && "-+".contains(c)
        })
}

/// Whether a cell, which is not a valid number, looks like a date.
fn is_date(cell: &str) -> bool {
    !cell.is_empty() && (!is_number(cell) || cell.matches('.').count() > 1)
}

/// Whether a cell may have a point before its last thousand, as `1.200` has.
pub fn has_thousands(cell: &str) -> bool {
    let parts = cell.split_once('.').filter(|(whole, _)| !whole.starts_with('0'));
    parts.is_some_and(|(whole, part)| {
        (1..=3).contains(&whole.len())
            && part.len() == 3
            && (whole.chars().chain(part.chars())).all(digit)
    })
}

/// Whether no cell but the first looks like a time. A typing error in a time must not turn a job into a header.
fn are_words(row: &Row) -> bool {
    let like_time = |cell: &str| cell.trim_start_matches(['-', '+', '.']).starts_with(digit);
    !row.cells().skip(1).any(like_time)
}

/// Whether the cells but the first are 1, 2 and so on, as the numbers of machines are.
fn are_numbered(row: &Row) -> bool {
    let places = (1..row.len()).map(|number| number.to_string());
    row.len() > 2 && row.cells().skip(1).eq(places)
}

/// Whether the cells but the first are whole numbers, each greater than the one before, as numbers of machines usually are.
fn are_increasing(row: &Row) -> bool {
    let numbers: Option<Vec<u64>> = row.cells().skip(1).map(|cell| cell.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.is_sorted_by(|one, next| one < next))
}

/// Whether the first cells of several rows are 1, 2 and so on, as the numbers of jobs are.
fn counts(rows: &[Row]) -> bool {
    let numbers = (1..).map(|number: usize| number.to_string());
    rows.len() > 1 && rows.iter().zip(numbers).all(|(row, number)| row.cell(0) == number)
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// A cell as a name: in one line, without control characters.
fn name(cell: &str) -> String {
    let words = cell.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A cell as errors show it.
fn shown(cell: &str) -> String {
    let name = name(cell);
    if name.chars().count() <= SHOWN {
        return name;
    }
    name.chars().take(SHOWN).chain(['…']).collect()
}

/// Names, of which none is empty and no two are equal.
fn different(
    names: impl Iterator<Item = (u64, String)>,
    thing: &str,
) -> Result<Vec<String>, String> {
    let (mut all, mut lines) = (Vec::new(), HashMap::new());
    for (line, name) in names {
        if name.is_empty() {
            return Err(format!(", line {line}: empty, expected the name of the {thing}"));
        }
        if let Some(before) = lines.insert(name.clone(), line) {
            let name = shown(&name);
            return Err(format!(
                ", line {line}: a second {thing} '{name}', expected different names (line {before} has the first)"
            ));
        }
        all.push(name);
    }
    Ok(all)
}
