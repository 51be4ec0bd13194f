//! [`Transfer`]: colour and extinction as functions of the value, linear between control points.

/// The maximum number of control points in a text.
const MOST: usize = 4096;

/// The function at one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The value.
    pub value: f32,
    /// Red, green and blue, each from 0 to 1.
    pub colour: [f32; 3],
    /// The fraction of light lost per unit of length, for small losses.
    pub extinction: f32,
}

/// A transfer function: control points in ascending order of value. Two with the same value make a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer(Vec<Control>);

/// A range of values on which all four functions are linear (slope and offset); outside it they are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Where it begins.
    pub low: f32,
    /// Where it ends.
    pub high: f32,
    /// Extinction.
    pub extinction: [f32; 2],
    /// Red, green and blue.
    pub colour: [[f32; 2]; 3],
}

impl Transfer {
    /// A function through these control points.
    ///
    /// # Errors
    /// If there are none, if a number is out of range, or if they are not in order.
    pub fn new(controls: Vec<Control>) -> Result<Self, String> {
        if controls.is_empty() || controls.len() > MOST {
            return Err(format!("{} control points, expected 1 to {MOST}", controls.len()));
        }
        for (i, control) in controls.iter().enumerate() {
            sound(control).map_err(|error| format!("control point {i}: {error}"))?;
            if i > 0 && controls[i - 1].value > control.value {
                return Err(format!(
                    "control point {i}: value {} is less than the one before, expected ascending values",
                    control.value
                ));
            }
        }
        Ok(Self(controls))
    }

    /// Parses lines of `value red green blue extinction`; `#` starts a comment.
    ///
    /// # Errors
    /// Which line is wrong, and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut controls: Vec<Control> = Vec::new();
        for (line, words) in (1..).zip(text.lines()) {
            let words = words.split('#').next().unwrap_or_default();
            let mut numbers = Vec::new();
            for word in words.split_whitespace() {
                let number = word.parse::<f32>();
                numbers
                    .push(number.map_err(|_| format!("line {line}: '{word}', expected a number"))?);
            }
            let control = match numbers[..] {
                [] => continue,
                [value, r, g, b, extinction] => Control { value, colour: [r, g, b], extinction },
                _ => {
                    let count = numbers.len();
                    return Err(format!(
                        "line {line}: {count} numbers, expected value red green blue extinction"
                    ));
                }
            };
            sound(&control).map_err(|error| format!("line {line}: {error}"))?;
            if controls.last().is_some_and(|last| last.value > control.value) {
                return Err(format!(
                    "line {line}: value {} is less than the one before, expected ascending values",
                    control.value
                ));
            }
            if controls.len() == MOST {
                return Err(format!("line {line}: expected at most {MOST} control points"));
            }
            controls.push(control);
        }
        Self::new(controls).map_err(|error| format!("no line with a control point: {error}"))
    }

    /// A function for values in this range inside a sphere of this radius: from blue and thin at the least value,
    /// through green and yellow, to red and dense at the greatest.
    #[must_use]
    pub fn usual((low, high): (f32, f32), radius: f64) -> Self {
        let steps = [
            (0.0, [0.10, 0.15, 0.60], 0.15),
            (0.3, [0.10, 0.55, 0.80], 0.60),
            (0.5, [0.20, 0.75, 0.35], 1.50),
            (0.7, [0.95, 0.80, 0.20], 3.00),
            (1.0, [0.85, 0.10, 0.10], 8.00),
        ];
        let control = |(at, colour, extinction): (f32, [f32; 3], f64)| {
            let extinction = (extinction / radius.max(1e-30)).min(1e30) as f32;
            Control { value: low * (1.0 - at) + high * at, colour, extinction }
        };
        Self(steps.map(control).to_vec())
    }

    /// The control points.
    #[must_use]
    pub fn controls(&self) -> &[Control] {
        &self.0
    }

    /// The function as linear pieces from end to end, of values mapped from this range to 0 to 1. Beyond the control
    /// points it is constant.
    #[must_use]
    pub fn pieces(&self, (low, high): (f32, f32)) -> Vec<Piece> {
        let (low, span) = (f64::from(low), span((low, high)));
        let place = |control: &Control| (f64::from(control.value) - low) / span;
        let (first, last) = (self.0[0], self.0[self.0.len() - 1]);
        let end = |low: f64, high: f64, it: Control| Piece {
            low: low as f32,
            high: high as f32,
            extinction: [0.0, it.extinction],
            colour: it.colour.map(|part| [0.0, part]),
        };
        let mut pieces = vec![end(f64::NEG_INFINITY, place(&first), first)];
        for pair in self.0.windows(2) {
            let (from, to) = (place(&pair[0]), place(&pair[1]));
            let line = |a: f32, b: f32| {
                let slope = (f64::from(b) - f64::from(a)) / (to - from);
                [slope as f32, (f64::from(a) - slope * from) as f32]
            };
            // A step has no width, and a piece so narrow that its slope is not finite is a step.
            let extinction = line(pair[0].extinction, pair[1].extinction);
            let colour = [0, 1, 2].map(|i| line(pair[0].colour[i], pair[1].colour[i]));
            let all = colour.iter().flatten().chain(&extinction);
            if (from as f32) < (to as f32) && { all }.all(|x| x.abs() < 1e30) {
                pieces.push(Piece { low: from as f32, high: to as f32, extinction, colour });
            }
        }
        pieces.push(end(place(&last), f64::INFINITY, last));
        pieces
    }
}

