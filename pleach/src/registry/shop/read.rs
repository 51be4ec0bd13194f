//! [`read`]: the shop that a command line names.

use super::columns::shop_of;
use super::lists;
use super::table::{Table, separator};
use super::workbook::{is_workbook, text_of};
use crate::campaign::flowshop::{Shop, named, read_shop};
use crate::decimal::written;
use crate::failure::{Failure, usage};
use crate::registry::Request;
use crate::report::counted;

/// The shop with this name, or else from this file.
pub fn read(request: &Request<'_>) -> Result<Shop, Failure> {
    if let Some(instance) = request.built_in(named) {
        let mut shop = Shop::new(instance);
        lists::add(request, &mut shop)?;
        return Ok(shop);
    }
    let texts = &request.given.texts;
    if is_workbook(request.instance) && !texts.borrow().contains_key(request.instance) {
        let text = text_of(request.instance);
        let text = text.or_else(|why| usage(format!("{}: {why}", request.instance)))?;
        texts.borrow_mut().insert(request.instance.into(), text);
    }
    let text =
        request.text("a file, or a name from ta001 to ta120 or VFR10_5_1 to VFR800_60_10")?;
    let jobs_first = request.given.on("jobs-first");
    let name = request.name();
    let separator = separator(request.instance, &text);
    if separator.is_some() && jobs_first {
        return usage(format!(
            "{name}: a table has a line for each job, so --jobs-first does not apply"
        ));
    }
    let shop = match separator {
        Some(separator) => Table::read(&text, separator).and_then(|table| shop_of(&table)),
        None => read_shop(&text, jobs_first),
    };
    let mut shop = shop.or_else(|why| usage(format!("{name}{why}")))?;
    let note = |text: &str| {
        if !request.given.on("quiet") && !request.given.on("json") {
            (request.note)(&format!("{name}: {text}"));
        }
    };
    let (jobs, machines) = (shop.instance.jobs(), shop.instance.machines());
    let other = || read_shop(&text, !jobs_first);
    if separator.is_some() {
        note(&as_read(&shop));
    } else if jobs == machines && other().is_ok_and(|other| other != shop) {
        let (row, other) = if jobs_first { ("job", "omit") } else { ("machine", "give") };
        note(&format!(
            "read as {jobs} jobs × {machines} machines, one line per {row}; {other} --jobs-first to \
             read it the other way round"
        ));
    }
    lists::add(request, &mut shop)?;
    Ok(shop)
}

/// How many names of machines a note shows.
const SHOWN: usize = 8;

/// What a table was read as.
fn as_read(shop: &Shop) -> String {
    let (jobs, machines) = (shop.instance.jobs(), shop.instance.machines());
    // The last column is shown, as it is the likeliest to hold something else.
    let first = shop.machines.iter().take(if machines > SHOWN { SHOWN - 1 } else { SHOWN });
    let mut names = first.cloned().collect::<Vec<_>>().join(", ");
    if let Some(last) = shop.machines.last().filter(|_| machines > SHOWN) {
        names += &format!(", …, {last}");
    }
    let names = if names.is_empty() { "one line per job".into() } else { format!("({names})") };
    let comma = if shop.machines.is_empty() { "," } else { "" };
    let scale = match shop.decimals {
        0 => String::new(),
        n => format!(", in multiples of {}", written(1, n)),
    };
    // A job whose name is missing looks like a header of numbers.
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = !shop.machines.is_empty() && shop.machines.iter().all(is_number);
    let head = if numbered { "; the first row is read as the header" } else { "" };
    let (jobs, machines) = (counted(jobs, "job"), counted(machines, "machine"));
    format!("read as {jobs} × {machines}{comma} {names}{scale}{head}")
}
