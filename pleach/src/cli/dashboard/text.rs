//! [`Line`]: text in columns of a terminal, cut, padded and painted; and numbers in few characters.

use console::{Style, measure_text_width};

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    #[default]
    Plain,
    /// A heading.
    Head,
    /// Less important text.
    Dim,
    /// The incumbent.
    Best,
    /// The bound.
    Bound,
    /// Bars.
    Bar,
    /// Warnings.
    Warning,
}

impl Paint {
    fn style(self) -> Style {
        let style = Style::new().for_stderr();
        match self {
            Paint::Plain => style,
            Paint::Head => style.bold(),
            Paint::Dim => style.dim(),
            Paint::Best => style.green().bold(),
            Paint::Bound => style.yellow(),
            Paint::Bar => style.cyan(),
            Paint::Warning => style.red().bold(),
        }
    }
}

/// A line of the screen, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<(String, Paint)>);

impl Line {
    /// A line of one piece.
    pub fn of(text: impl Into<String>, paint: Paint) -> Self {
        Self::default().and(text, paint)
    }

    /// The line with one more piece.
    pub fn and(mut self, text: impl Into<String>, paint: Paint) -> Self {
        self.0.push((text.into(), paint));
        self
    }

    /// The line followed by another one.
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width(text)).sum()
    }

    /// The line padded with blanks to this many columns.
    pub fn padded(self, columns: usize) -> Self {
        let blanks = columns.saturating_sub(self.width());
        self.and(" ".repeat(blanks), Paint::Plain)
    }

    /// The line cut to this many columns.
    pub fn cut(self, columns: usize) -> Self {
        let (mut left, mut all) = (columns, Vec::new());
        if self.width() <= columns {
            return self;
        }
        for (text, paint) in self.0 {
            let fits = width(&text) < left;
            let text = if fits { text } else { cut(&(text + "…"), left) };
            left = left.saturating_sub(width(&text));
            all.push((text, paint));
            if !fits {
                break;
            }
        }
        Self(all)
    }

    /// The bytes that show it on a terminal.
    pub fn painted(&self) -> String {
        self.0.iter().map(|(text, paint)| paint.style().apply_to(text).to_string()).collect()
    }

    /// Its text without styles.
    #[cfg(test)]
    pub fn text(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// The width of a text in columns.
pub fn width(text: &str) -> usize {
    measure_text_width(text)
}

/// A text cut to this many columns; an ellipsis marks a cut.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let (mut out, mut left) = (String::new(), columns.saturating_sub(1));
    for c in text.chars() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if wide > left {
            break;
        }
        left -= wide;
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Cleans a text from elsewhere, so that nothing in it moves the cursor or changes the direction of writing.
pub fn clean(text: &str) -> String {
    let hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let seen = text.chars().filter(|&c| !hidden(c));
    seen.map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A number in about six characters at most: `950`, `9.50 k`, `121 M`.
pub fn compact(value: f64) -> String {
    const WORDS: [&str; 6] = ["", " k", " M", " G", " T", " P"];
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    if size >= 999.5e15 {
        return format!("{value:.1e}");
    }
    if size < 99.95 && size.fract() > 0.0 {
        return format!("{value:.1}");
    }
    // A number that rounds up to the next power of a thousand is shown as that power.
    let mut power = 0;
    while size >= 999.5 * 1000_f64.powi(power) {
        power += 1;
    }
    let scaled = value / 1000_f64.powi(power);
    let digits = match scaled.abs() {
        _ if power == 0 => 0,
        it if it < 9.995 => 2,
        it if it < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.digits$}{}", WORDS[power as usize])
}

/// A time as a clock shows it.
pub fn clock(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".into();
    }
    if seconds < 59.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    let all = seconds.round() as u64;
    let (days, hours, minutes, seconds) = (all / 86_400, all / 3600 % 24, all / 60 % 60, all % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds:02}"),
        (0, _) => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days} d {hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A fraction as a percentage; it shows 100 % only if it is the whole.
pub fn percent(part: f64) -> String {
    if !part.is_finite() {
        return "–".into();
    }
    let part = 100.0 * part.clamp(0.0, 1.0);
    format!("{:.0} %", if part < 100.0 { part.min(99.0) } else { part })
}

/// A fraction as a bar of this many columns.
pub fn bar(part: f64, columns: usize) -> String {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (part * columns as f64 * 8.0).round() as usize;
    let mut out = "█".repeat(eighths / 8);
    out.extend(eighth(eighths % 8, ['▏', '▎', '▍', '▌', '▋', '▊', '▉']));
    let blanks = columns - width(&out).min(columns);
    out + &"·".repeat(blanks)
}

/// The character for this many eighths, if there are any.
pub fn eighth(eighths: usize, all: [char; 7]) -> Option<char> {
    all.get(eighths.wrapping_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_few_characters() {
        for (value, said) in [
            (0.0, "0"),
            (0.25, "0.2"),
            (7.0, "7"),
            (99.94, "99.9"),
            (950.4, "950"),
            (999.6, "1.00 k"),
            (9_994.0, "9.99 k"),
            (9_996.0, "10.0 k"),
            (121_345_678.0, "121 M"),
            (999_600_000.0, "1.00 G"),
            (u64::MAX as f64, "1.8e19"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
            (1e300, "1.0e300"),
            (-5_000.0, "-5.00 k"),
        ] {
            assert_eq!(compact(value), said, "{value}");
        }
        for exponent in -20..308 {
            assert!(width(&compact(10_f64.powi(exponent))) <= 7, "{exponent}");
        }
    }

    #[test]
    fn times_read_like_a_clock() {
        let clocks = [0.0, 59.9, 59.96, 83.0, 3_661.0, 90_061.0, -1.0].map(clock);
        assert_eq!(clocks, ["0.0 s", "59.9 s", "1:00", "1:23", "1:01:01", "1 d 1:01:01", "0.0 s"]);
        assert_eq!((clock(f64::NAN), clock(f64::INFINITY)), ("–".into(), "–".into()));
        assert!(clock(f64::MAX).contains(" d "));
    }

    #[test]
    fn bars_fill_their_columns() {
        for part in [f64::NAN, -1.0, 0.0, 0.001, 0.3, 0.999, 1.0, 7.0, f64::INFINITY] {
            for columns in 0..20 {
                assert_eq!(width(&bar(part, columns)), columns, "{part} {columns}");
            }
        }
        assert_eq!(bar(0.5, 3), "█▌·");
        assert_eq!([0.0, 0.996, 1.0, f64::NAN].map(percent), ["0 %", "99 %", "100 %", "–"]);
    }

    #[test]
    fn texts_are_cut_by_the_columns_that_they_take() {
        assert_eq!(cut("site1", 5), "site1");
        assert_eq!(cut("site12", 5), "site…");
        assert_eq!(cut("機械一号", 8), "機械一号");
        assert_eq!(cut("機械一号", 7), "機械一…");
        assert_eq!(cut("機械一号", 6), "機械…");
        assert_eq!((cut("機", 1), cut("機", 0)), ("…".into(), String::new()));
        for columns in 0..12 {
            let line = Line::of("機械", Paint::Plain).and("abc", Paint::Head).cut(columns);
            assert!(line.width() <= columns, "{columns}: {}", line.text());
        }
        assert_eq!(Line::of("ab", Paint::Plain).and("cd", Paint::Dim).cut(3).text(), "ab…");
    }

    #[test]
    fn what_others_wrote_cannot_move_the_cursor() {
        assert_eq!(clean("a\x1b[2Jb\r\n\u{9b}c"), "a?[2Jb???c");
        assert_eq!(clean("abc\u{202e}def\u{200b}"), "abcdef");
        assert_eq!(clean("bücher 機械"), "bücher 機械");
    }
}
