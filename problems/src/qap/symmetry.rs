//! [`Symmetries`]: permutations of points that leave the values between them as they are.

use std::collections::HashSet;

/// The maximum number of permutations at which products are added.
const MOST: usize = 256;
/// The maximum number of images tried while permutations are looked for.
const MOST_TRIALS: usize = 1 << 17;

/// Permutations of points under which no value between two of them changes: not always all, and without the identity.
#[derive(Clone, Debug)]
pub(super) struct Symmetries(Vec<Vec<u16>>);

impl Symmetries {
    /// The symmetries of `n` points with these values between them.
    pub fn new(n: usize, value: impl Fn(usize, usize) -> i64) -> Self {
        let kind = |point: usize| {
            let mut values: Vec<_> =
                (0..n).map(|other| (value(point, other), value(other, point))).collect();
            values.sort_unstable();
            (value(point, point), values)
        };
        let kinds: Vec<_> = (0..n).map(kind).collect();
        let fits = |images: &[u16], image: u16| {
            let (point, to) = (images.len(), usize::from(image));
            kinds[point] == kinds[to]
                && !images.contains(&image)
                && images.iter().enumerate().all(|(other, &image)| {
                    let image = usize::from(image);
                    value(point, other) == value(to, image)
                        && value(other, point) == value(image, to)
                })
        };
        let mut trials = 0..MOST_TRIALS;
        // Continues with the point itself first, then with all others.
        let mut complete = |mut images: Vec<u16>| {
            let fixed = images.len();
            let mut next = 0;
            while images.len() < n {
                trials.next()?;
                let point = images.len();
                let image = if next == 0 { point } else { next - 1 };
                if next > n {
                    if point == fixed {
                        return None;
                    }
                    let image = usize::from(images.pop()?);
                    next = if image == images.len() { 1 } else { image + 2 };
                } else if (next == 0 || image != point) && fits(&images, image as u16) {
                    images.push(image as u16);
                    next = 0;
                } else {
                    next += 1;
                }
            }
            Some(images)
        };
        // For each point and each image of it, one permutation that leaves all points before it where they are.
        let mut found = Vec::new();
        for point in 0..n {
            for image in point + 1..n {
                let mut images: Vec<u16> = (0..point as u16).collect();
                if fits(&images, image as u16) {
                    images.push(image as u16);
                    found.extend(complete(images));
                }
            }
        }
        Self(products(found))
    }

    /// Marks the points that can be spared while those that are `used` stay where they are: some symmetry or its
    /// inverse maps each of them to an earlier point.
    pub fn spare(&self, used: Vec<bool>) -> Vec<bool> {
        let mut spare = vec![false; used.len()];
        let stays = |images: &&Vec<u16>| {
            images
                .iter()
                .enumerate()
                .all(|(point, &image)| !used[point] || usize::from(image) == point)
        };
        for images in self.0.iter().filter(stays) {
            for (point, &image) in images.iter().enumerate() {
                let image = usize::from(image);
                // The inverse is a symmetry as well.
                spare[point.max(image)] |= image != point;
            }
        }
        spare
    }
}

/// Products of permutations, and they themselves, without the identity.
fn products(generators: Vec<Vec<u16>>) -> Vec<Vec<u16>> {
    let mut all = generators.clone();
    let mut known: HashSet<Vec<u16>> = all.iter().cloned().collect();
    let mut at = 0;
    while at < all.len() && all.len() < MOST {
        for generator in &generators {
            let product: Vec<u16> =
                all[at].iter().map(|&point| generator[usize::from(point)]).collect();
            let moves =
                product.iter().enumerate().any(|(point, &image)| usize::from(image) != point);
            if moves && all.len() < MOST && known.insert(product.clone()) {
                all.push(product);
            }
        }
        at += 1;
    }
    all
}
