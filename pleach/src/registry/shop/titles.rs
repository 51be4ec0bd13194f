//! [`checked`]: what a column of a table holds by its title.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Names,
    Times,
    Due,
    Weights,
    Releases,
}

impl Column {
    /// Whether it holds times or dates.
    pub fn is_time(self) -> bool {
        !matches!(self, Self::Names | Self::Weights)
    }
}

/// The titles of columns that hold neither times nor names; all but weights may be followed by one of `DATES`.
const TITLES: [(Column, &[&str]); 3] = [
    (Column::Due, &["due", "duedate", "deadline", "deadlines"]),
    (Column::Weights, &["weight", "weights"]),
    (Column::Releases, &["release", "releases", "ready"]),
];
const DATES: [&str; 4] = ["date", "dates", "time", "times"];

/// The first column holds names if its title has only such words, or none, or if it is not all numbers.
const OF_NAMES: [&str; 33] = [
    "job", "jobs", "name", "names", "task", "tasks", "part", "parts", "product", "products",
    "item", "items", "order", "orders", "work", "lot", "batch", "id", "no", "nr", "number",
    "auftrag", "aufträge", "auftrags", "auftragsnummer", "auftragsnr", "teil", "teile", "artikel",
    "artikelnummer", "produkt", "produkte", "nummer",
];

/// Words of titles that more likely name dates, weights or something else than a machine.
const NOT_OF_MACHINES: [&str; 17] = [
    "arrival", "arrivals", "earliest", "latest", "priority", "priorities", "prio", "importance",
    "quantity", "qty", "fällig", "fälligkeit", "frist", "priorität", "gewicht", "gewichtung",
    "menge",
];

/// How German words for dates and quantities end, such as Fälligkeitsdatum, Wunschtermin and Stückzahl.
const NOT_ENDS_OF_MACHINES: [&str; 3] = ["datum", "termin", "zahl"];

/// The last words of titles that name dates.
const OF_DATES: [&str; 2] = ["date", "dates"];

/// Titles that are symbols of dates and weights.
const SYMBOLS: [&str; 3] = ["dj", "wj", "rj"];

/// The words in which a last line names what it adds up, or a column.
const OF_SUMS: [&str; 8] =
    ["sum", "sums", "total", "totals", "average", "averages", "summe", "gesamt"];

/// Other words there.
const WITH_SUMS: [&str; 6] = ["grand", "of", "processing", "work", "time", "times"];

/// Tables whose first title begins so, as the only one, have a line for each machine.
const OF_MACHINES: [&str; 6] =
    ["machine", "machines", "station", "stations", "maschine", "maschinen"];

/// What may follow such a word, as may numbers and letters.
const AFTER_MACHINES: [&str; 11] =
    ["name", "names", "id", "no", "nr", "number", "nummer", "job", "jobs", "vs", "auftrag"];

/// What may begin a remark in a title.
const REMARKS: [char; 4] = ['(', '[', '/', ','];

/// Units of time, each with its names.
const UNITS: [&[&str]; 6] = [
    &["ms", "msec", "millisecond", "milliseconds"],
    &["s", "sec", "secs", "second", "seconds", "sek", "sekunden"],
    &["min", "mins", "minute", "minutes", "minuten"],
    &["h", "hr", "hrs", "hour", "hours", "std", "stunden"],
    &["d", "day", "days", "tag", "tage"],
    &["week", "weeks", "woche", "wochen"],
];

