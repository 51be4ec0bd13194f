//! [`Exchange`]: which explorers of a device give to which, by the rules that the kernels follow.

use pleach_core::search::inside::Inside;

/// Explorers are the corners of a hypercube with four along each edge and up to eight along the last.
const EDGE: usize = 4;
const LAST_EDGE: usize = 8;

/// An exchange of work, and what it remembers until the next one.
#[derive(Clone, Debug)]
pub struct Exchange {
    inside: Inside,
    /// How far back the next window starts, and its width.
    window: (usize, usize),
}

impl Exchange {
    pub fn new(inside: Inside) -> Self {
        Self { inside, window: (0, 1) }
    }

    /// Lets idle explorers steal, given the size of each one's work: `steal(thief, victim)` moves half of the victim's work
    /// and returns the sizes that both have then. Returns the number of launches.
    pub fn run(
        &mut self,
        sizes: &mut [f64],
        mut steal: impl FnMut(usize, usize) -> (f64, f64),
    ) -> u32 {
        let all = sizes.len();
        let idle = sizes.iter().filter(|&&size| size == 0.0).count();
        let mean = sizes.iter().sum::<f64>() / all as f64;
        let mut take = |sizes: &mut [f64], thief: usize, victim: usize, least: f64| {
            if victim == thief || sizes[victim] <= least.max(1.0) {
                return false;
            }
            // Sizes need not add up: where work is intervals, they count only what a split may give.
            (sizes[thief], sizes[victim]) = steal(thief, victim);
            sizes[thief] > 0.0
        };
        let mut in_windows = |sizes: &mut [f64], back: usize, width: usize, least: f64| {
            for thief in (0..all).filter(|&explorer| sizes[explorer] == 0.0).collect::<Vec<_>>() {
                (0..width.min(all))
                    .map(|place| (thief + 2 * all - 1 - (back + place) % all) % all)
                    .any(|victim| take(sizes, thief, victim, least));
            }
            1
        };
        match self.inside {
            Inside::None => 0,
            Inside::Ring => {
                let back = self.window.0;
                self.window.0 = (back + 1) % all.saturating_sub(1).max(1);
                in_windows(sizes, back, 1, 0.0)
            }
            Inside::Search(width) => in_windows(sizes, 0, width as usize, 0.0),
            Inside::Large(width) => in_windows(sizes, 0, width as usize, mean),
            Inside::Adapt => {
                let (back, width) = self.window;
                let many = idle * 10 > all;
                let width = if many { 2 * width } else { width / 2 }.clamp(1, all);
                self.window = ((back + width) % all, width);
                in_windows(sizes, back, width, mean)
            }
            Inside::Windows => {
                let width = (all - 1) / idle.max(1) + 1;
                let thieves = (0..all).filter(|&explorer| sizes[explorer] == 0.0);
                for (before, thief) in thieves.collect::<Vec<_>>().into_iter().enumerate() {
                    let window = before * width..(before + 1) * width;
                    window.map(|place| place % all).any(|victim| take(sizes, thief, victim, mean));
                }
                1
            }
            Inside::Hypercube => {
                let mut launches = 0;
                let mut scale = 1;
                while scale < all {
                    let last = scale * LAST_EDGE >= all;
                    let edge = if last { all.div_ceil(scale) } else { EDGE };
                    for offset in 1..edge {
                        launches += 1;
                        for thief in 0..all {
                            let digit = thief / scale % edge;
                            let victim = thief - digit * scale + (digit + offset) % edge * scale;
                            if sizes[thief] == 0.0 && victim < all {
                                take(sizes, thief, victim, mean);
                            }
                        }
                    }
                    if last {
                        break;
                    }
                    scale *= EDGE;
                }
                launches
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who stole from whom in one exchange, and the number of launches.
    fn steals(exchange: &mut Exchange, sizes: &[f64]) -> (Vec<(usize, usize)>, u32) {
        let (mut pairs, mut held, mut sizes) = (Vec::new(), sizes.to_vec(), sizes.to_vec());
        let launches = exchange.run(&mut sizes, |thief, victim| {
            pairs.push((thief, victim));
            let moved = (held[victim] / 2.0).floor();
            held[victim] -= moved;
            held[thief] += moved;
            (held[thief], held[victim])
        });
        assert_eq!(sizes, held);
        (pairs, launches)
    }

    #[test]
    fn each_rule_chooses_its_victims() {
        let sizes = [0.0, 12.0, 3.0, 0.0, 0.0, 2.0, 1.0, 0.0];
        let by = |inside| steals(&mut Exchange::new(inside), &sizes);
        assert_eq!(by(Inside::None), (vec![], 0));
        // Each looks at the one before it, and one node is not shared.
        assert_eq!(by(Inside::Ring), (vec![(3, 2)], 1));
        assert_eq!(by(Inside::Search(2)), (vec![(3, 2), (4, 2), (7, 5)], 1));
        assert_eq!(by(Inside::Search(3)).0, [(0, 5), (3, 2), (4, 2)]);
        // Only explorers with more than the mean, 18/8, and only in reach.
        assert_eq!(by(Inside::Large(3)).0, [(3, 2), (4, 1), (7, 4)]);
        // Four idle explorers look at two places each.
        assert_eq!(by(Inside::Windows).0, [(0, 1), (3, 2)]);
        // All are neighbours along an edge of eight: first of the next one, at last of the one seven places on.
        assert_eq!(by(Inside::Hypercube), (vec![(0, 1), (7, 0), (4, 7), (3, 0)], 7));
    }

    #[test]
    fn a_ring_goes_round_and_a_window_adapts() {
        let sizes = [0.0, 4.0, 4.0, 4.0];
        let mut ring = Exchange::new(Inside::Ring);
        let victims: Vec<usize> = (0..4).map(|_| steals(&mut ring, &sizes).0[0].1).collect();
        assert_eq!(victims, [3, 2, 1, 3]);
        let mut adapt = Exchange::new(Inside::Adapt);
        let idle = [0.0; 12];
        let widths = (0..5).map(|_| {
            steals(&mut adapt, &idle);
            adapt.window.1
        });
        assert_eq!(widths.collect::<Vec<_>>(), [2, 4, 8, 12, 12]);
        steals(&mut adapt, &[3.0; 12]);
        assert_eq!(adapt.window.1, 6);
    }
}