fn sound(control: &Control) -> Result<(), String> {
    let Control { value, colour, extinction } = control;
    if !value.is_finite() {
        return Err(format!("value {value}, expected a finite number"));
    }
    if let Some(part) = colour.iter().find(|part| !(0.0..=1.0).contains(*part)) {
        return Err(format!("colour {part}, expected 0 to 1"));
    }
    if !(0.0..=1e30).contains(extinction) {
        return Err(format!("extinction {extinction}, expected 0 to 1e30"));
    }
    Ok(())
}

/// What 1 stands for where a range of values is mapped to 0 to 1; one value is mapped to 0.
pub(super) fn span((low, high): (f32, f32)) -> f64 {
    if low < high { f64::from(high) - f64::from(low) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_pieces() {
        let text = "# a ramp\n2 0 0 1 0\n\n4 1 0 0 6 # its end\n4 1 1 1 1\n";
        let transfer = Transfer::parse(text).unwrap();
        assert_eq!(transfer.controls().len(), 3);
        let pieces = transfer.pieces((0.0, 4.0));
        let ends: Vec<(f32, f32)> = pieces.iter().map(|piece| (piece.low, piece.high)).collect();
        assert_eq!(ends, [(f32::NEG_INFINITY, 0.5), (0.5, 1.0), (1.0, f32::INFINITY)]);
        assert_eq!(pieces[1].extinction, [12.0, -6.0]);
        assert_eq!(pieces[1].colour[0], [2.0, -1.0]);
        assert_eq!(pieces[2].extinction, [0.0, 1.0]);
    }

    /// A mesh with one value used to have the colour of the last control point.
    #[test]
    fn one_value_lies_between_control_points() {
        let transfer = Transfer::parse("0 0 0 1 0.1\n100 1 0 0 4").unwrap();
        let pieces = transfer.pieces((10.0, 10.0));
        assert_eq!((pieces[1].low, pieces[1].high), (-10.0, 90.0));
        assert!((pieces[1].extinction[1] - 0.49).abs() < 1e-6, "{pieces:?}");
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |text: &str| Transfer::parse(text).unwrap_err();
        assert_eq!(wrong("1 0 0 0 x"), "line 1: 'x', expected a number");
        assert!(wrong("1 0 0 0 0\n\n0 0 0 0 0").starts_with("line 3: value 0"));
        assert!(wrong("\n1 0 0 0").starts_with("line 2: 4 numbers"));
        assert!(wrong("1 0 2 0 1").contains("colour 2"));
        assert!(wrong("1 0 0 0 -1").contains("extinction -1"));
        assert!(wrong("nan 0 0 0 1").contains("value NaN"));
        assert!(wrong("# nothing").contains("no line"));
    }
}