/// The words of a title without what follows in brackets, or after a comma or slash, in small letters. A title may be
/// in brackets itself.
pub fn words_of(title: &str) -> Vec<String> {
    let title = parts(title).next().unwrap_or_default();
    let mut words = vec![String::new()];
    let mut small = false;
    for c in title.chars() {
        // A capital begins a word, as in 'JobID'.
        if !c.is_alphanumeric() || small && c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a column with this title holds: times unless the title says otherwise.
pub fn column_of(title: &str) -> Column {
    let words = words_of(title);
    if words.iter().all(|word| OF_NAMES.contains(&&**word)) {
        return Column::Names;
    }
    let found = match &words[..] {
        [word] => titled(word),
        [word, date] if DATES.contains(&&**date) => {
            titled(word).filter(|&column| column != Column::Weights)
        }
        _ => None,
    };
    found.unwrap_or(Column::Times)
}

/// What a column holds, whose title may be any if it is the first one and `named`, or why its title is refused.
pub fn checked(title: &str, at: usize, named: bool) -> Result<Column, &'static str> {
    match column_of(title) {
        Column::Times if at == 0 && named => Ok(Column::Names),
        Column::Times if is_setup(title) => {
            Err("setup times, expected in a separate file (--setups FILE)")
        }
        Column::Times if is_unclear(title) => Err(
            "not clearly a machine; expected 'due date', 'release date' or 'weight', another name for a machine, or no such column",
        ),
        Column::Names if at > 0 && words_of(title).is_empty() => Ok(Column::Times),
        Column::Names if at > 0 => Err(
            "could be names of jobs; expected these in the first column, or another name for a machine",
        ),
        Column::Weights if has_remark(title) => Err(
            "a weight is the importance of a job and has no unit, expected 'weight', or no such column",
        ),
        column => Ok(column),
    }
}

/// Whether a title only names a machine.
pub fn is_machine(title: &str) -> bool {
    let words = words_of(title);
    let follows = |word: &String| {
        let is_letter = word.chars().count() == 1;
        is_letter || word.chars().all(|c| c.is_ascii_digit()) || AFTER_MACHINES.contains(&&**word)
    };
    words.first().is_some_and(|word| OF_MACHINES.contains(&&**word))
        && words.iter().skip(1).all(follows)
}

/// Whether a column's title says that it has setup times.
fn is_setup(title: &str) -> bool {
    let words = words_of(title);
    words.windows(2).any(|pair| pair[0] == "set" && pair[1] == "up")
        || words.iter().any(|word| word.starts_with("setup") || word.starts_with("rüstzeit"))
}

/// Whether a column whose title suggests times probably holds something else.
fn is_unclear(title: &str) -> bool {
    let words = words_of(title);
    let all = words.concat();
    let is_other = |word: &str| {
        titled(word).is_some()
            || NOT_OF_MACHINES.contains(&word)
            || NOT_ENDS_OF_MACHINES.iter().any(|end| word.ends_with(end))
    };
    is_sum(title)
        || SYMBOLS.contains(&&*all)
        || is_other(&all)
        || words.iter().any(|word| is_other(word))
        || words.last().is_some_and(|word| OF_DATES.contains(&&**word))
}

/// Whether the title of a column or the name of a line says that it adds up others.
pub fn is_sum(name: &str) -> bool {
    let words = words_of(name);
    let adds = |word: &String| OF_SUMS.contains(&&**word);
    words.iter().any(adds) && words.iter().all(|word| adds(word) || WITH_SUMS.contains(&&**word))
}

/// What a column with this word as its title holds, if it is neither times nor names.
fn titled(word: &str) -> Option<Column> {
    TITLES.iter().find(|(_, titles)| titles.contains(&word)).map(|(column, _)| *column)
}

/// The title and its remarks.
fn parts(title: &str) -> impl Iterator<Item = &str> {
    title.split(REMARKS).filter(|part| part.contains(char::is_alphanumeric))
}

/// Whether something follows the title in brackets, or after a comma or slash.
fn has_remark(title: &str) -> bool {
    parts(title).count() > 1
}

/// The number of the unit of time in the remarks of a title. In the title of a column of times, a single letter in round
/// brackets more likely tells machines apart; a capital does so in any title.
pub fn unit_of(title: &str) -> Option<usize> {
    // 'Due date(s)' is a plural, 'Due(s)' has a unit.
    let is_noun = |word: &str| {
        ["date", "time", "deadline"].iter().any(|noun| word.to_lowercase().ends_with(noun))
    };
    let plural = title.split_once("(s)").filter(|(word, _)| is_noun(word));
    let title = &plural.map_or_else(|| title.into(), |(word, rest)| format!("{word}{rest}"));
    parts(title).skip(1).find_map(|part| {
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        if word.len() == 1 && part.ends_with(')') && column_of(title) == Column::Times {
            return None;
        }
        let word = if word.len() > 1 { word.to_lowercase() } else { word.to_string() };
        UNITS.iter().position(|names| names.contains(&&*word))
    })
}
