//! Self-contained pages: one HTML file with its style inside, and tables.

use super::svg::escaped;

/// Light or dark, following the reader's system, as pictures are.
const STYLE: &str = ":root{color-scheme:light dark;--ink:#222;--paper:#fff;--quiet:#666;--line:#ddd;--box:#f5f5f5}\
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--paper:#17191c;--quiet:#9a9a9a;--line:#3a3d42;--box:#22252a}a{color:#8ab4f8}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}\
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:3rem;border-top:1px solid var(--line);padding-top:1rem}h3{font-size:1.05rem;margin-top:1.8rem}\
table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}td,th{padding:.2rem .6rem;white-space:nowrap;border-bottom:1px solid var(--line);\
text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}td.words,th.words{text-align:left}\
td.words{overflow-wrap:anywhere;white-space:normal;min-width:5.5rem}td.words:first-child{overflow-wrap:normal;white-space:nowrap}.wide{overflow-x:auto}.wide svg{max-width:none!important}\
.chart{overflow-x:auto}.chart svg{min-width:45rem}\
svg,img{max-width:100%;height:auto;border-radius:.3rem}.verdict{padding:.1rem .5rem;border-radius:.3rem;white-space:nowrap;color:#222}\
.reproduced{background:#cfe8d5}.partly-reproduced{background:#fbe8c0}.not-reproduced{background:#f4cfc8}\
.reproduced-so-far{background:#dfeede}.not-run,.only-own-claims-judged{background:#e6e6e6}.quiet{color:var(--quiet)}pre{background:var(--box);padding:.6rem;\
overflow-x:auto;font-size:.85rem}details{margin:.6rem 0}summary{cursor:pointer}li{margin:.2rem 0}.said{overflow-wrap:anywhere}";

/// A page with a title, as a whole file.
pub fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{}</title>\
         <style>{STYLE}</style></head><body>\n{body}</body></html>",
        escaped(title)
    )
}

/// A chart, which stays large enough to read on a narrow screen.
pub fn chart(svg: &str) -> String {
    format!("<div class=\"chart\">{svg}</div>\n")
}

/// A table of texts; the first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let escaped = |row: &Vec<String>| row.iter().map(|cell| escaped(cell)).collect();
    table_of(&rows.iter().map(escaped).collect::<Vec<Vec<String>>>())
}

/// A table of cells that are already HTML; the first row is its head. Columns of words are aligned left. On a narrow
/// screen, it scrolls.
pub fn table_of(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let is_number = |cell: &String| {
        cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_digit() || "-–+".contains(c))
    };
    let body = || rows.iter().skip(1);
    let words = |at: usize| !body().all(|row| row.get(at).is_none_or(is_number));
    let words: Vec<bool> = (0..columns).map(words).collect();
    let mut html = "<div class=\"wide\"><table>\n".to_string();
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        html += "<tr>";
        for (at, cell) in row.iter().enumerate() {
            let class = if words.get(at) == Some(&true) { " class=\"words\"" } else { "" };
            html += &format!("<{tag}{class}>{cell}</{tag}>");
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_text() {
        let html = whole("<script>", &table(&[vec!["\"&<b>".into()]]));
        assert!(html.contains("<title>&lt;script&gt;</title>") && !html.contains("<script>"));
        assert!(html.contains("<th>&quot;&amp;&lt;b&gt;</th>"), "{html}");
    }
}
