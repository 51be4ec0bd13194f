//! One page for all figures that were run: readable without a network.

use super::claim::Verdict;
use super::part::{On, Work};
use super::seen::{Seen, SeenPart};
use crate::draw::svg::escaped;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}\
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:3rem;border-top:1px solid #ccc;padding-top:1rem}h3{font-size:1.05rem}\
table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}td,th{padding:.2rem .7rem;border-bottom:1px solid #ddd;\
text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}td.words,th.words{text-align:left}td:first-child{white-space:nowrap}\
svg,img{max-width:100%;height:auto}.verdict{padding:.1rem .5rem;border-radius:.3rem;white-space:nowrap}\
.comes-out{background:#cfe8d5}.comes-out-partly{background:#fbe8c0}.does-not-come-out{background:#f4cfc8}\
.comes-out-so-far{background:#dfeede}.not-run{background:#e6e6e6}.quiet{color:#666}pre{background:#f5f5f5;padding:.6rem;overflow-x:auto;font-size:.85rem}\
details{margin:.6rem 0}li{margin:.2rem 0}";

/// The page for these figures, and for those that were not run, by id and title.
pub fn page(seen: &[Seen], others: &[(String, String)]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>The papers' figures, run again</title>\
         <style>{STYLE}</style></head><body>\n<h1>The papers' figures, run again</h1>\n"
    );
    html += "<p class=\"quiet\">In charts, hollow diamonds are the papers' values.</p>\n";
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
    html += "</table>\n";
    seen.iter().for_each(|seen| figure(&mut html, seen));
    html + "</body></html>"
}

fn badge(verdict: Verdict) -> String {
    let words = verdict.words();
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
    if !figure.claims.is_empty() {
        *html += "<ul>\n";
        for (claim, outcome) in figure.claims.iter().zip(&seen.outcomes) {
            let outcome = outcome.as_ref().map_or("not run".into(), |outcome| outcome.words());
            let _ =
                writeln!(html, "<li>{}<br><i>{}</i></li>", escaped(&claim.says), escaped(&outcome));
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
            SeenPart::Shown { table, chart, pictures, failed } => {
                let _ = writeln!(html, "{chart}");
                rows(html, table);
                if let Some(why) = failed {
                    let _ = writeln!(html, "<p>Not all of it was run: {}.</p>", escaped(why));
                }
                for picture in pictures {
                    let _ = writeln!(
                        html,
                        "<details><summary>What units did</summary>{picture}</details>"
                    );
                }
            }
        }
        let (how, text) = match (&part.work, part.on) {
            (Work::Scenario(table), _) => ("Scenario", table.to_string()),
            (Work::Runs(runs), On::Processes) => {
                let n = runs.processes.as_deref().unwrap_or("");
                ("Command", format!("pleach {}\n(on {n} processes)", runs.command))
            }
            (Work::Runs(runs), _) => ("Command", format!("pleach {}", runs.command)),
        };
        let _ = writeln!(
            html,
            "<details><summary>{how}</summary><pre>{}</pre></details>",
            escaped(&text)
        );
    }
}

fn rows(html: &mut String, table: &[Vec<String>]) {
    *html += "<table>\n";
    for (i, row) in table.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
        let _ = writeln!(html, "<tr>{}</tr>", cells.collect::<String>());
    }
    *html += "</table>\n";
}
