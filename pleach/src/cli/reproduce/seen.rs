//! [`Seen`]: the results of a figure so far, and the verdict on it.

use super::claim::Claim;
use super::data::{Data, Grid};
use super::figure::Figure;
use super::rows::{Origin, Row};
use super::shown;
use super::verdict::{ClaimTally, Outcome, Verdict};
use crate::report::columns::aligned;
use crate::report::counted;
use serde_json::{Value, json};

/// A figure with its measurements.
pub struct Seen {
    pub figure: Figure,
    pub quick: bool,
    pub origin: Origin,
    pub parts: Vec<SeenPart>,
    /// The outcome of each claim, if known.
    outcomes: Vec<Option<Outcome>>,
    pub verdict: Verdict,
}

/// The claims of the paper, or our own, with their outcomes.
pub struct Judged<'a> {
    pub heading: &'static str,
    pub tally: ClaimTally,
    pub claims: Vec<(&'a Claim, String)>,
}

/// The results of a part.
pub enum SeenPart {
    Shown {
        table: Vec<Vec<String>>,
        chart: String,
        /// How many explorers of its devices had work over time, if recorded.
        over_time: Option<String>,
        /// Why some of it could not be run, if so.
        failed: Option<String>,
    },
    /// It was not run, and why.
    NotRun(String),
}

impl Seen {
    /// Evaluates the rows of a figure, given the lists of its parts and why some parts cannot run.
    pub fn new(
        (figure, quick, origin): (Figure, bool, Origin),
        grids: &[Grid],
        missing: &[Option<String>],
        rows: &[Row],
    ) -> Self {
        let data: Vec<Data<'_>> = figure
            .parts
            .iter()
            .zip(grids)
            .map(|(part, grid)| Data::new(part, grid, rows))
            .collect();
        let outcomes: Vec<Option<Outcome>> =
            figure.claims.iter().map(|claim| claim.judge(&data[claim.part])).collect();
        let parts = data.iter().zip(missing).map(|(data, missing)| match missing {
            _ if !data.rows.is_empty() => SeenPart::Shown {
                table: shown::table(data),
                chart: shown::chart(data),
                over_time: shown::over_time(data),
                failed: (data.lacking > 0).then(|| {
                    let lacking = || format!("{} missing", counted(data.lacking, "run"));
                    missing.clone().unwrap_or_else(lacking)
                }),
            },
            Some(why) => SeenPart::NotRun(why.clone()),
            None => SeenPart::NotRun("no runs yet".into()),
        });
        let parts = parts.collect();
        let verdict = Verdict::of(
            &outcomes_of(&figure.claims, &outcomes, false),
            &outcomes_of(&figure.claims, &outcomes, true),
        );
        Self { quick, origin, parts, outcomes, verdict, figure }
    }

    /// As text, for a terminal.
    pub fn text(&self) -> String {
        let figure = &self.figure;
        let quick = if self.quick { ", quick version" } else { "" };
        let mut text = format!("{}{quick}: {}\n  {}", figure.id, figure.title, figure.place);
        for (part, shown) in figure.parts.iter().zip(&self.parts) {
            text += &format!("\n\n{} ({})", part.title, part.on.word());
            for one in &part.instead {
                text += &format!("\n  instead: {one}");
            }
            text += "\n";
            match shown {
                SeenPart::Shown { table, failed, .. } => {
                    text += &aligned(table);
                    if let Some(why) = failed {
                        text += &format!("\n  not run completely: {why}");
                    }
                }
                SeenPart::NotRun(why) => text += &format!("  not run: {why}"),
            }
        }
        text += "\n";
        for judged in self.judged() {
            text += &format!("\n{}: {}", judged.heading, judged.tally);
            for (claim, outcome) in judged.claims {
                text += &format!("\n  {}\n    {outcome}", claim.says);
            }
        }
        text + &format!("\n{}{quick} {}", figure.id, self.verdict)
    }

    /// The claims of the paper, and our own if there are some.
    pub fn judged(&self) -> impl Iterator<Item = Judged<'_>> {
        let headings = ["The paper's claims", "Our own claims, which do not count for the verdict"];
        headings.into_iter().zip([false, true]).filter_map(move |(heading, own)| {
            let tally = ClaimTally::of(&outcomes_of(&self.figure.claims, &self.outcomes, own));
            let claims = self.figure.claims.iter().zip(&self.outcomes);
            let claims = claims.filter(|(claim, _)| claim.own == own).map(|(claim, outcome)| {
                (claim, outcome.as_ref().map_or("not run".into(), Outcome::to_string))
            });
            let claims = claims.collect();
            (tally.all() > 0).then_some(Judged { heading, tally, claims })
        })
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let claims = self.figure.claims.iter().zip(&self.outcomes).map(|(claim, outcome)| {
            json!({
                "says": claim.says,
                "own": claim.own,
                "part": self.figure.parts[claim.part].name,
                "holds": outcome.as_ref().map(|outcome| outcome.holds),
                "undecided": outcome.as_ref().map(|outcome| outcome.undecided),
                "points": outcome.as_ref().map(|outcome| outcome.points),
                "shown": outcome.as_ref().map(|outcome| &outcome.shown),
            })
        });
        let parts = self.figure.parts.iter().zip(&self.parts).map(|(part, shown)| {
            let (table, missing) = match shown {
                SeenPart::Shown { table, failed, .. } => (json!(table), json!(failed)),
                SeenPart::NotRun(why) => (Value::Null, json!(why)),
            };
            json!({
                "name": part.name, "on": part.on.word(), "instead": part.instead, "table": table,
                "not_run": missing,
            })
        });
        json!({
            "id": self.figure.id,
            "title": self.figure.title,
            "quick": self.quick,
            "verdict": self.verdict.to_string(),
            "claims": claims.collect::<Vec<_>>(),
            "parts": parts.collect::<Vec<_>>(),
            "commit": self.origin.commit,
            "processor": self.origin.processor,
        })
    }
}

/// The outcomes of the paper's claims, or of our own.
fn outcomes_of(claims: &[Claim], outcomes: &[Option<Outcome>], own: bool) -> Vec<Option<Outcome>> {
    let both = claims.iter().zip(outcomes).filter(|(claim, _)| claim.own == own);
    both.map(|(_, outcome)| outcome.clone()).collect()
}
