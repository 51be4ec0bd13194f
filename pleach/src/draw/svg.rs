//! [`Svg`]: a picture under construction, and the few shapes that all pictures use.

use std::fmt::{self, Write};

/// A picture under construction.
pub struct Svg(String);

/// The alignment of a text relative to its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty picture, light or dark, following the reader's system.
    pub fn new(width: f64, height: f64) -> Self {
        Self::styled(width, height, "")
    }

    /// An empty picture that shrinks to the width of the page that shows it.
    pub fn fitted(width: f64, height: f64) -> Self {
        Self::styled(width, height, " style=\"max-width:100%;height:auto\"")
    }

    fn styled(width: f64, height: f64, style: &str) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\"{style} font-family=\"sans-serif\" \
             font-size=\"12\">\n{DARK}\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ))
    }

    /// Any element, as SVG.
    pub fn raw(&mut self, element: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }

    /// A text with further attributes, such as `fill="#555"`.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{text}</text>"
        ));
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        self.raw(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// The finished picture.
    pub fn finish(self) -> String {
        self.0 + "</svg>"
    }
}

/// What a picture looks like where the reader prefers dark pages. Colours that differ little from white or from black
/// change, those of the data are made lighter, and texts inside light boxes (`#222`) stay as they are.
const DARK: &str = "<style>@media(prefers-color-scheme:dark){svg [fill=\"white\"]{fill:#17191c}\
svg [stroke=\"white\"]{stroke:#17191c}svg text:not([fill]){fill:#ddd}svg [fill=\"#555\"]{fill:#9a9a9a}\
svg [stroke=\"#ddd\"]{stroke:#3a3d42}svg [stroke=\"#333\"]{stroke:#bbb}svg [stroke=\"black\"]{stroke:#fff}\
svg [stroke=\"#000000\"]{stroke:#eee}svg [fill=\"#000000\"]{fill:#eee}svg [fill=\"#eee\"]{fill:#22252a}\
svg [fill=\"#d9d9d9\"]{fill:#4a4d52}svg [fill=\"#cfe4f2\"]{fill:#1b3a4f}svg [stroke=\"#0072b2\"]{stroke:#4aa8e0}\
svg [fill=\"#0072b2\"]{fill:#4aa8e0}}</style>";

/// A text that is safe inside an element or an attribute.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // XML does not allow other control characters.
    let plain = |c: char| if c.is_control() && !c.is_whitespace() { '\u{fffd}' } else { c };
    text.replace('"', "&quot;").replace('\'', "&#39;").chars().map(plain).collect()
}
