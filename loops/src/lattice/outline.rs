//! [`Outline`]: which planes a slab has and keeps, and the steps of a sweep over them.

use super::flow::Flow;
use super::sweep::Step;
use std::ops::Range;
use std::sync::Arc;

/// A slab without its numbers.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    pub flow: Arc<Flow>,
    pub planes: Range<usize>,
    /// Planes of the neighbours below and above.
    pub ghosts: [usize; 2],
    /// Steps done since the start.
    pub steps: u64,
}

impl Outline {
    /// The outline of a slab of these planes.
    ///
    /// # Errors
    /// If there are too few planes, or some are outside the box.
    pub fn new(flow: &Arc<Flow>, planes: Range<usize>, steps: u64) -> Result<Self, String> {
        let ghosts = ghosts(flow, &planes)?;
        Ok(Self { flow: flow.clone(), planes, ghosts, steps })
    }

    /// The number of planes held, including those of the neighbours.
    pub fn held(&self) -> usize {
        self.planes.len() + self.ghosts[0] + self.ghosts[1]
    }

    /// The number in the box of a held plane.
    pub fn number(&self, plane: usize) -> usize {
        let all = self.flow.size()[2];
        (self.planes.start + plane + all - self.ghosts[0]) % all
    }

    /// The lines of planes held.
    pub fn span(&self, planes: Range<usize>) -> Range<usize> {
        let lines = self.flow.plane_lines();
        planes.start * lines..planes.end * lines
    }

    /// The lines of its planes, by their numbers in the box.
    pub fn own_span(&self, planes: &Range<usize>) -> Range<usize> {
        let to = |plane: usize| plane - self.planes.start + self.ghosts[0];
        self.span(to(planes.start)..to(planes.end))
    }

    /// Where its planes are that the neighbours below and above need.
    pub fn edges(&self) -> [Range<usize>; 2] {
        let (own, end) = (self.ghosts[0], self.held() - self.ghosts[1]);
        let deep = self.flow.ghosts().min(end - own);
        let [below, above] = self.ghosts.map(|ghosts| if ghosts > 0 { deep } else { 0 });
        [own..own + below, end - above..end]
    }

    /// Where the planes of the neighbours below and above are.
    pub fn ghost_planes(&self) -> [Range<usize>; 2] {
        let held = self.held();
        [0..self.ghosts[0], held - self.ghosts[1]..held]
    }

    /// The steps of a sweep that begins after this many more steps.
    ///
    /// # Panics
    /// If there are more steps than the flow's depth.
    pub fn plan(&self, before: usize, steps: usize) -> Vec<Step> {
        assert!(
            steps <= self.flow.depth(),
            "{steps} steps: more than the neighbours' planes allow"
        );
        let (held, mut more) = (self.held(), 0);
        let mut order: Vec<Step> = (before..before + steps)
            .rev()
            .map(|s| {
                let odd = (self.steps + s as u64) % 2 == 1;
                let beyond = more + usize::from(odd);
                more += 2 * usize::from(odd);
                let start = self.ghosts[0].saturating_sub(beyond);
                let end = held - self.ghosts[1].saturating_sub(beyond);
                Step { odd, planes: start..end }
            })
            .collect();
        order.reverse();
        order
    }
}

/// How many planes of the neighbours below and above a slab of these planes keeps.
fn ghosts(flow: &Flow, planes: &Range<usize>) -> Result<[usize; 2], String> {
    let (all, fewest) = (flow.size()[2], flow.ghosts());
    if planes.start >= planes.end || planes.end > all {
        return Err(format!("planes {planes:?} of {all}: expected some of them"));
    }
    if planes.len() < fewest.min(all) {
        return Err(format!("planes {planes:?}: expected at least {}", fewest.min(all)));
    }
    for rest in [planes.start, all - planes.end] {
        if rest > 0 && rest < fewest {
            return Err(format!(
                "planes {planes:?} of {all}: expected none or at least {fewest} on either side"
            ));
        }
    }
    let ends = [planes.start == 0, planes.end == all];
    Ok(ends.map(|end| if end && !flow.is_ring() { 0 } else { fewest }))
}
