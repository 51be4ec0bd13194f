//! One page for all figures that were run: readable without a network.

use super::part::Runs;
use super::seen::{Seen, SeenPart};
use super::verdict::Verdict;
use crate::draw::page;
use crate::draw::svg::escaped;
use std::fmt::Write;
use toml::Table;

/// The page for these figures, and for those that were not run, by id and title.
pub fn page(seen: &[Seen], others: &[(String, String)]) -> String {
    let title = "The papers' figures, reproduced";
    let mut html = format!("<h1 id=\"top\">{title}</h1>\n");
    html += "<p class=\"quiet\">In charts, hollow diamonds are the papers' values, and dotted lines are ideal: \
             every worker that searches is busy all the time. A verdict counts the paper's claims only.</p>\n\
             <div class=\"wide\">";
    html +=
        "<table><tr><th>figure</th><th class=\"words\">what it shows</th><th>verdict</th></tr>\n";
    for seen in seen {
        let (id, verdict) = (escaped(&seen.figure.id), badge(seen.verdict));
        let quick = if seen.quick { " (quick)" } else { "" };
        let _ = writeln!(
            html,
            "<tr><td><a href=\"#{id}\">{id}</a></td><td class=\"words\">{}</td><td>{verdict}{quick}</td></tr>",
            escaped(&seen.figure.title)
        );
    }
    for (id, title) in others {
        let _ = writeln!(
            html,
            "<tr><td>{id}</td><td class=\"words\">{}</td><td><span class=\"quiet\">pleach reproduce {id}</span></td></tr>",
            escaped(title)
        );
    }
    html += "</table></div>\n";
    seen.iter().for_each(|seen| figure(&mut html, seen));
    page::whole(title, &html)
}

fn badge(verdict: Verdict) -> String {
    let words = verdict.to_string();
    format!("<span class=\"verdict {}\">{words}</span>", words.replace(' ', "-"))
}

fn figure(html: &mut String, seen: &Seen) {
    let figure = &seen.figure;
    let id = escaped(&figure.id);
    let quick = if seen.quick { " <span class=\"quiet\">(quick version)</span>" } else { "" };
    let _ = writeln!(
        html,
        "<h2 id=\"{id}\">{id}: {} {}{quick}</h2>\n<p><b>The paper</b> ({}): {}</p>",
        escaped(&figure.title),
        badge(seen.verdict),
        escaped(&figure.place),
        escaped(&figure.says)
    );
    for judged in seen.judged() {
        let _ = writeln!(html, "<p><b>{}</b>: {}</p>\n<ul>", judged.heading, judged.tally);
        for (claim, outcome) in &judged.claims {
            let _ =
                writeln!(html, "<li>{}<br><i>{}</i></li>", escaped(&claim.says), escaped(outcome));
        }
        *html += "</ul>\n";
    }
    let _ = writeln!(
        html,
        "<p class=\"quiet\">Commit {}, on {}.</p>",
        escaped(&seen.origin.commit),
        escaped(&seen.origin.processor)
    );
    if let Some(argued) = &figure.argued {
        let _ = writeln!(html, "<p><b>Why</b>: {}</p>", escaped(argued));
    }
    for (part, shown) in figure.parts.iter().zip(&seen.parts) {
        let _ = writeln!(html, "<h3>{}</h3>", escaped(&part.title));
        if !part.instead.is_empty() {
            *html += "<p class=\"quiet\">Instead of the paper's:</p><ul class=\"quiet\">\n";
            for one in &part.instead {
                let _ = writeln!(html, "<li>{}</li>", escaped(one));
            }
            *html += "</ul>\n";
        }
        match shown {
            SeenPart::NotRun(why) => {
                let _ = writeln!(html, "<p>Not run: {}.</p>", escaped(why));
            }
            SeenPart::Shown { table, chart, over_time, failed } => {
                let charts = [Some(chart), over_time.as_ref()].into_iter().flatten();
                charts.for_each(|chart| *html += &page::chart(chart));
                *html += &page::table(table);
                if let Some(why) = failed {
                    let _ = writeln!(html, "<p>Not run completely: {}.</p>", escaped(why));
                }
            }
        }
        let (how, text) = match &part.runs {
            None => ("Scenario", part.scenario.as_ref().map_or(String::new(), Table::to_string)),
            Some(Runs { command, processes: Some(n), .. }) => {
                ("Command", format!("pleach {command}\n(on {n} processes)"))
            }
            Some(Runs { command, .. }) => ("Command", format!("pleach {command}")),
        };
        let _ = writeln!(
            html,
            "<details><summary>{how}</summary><pre>{}</pre></details>",
            escaped(&text)
        );
    }
    *html += "<p><a href=\"#top\">Back to the list of figures</a></p>\n";
}
