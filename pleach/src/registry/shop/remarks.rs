//! [`unit_of`]: the unit that the title of a column gives in a remark, as in `Saw [min]`.

/// What may begin a remark in a title.
pub const REMARKS: [char; 4] = ['(', '[', '/', ','];

/// Units of time, each with its names.
const UNITS: [&[&str]; 5] = [
    &["s", "sec", "secs", "second", "seconds", "sek", "sekunden"],
    &["min", "mins", "minute", "minutes", "minuten"],
    &["h", "hr", "hrs", "hour", "hours", "std", "stunden"],
    &["d", "day", "days", "tag", "tage"],
    &["week", "weeks", "woche", "wochen"],
];

/// The title and its remarks.
fn parts(title: &str) -> impl Iterator<Item = &str> {
    title.split(REMARKS).filter(|part| part.contains(char::is_alphanumeric))
}

/// Whether something follows the title in brackets or behind a comma or slash.
pub fn has_remark(title: &str) -> bool {
    parts(title).count() > 1
}

/// The number of the unit of time in the remarks of a title. A single capital more likely names a machine.
pub fn unit_of(title: &str) -> Option<usize> {
    parts(title).skip(1).find_map(|part| {
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        let word = if word.len() > 1 { word.to_lowercase() } else { word.to_string() };
        UNITS.iter().position(|names| names.contains(&&*word))
    })
}
