//! [`Graph`]: an undirected graph, whose vertices have numbers from 1, and what a clique in it is.

use std::fmt;

/// The maximum number of vertices: a search keeps a matrix of bits, and every open node two rows of
/// it.
pub const MOST_VERTICES: usize = 4096;

/// An undirected graph without loops.
#[derive(Clone, PartialEq, Eq)]
pub struct Graph {
    vertices: usize,
    /// A bit for each pair, row by row.
    rows: Vec<u64>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edges = (0..self.vertices).flat_map(|i| {
            (0..i).filter(move |&j| self.adjacent(i, j)).map(move |j| (j + 1, i + 1))
        });
        write!(f, "{} vertices, edges ", self.vertices)?;
        f.debug_list().entries(edges).finish()
    }
}

impl Graph {
    /// A graph without edges.
    ///
    /// # Errors
    /// If there are no vertices or too many.
    pub fn new(vertices: usize) -> Result<Self, String> {
        if !(1..=MOST_VERTICES).contains(&vertices) {
            return Err(format!("{vertices} vertices, expected from 1 to {MOST_VERTICES}"));
        }
        Ok(Self { vertices, rows: vec![0; vertices * vertices.div_ceil(64)] })
    }

    /// Adds the edge between two vertices, numbered from 1.
    ///
    /// # Errors
    /// If there is no such vertex, or if both are the same.
    pub fn connect(&mut self, one: usize, other: usize) -> Result<(), String> {
        let known = 1..=self.vertices;
        if let Some(wrong) = [one, other].into_iter().find(|vertex| !known.contains(vertex)) {
            return Err(format!("vertex {wrong}, expected 1 to {}", self.vertices));
        }
        if one == other {
            return Err(format!("an edge from {one} to itself, expected two vertices"));
        }
        let words = self.words();
        for (i, j) in [(one - 1, other - 1), (other - 1, one - 1)] {
            self.rows[i * words + j / 64] |= 1 << (j % 64);
        }
        Ok(())
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.rows.iter().map(|word| word.count_ones() as usize).sum::<usize>() / 2
    }

    /// The whole matrix, 64 columns to a word.
    #[must_use]
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Whether two vertices, counted from 0, are adjacent.
    #[must_use]
    pub fn adjacent(&self, i: usize, j: usize) -> bool {
        self.rows[i * self.words() + j / 64] >> (j % 64) & 1 == 1
    }

    /// The number of edges at a vertex, counted from 0.
    #[must_use]
    pub fn degree(&self, i: usize) -> usize {
        let row = &self.rows[i * self.words()..][..self.words()];
        row.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The size of a clique, given by its vertices, numbered from 1.
    ///
    /// # Errors
    /// If a vertex is unknown or repeated, or if two are not adjacent.
    pub fn clique(&self, vertices: &[i64]) -> Result<i64, String> {
        let place = |&vertex: &i64| {
            let place = usize::try_from(vertex).ok().filter(|at| (1..=self.vertices).contains(at));
            let place = place.map(|at| at - 1);
            place.ok_or_else(|| format!("vertex {vertex}, expected 1 to {}", self.vertices))
        };
        let places: Vec<usize> = vertices.iter().map(place).collect::<Result<_, _>>()?;
        for (at, &i) in places.iter().enumerate() {
            for &j in &places[..at] {
                if i == j {
                    return Err(format!("vertex {} appears twice", i + 1));
                }
                if !self.adjacent(i, j) {
                    return Err(format!("vertices {} and {} are not adjacent", j + 1, i + 1));
                }
            }
        }
        Ok(places.len() as i64)
    }

    fn words(&self) -> usize {
        self.vertices.div_ceil(64)
    }
}
