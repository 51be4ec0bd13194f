//! Reads graphs in the DIMACS formats: ASCII and binary.

use super::graph::Graph;

/// Reads a text: `p edge N M` or `p col N M`, then `e I J` for each edge; lines with `c` are comments. Error texts
/// continue after the name of the file.
///
/// # Errors
/// Names the line, the value, and what was expected.
pub fn read(text: &str) -> Result<Graph, String> {
    let mut graph: Option<(Graph, usize)> = None;
    let mut lines = 0;
    for (at, line) in (1..).zip(text.lines()) {
        let wrong = |expected: &str| format!(", line {at}: '{}', expected {expected}", line.trim());
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], &mut graph) {
            ([] | ["c", ..], _) => {}
            (["p", "edge" | "col", vertices, edges], None) => {
                let number = |word: &str| word.parse().map_err(|_| wrong("p edge N M"));
                let new = Graph::new(number(vertices)?);
                graph = Some((new.map_err(|why| format!(", line {at}: {why}"))?, number(edges)?));
            }
            (["e", one, other], Some((graph, _))) => {
                let number = |word: &str| word.parse().map_err(|_| wrong("e I J"));
                let added = graph.connect(number(one)?, number(other)?);
                added.map_err(|why| format!(", line {at}: {why}"))?;
                lines += 1;
            }
            (_, None) => return Err(wrong("p edge N M, after comments (c) only")),
            (_, Some(_)) => return Err(wrong("e I J, or a comment (c)")),
        }
    }
    let (graph, said) = graph.ok_or(": no line p edge N M, expected a graph in DIMACS format")?;
    // Some files list each edge in both directions, or announce it twice but list it once. A file that was cut off after
    // half of its edges looks like these.
    if ![lines, graph.edges(), 2 * graph.edges()].contains(&said) {
        return Err(format!(": {lines} edges, expected {said} as the line p announces"));
    }
    Ok(graph)
}

/// Reads bits: the length of the text that follows, that text, and a row of bits for each vertex, with its edges to
/// the vertices before it, padded to bytes.
///
/// # Errors
/// If the bytes are not of this form.
pub(super) fn read_bits(bytes: &[u8]) -> Result<Graph, String> {
    let length = |bytes: &[u8]| -> Option<usize> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        std::str::from_utf8(&bytes[..end]).ok()?.trim().parse().ok()
    };
    let parts = || {
        let text = length(bytes)?;
        let rest = bytes.splitn(2, |&byte| byte == b'\n').nth(1)?;
        let (text, mut rows) = rest.split_at_checked(text)?;
        let text = std::str::from_utf8(text).ok()?;
        let words = text.lines().find(|line| line.starts_with('p'))?;
        let mut graph = Graph::new(words.split_whitespace().nth(2)?.parse().ok()?).ok()?;
        for i in 0..graph.vertices() {
            let row;
            (row, rows) = rows.split_at_checked(i / 8 + 1)?;
            let mut near = (0..i).filter(|j| row[j / 8] << (j % 8) & 128 != 0);
            near.try_for_each(|j| graph.connect(i + 1, j + 1)).ok()?;
        }
        rows.is_empty().then_some(graph)
    };
    parts().ok_or_else(|| "not a graph in the DIMACS binary format".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_read_and_faults_are_placed() {
        let text = "c a path\np edge 3 2\n\ne 1 2\ne 3 2\n";
        let path = read(text).unwrap();
        assert_eq!((path.vertices(), path.edges()), (3, 2));
        assert!(path.adjacent(2, 1) && !path.adjacent(0, 2));
        assert_eq!(read("p col 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n"), Ok(path.clone()));
        assert_eq!(read("p col 3 4\ne 1 2\ne 3 2\n"), Ok(path.clone()));
        assert_eq!(read_bits(b"10\np col 3 2\n\0\x80\x40"), Ok(path));
        for (text, said) in [
            ("", ": no line p edge N M"),
            ("e 1 2\n", ", line 1: 'e 1 2', expected p edge N M"),
            ("p edge x 2\n", ", line 1: 'p edge x 2', expected p edge N M"),
            ("p edge 0 0\n", ", line 1: 0 vertices, expected from 1 to 4096"),
            ("p edge 9999999 0\n", ", line 1: 9999999 vertices"),
            ("p edge 3 1\np edge 3 1\n", ", line 2: 'p edge 3 1', expected e I J"),
            ("p edge 3 1\ne 1 4\n", ", line 2: vertex 4, expected 1 to 3"),
            ("p edge 3 1\ne 0 1\n", ", line 2: vertex 0, expected 1 to 3"),
            ("p edge 3 1\ne 2 2\n", ", line 2: an edge from 2 to itself"),
            ("p edge 3 1\ne 1\n", ", line 2: 'e 1', expected e I J"),
            ("p edge 3 1\ne 1 -2\n", ", line 2: 'e 1 -2', expected e I J"),
            ("p edge 3 3\ne 1 2\n", ": 1 edges, expected 3"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.starts_with(said), "{text:?}: {why}");
        }
        for bytes in [&b""[..], b"4\np 3", b"10\np col 3 2\n\0\x80", b"x\n"] {
            assert!(read_bits(bytes).is_err());
        }
    }
}
