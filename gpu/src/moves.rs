//! Chooses how many nodes each stack gets or gives, and which intervals leave, when work moves between host and device.

use pleach_kernels::launch::least_leaves;

/// How many of `nodes` each stack gets: the lowest stacks are filled to a common height of at most `most`.
#[must_use]
pub fn spread(heights: &[u32], nodes: u64, most: u32) -> Vec<u32> {
    let mut given = vec![0; heights.len()];
    let mut lowest: Vec<usize> = (0..heights.len()).collect();
    lowest.sort_by_key(|&at| heights[at]);
    // Find how many of the lowest stacks to fill, and to what height.
    let (mut below, mut held) = (0_u64, 0_u64);
    let mut level = 0;
    for (i, &at) in lowest.iter().enumerate() {
        below += 1;
        held += u64::from(heights[at]);
        let next = lowest.get(i + 1).map_or(most, |&next| heights[next].min(most));
        level = (held + nodes) / below;
        if level <= u64::from(next) {
            break;
        }
    }
    let level = level.min(most.into());
    let mut left = nodes;
    for &at in &lowest[..below as usize] {
        given[at] = level.saturating_sub(heights[at].into()).min(left) as u32;
        left -= u64::from(given[at]);
    }
    // Distribute the remainder.
    for &at in &lowest[..below as usize] {
        if left > 0 && heights[at] + given[at] < most {
            given[at] += 1;
            left -= 1;
        }
    }
    given
}

/// How many of `nodes` to take from each stack: the same fraction of each, as nearly as possible, and the remainder
/// from the highest.
#[must_use]
pub fn share(heights: &[u32], nodes: u64) -> Vec<u32> {
    let all: u64 = heights.iter().map(|&height| u64::from(height)).sum();
    let wanted = nodes.min(all);
    let part =
        |height: u32| (u128::from(height) * u128::from(wanted) / u128::from(all.max(1))) as u32;
    let mut taken: Vec<u32> = heights.iter().map(|&height| part(height)).collect();
    let mut left = wanted - taken.iter().map(|&n| u64::from(n)).sum::<u64>();
    let mut highest: Vec<usize> = (0..heights.len()).collect();
    highest.sort_by_key(|&at| std::cmp::Reverse(heights[at]));
    for at in highest {
        let more = left.min((heights[at] - taken[at]).min(1).into());
        taken[at] += more as u32;
        left -= more;
    }
    taken
}

/// Which intervals to take, given their heights: 1 for each of the longest until they have this many leaves.
#[must_use]
pub fn longest(heights: &[u32], leaves: f64) -> Vec<u32> {
    let mut longest: Vec<usize> = (0..heights.len()).filter(|&at| heights[at] > 0).collect();
    longest.sort_by_key(|&at| std::cmp::Reverse(heights[at]));
    let (mut taken, mut missing) = (vec![0; heights.len()], leaves);
    for at in longest {
        if missing <= 0.0 {
            break;
        }
        taken[at] = 1;
        missing -= least_leaves(heights[at]);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;
    use pleach_kernels::launch::height;

    fn sum(all: &[u32]) -> u64 {
        all.iter().map(|&n| u64::from(n)).sum()
    }

    #[test]
    fn nodes_go_to_the_lowest_and_come_from_the_highest() {
        assert_eq!(spread(&[0, 5, 1], 3, 9), [2, 0, 1]);
        assert_eq!(spread(&[0, 5, 1], 100, 9), [9, 4, 8]);
        assert_eq!(spread(&[0, 0, 0], 2, 9), [1, 1, 0]);
        assert_eq!(share(&[1, 8, 0], 1), [0, 1, 0]);
        assert_eq!(share(&[4, 8, 0], 6), [2, 4, 0]);
        assert_eq!(share(&[4, 8, 0], 99), [4, 8, 0]);
    }

    #[test]
    fn the_longest_intervals_leave() {
        let heights = [5.0, 0.0, 30.0, 5.0, 1.0].map(height);
        assert_eq!(longest(&heights, 30.0), [0, 0, 1, 0, 0]);
        assert_eq!(longest(&heights, 31.0), [1, 0, 1, 0, 0]);
        assert_eq!(longest(&heights, f64::INFINITY), [1, 0, 1, 1, 1]);
    }

    #[test]
    fn as_many_nodes_as_possible_move() {
        let mut rng = Rand64::new(1);
        for _ in 0..3000 {
            let stacks = 1 + rng.rand_range(0..12) as usize;
            let heights: Vec<u32> =
                (0..stacks).map(|_| (rng.rand_range(0..9) * rng.rand_range(0..9)) as u32).collect();
            let (nodes, most) = (rng.rand_range(0..200), 1 + rng.rand_range(0..40) as u32);
            let given = spread(&heights, nodes, most);
            let room = heights.iter().map(|&height| u64::from(most.saturating_sub(height))).sum();
            assert_eq!(sum(&given), nodes.min(room), "{heights:?} {nodes} {most}");
            let full: Vec<u32> = heights.iter().zip(&given).map(|(a, b)| a + b).collect();
            let lower = full.iter().zip(&given).all(|(&height, &got)| {
                got == 0 || full.iter().all(|&other| other.min(most) + 1 >= height)
            });
            assert!(lower, "{heights:?} {nodes} {most}: {given:?}");
            let taken = share(&heights, nodes);
            assert_eq!(sum(&taken), nodes.min(sum(&heights)));
            assert!(taken.iter().zip(&heights).all(|(taken, height)| taken <= height));
        }
    }
}
