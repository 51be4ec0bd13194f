//! Removes arcs that no tour can use, given forced arcs and the order of twins.

use super::arcs::Allowed;
use super::twins::Twins;

impl Allowed {
    /// Removes arcs that no tour can use: those other than the only arc from or into a city, and those
    /// that would close a subtour. Returns false if no tour is left.
    pub fn propagate(&mut self, twins: &Twins) -> bool {
        let n = self.cities;
        let mut done = vec![false; n];
        loop {
            let mut single = Vec::new();
            let mut into = vec![(0, 0); n];
            for i in 0..n {
                let degree = self.degree(i);
                if degree == 0 {
                    return false;
                }
                for j in self.row(i) {
                    into[j] = (into[j].0 + 1, i);
                    if degree == 1 {
                        single.push((i, j));
                    }
                }
            }
            if into.iter().any(|&(degree, _)| degree == 0) {
                return false;
            }
            let only = |(j, &(degree, i)): (usize, &(u32, usize))| (degree == 1).then_some((i, j));
            single.extend(into.iter().enumerate().filter_map(only));
            single.retain(|&(i, _)| !std::mem::replace(&mut done[i], true));
            if single.is_empty() {
                return true;
            }
            single.iter().for_each(|&(i, j)| self.force(i, j));
            if !self.close_paths(twins) {
                return false;
            }
        }
    }

    /// Removes arcs that lead from the end of a path of forced arcs back to its start, and those
    /// between paths that cannot follow each other. Returns false if there is a subtour.
    fn close_paths(&mut self, twins: &Twins) -> bool {
        let n = self.cities;
        let next: Vec<Option<usize>> =
            (0..n).map(|i| (self.degree(i) == 1).then(|| self.row(i).next()).flatten()).collect();
        let mut has_before = vec![false; n];
        next.iter().flatten().for_each(|&j| has_before[j] = true);
        // City 0 starts a path even if an arc leads into it.
        has_before[0] = false;
        let (mut paths, mut seen) = (Vec::new(), 0);
        for begin in (0..n).filter(|&i| !has_before[i]) {
            let (mut path, mut end) = (vec![begin as u16], begin);
            while let Some(j) = next[end].filter(|&j| j != 0 && path.len() <= n) {
                path.push(j as u16);
                end = j;
            }
            seen += path.len();
            let closed = next[end] == Some(0);
            if closed && begin == 0 {
                return path.len() == n;
            }
            if path.len() > 1 && path.len() < n && !closed {
                self.remove(end, begin);
            }
            paths.push(path);
        }
        // Cities on no path are on cycles.
        seen == n && twins.keep_order(&paths, self)
    }
}
