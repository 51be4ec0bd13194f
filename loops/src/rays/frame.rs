//! [`Frame`]: a scene prepared for one view; and [`Rays`], the loop over its tiles.

use super::bins::Bins;
use super::boundary::{Entries, Tiles};
use super::march::{self, Tally};
use super::order::order;
use super::picture::Picture;
use super::prepare::Prepared;
use super::project;
use super::record::{Light, TILE, TILE_PIXELS, Work};
use super::scene::Scene;
use super::stage::{RunStage, Stage};
use super::view::{Axes, View};
use crate::looping::{Cells, Loop, LoopOnDevice, RemoteLoop};
use pleach_core::search::level::Level;
use pleach_runtime::sync::lock;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// How a frame is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Each ray goes from tetrahedron to tetrahedron. Works for every mesh.
    March,
    /// The tetrahedra are sorted and drawn front to back. Faster, but marches instead if tetrahedra hide each other in
    /// a cycle.
    Project,
}

/// What the user can choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The preferred method.
    pub method: Method,
    /// A ray ends above this opacity; 1 for never.
    pub opaque: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Project, opaque: 0.999 }
    }
}

/// A scene prepared for one view.
pub struct Frame<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) prepared: Prepared,
    /// Where rays enter the mesh. Devices need it because they march whatever the method.
    pub(super) entries: Entries,
    way: Way,
    pub(super) tiles: Tiles,
    sizes: [u32; 2],
    costs: Vec<f64>,
    circle: usize,
}

/// What each method needs.
enum Way {
    March,
    Project(Bins),
}

impl<'a> Frame<'a> {
    /// Prepares a scene for a view on this thread.
    ///
    /// # Errors
    /// If a number in the view or the settings is out of range.
    pub fn new(scene: &'a Scene<'a>, view: &View, settings: Settings) -> Result<Self, String> {
        let mut run = |stage: &Stage<'_>| {
            stage.run(0..stage.units(), &mut ());
            true
        };
        let frame = Self::prepare(scene, view, settings, &mut run)?;
        Ok(frame.expect("no stage was stopped"))
    }

    /// Prepares a scene for a view in stages, which `run` runs; `None` if one was stopped. The frame does not depend on
    /// who runs them.
    ///
    /// # Errors
    /// If a number in the view or the settings is out of range.
    pub fn prepare(
        scene: &'a Scene<'a>,
        view: &View,
        settings: Settings,
        run: &mut RunStage<'_>,
    ) -> Result<Option<Self>, String> {
        if !(0.0..=1.0).contains(&settings.opaque) {
            return Err(format!("opaque at {}, expected 0 to 1", settings.opaque));
        }
        let axes = view.axes(scene.mesh())?;
        // A ray that never ends must continue even when no more light passes through.
        let least = if settings.opaque < 1.0 { 1.0 - settings.opaque } else { -1.0 };
        Ok(Self::in_stages(scene, view, (&axes, settings.method, least), run))
    }

    fn in_stages(
        scene: &'a Scene<'a>,
        view: &View,
        (axes, method, least): (&Axes, Method, f32),
        run: &mut RunStage<'_>,
    ) -> Option<Self> {
        let (sizes, tiles) = ([view.width, view.height], Tiles::new(view.width, view.height));
        let projects = method == Method::Project;
        let mut prepared = Prepared::new(scene, view, axes, least, run)?;
        let entries = Entries::new(scene, &prepared, sizes, projects, run)?;
        // Each tetrahedron's place depends on those before it, so a single thread sorts, but the others need not wait.
        let sorted = OnceLock::new();
        let sort: &(dyn Fn(&Prepared) + Sync) = &|prepared| {
            sorted.get_or_init(|| order(prepared, &entries.pairs()));
        };
        prepared.record(scene, view, axes, projects.then_some(sort), run)?;
        let sorted = sorted.into_inner();
        let circle = sorted.as_ref().map_or(0, |order| prepared.records.len() - order.len());
        let way = match &sorted {
            Some(order) if circle == 0 => {
                Way::Project(Bins::new(&prepared.notes, order, tiles, run)?)
            }
            _ => Way::March,
        };
        let cost = |tile| match &way {
            Way::March => f64::from(entries.before(tile)),
            Way::Project(bins) => bins.before(tile) as f64,
        };
        let costs = (0..=tiles.count()).map(cost).collect();
        Some(Self { scene, prepared, entries, way, tiles, sizes, costs, circle })
    }

    /// The method that will be used.
    #[must_use]
    pub fn method(&self) -> Method {
        match self.way {
            Way::March => Method::March,
            Way::Project(_) => Method::Project,
        }
    }

    /// How many tetrahedra could not be sorted because some of them hide each other in a cycle.
    #[must_use]
    pub fn circle(&self) -> usize {
        self.circle
    }

    /// An empty picture of its size.
    #[must_use]
    pub fn picture(&self) -> Picture {
        Picture::new(self.sizes[0], self.sizes[1])
    }

    /// The loop that draws the frame, with this code path.
    ///
    /// # Panics
    /// If the picture has another size than the frame, or this processor does not support the level.
    #[must_use]
    pub fn rays<'f>(&'f self, picture: &'f mut Picture, level: Level) -> Rays<'f> {
        assert!(level.works(), "{level}");
        assert_eq!([picture.width(), picture.height()], self.sizes);
        let tiles =
            Cells::cut(&mut picture.cells, std::iter::repeat_n(TILE_PIXELS, self.tiles.count()));
        let tallies = (0..self.tiles.count()).map(|_| Mutex::default()).collect();
        Rays { frame: self, tiles, level, tallies }
    }

    /// Draws the frame on this thread.
    #[must_use]
    pub fn draw(&self, level: Level) -> (Picture, Tally) {
        let mut picture = self.picture();
        let rays = self.rays(&mut picture, level);
        rays.run(0..rays.units(), &mut ());
        let tally = rays.tally();
        drop(rays);
        (picture, tally)
    }

    fn tile(&self, tile: usize, level: Level, light: &mut Light) -> Tally {
        let corner = self.tiles.corner(tile);
        match &self.way {
            Way::March => {
                let sizes = [0, 1].map(|axis| (self.sizes[axis] as usize - corner[axis]).min(TILE));
                let (entries, pieces) = (self.entries.tile(tile), self.scene.pieces());
                march::tile(&self.prepared, entries, pieces, (corner, sizes), light)
            }
            Way::Project(bins) => {
                let work = Work {
                    records: &self.prepared.records,
                    notes: &self.prepared.notes,
                    list: bins.tile(tile),
                    pieces: self.scene.pieces(),
                    lens: self.prepared.lens,
                    corner,
                };
                Tally { segments: projected(&work, level, light), lost: 0 }
            }
        }
    }
}

fn projected(work: &Work, level: Level, light: &mut Light) -> u64 {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => crate::simd::rays_avx512::tile(work, light),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::rays_avx2::tile(work, light),
        _ => project::tile(work, light),
    }
}

/// The loop over a frame's tiles, by number from left to right and top to bottom.
pub struct Rays<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) tiles: Cells<'a, [f32; 4]>,
    level: Level,
    /// The statistics of each tile.
    tallies: Vec<Mutex<Tally>>,
}

impl Rays<'_> {
    /// The statistics of all tiles.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        (0..self.tallies.len()).for_each(|unit| sum.add(self.tally_of(unit)));
        sum
    }

    /// The statistics of a tile.
    pub(super) fn tally_of(&self, unit: usize) -> Tally {
        *lock(&self.tallies[unit])
    }

    /// Stores the statistics of a tile.
    pub(super) fn count(&self, unit: usize, tally: Tally) {
        *lock(&self.tallies[unit]) = tally;
    }
}

impl Loop for Rays<'_> {
    type Local = ();

    fn units(&self) -> usize {
        self.frame.tiles.count()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        // A tile without rays takes some time too.
        self.frame.costs[unit] + unit as f64
    }

    fn local(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        for unit in units {
            let mut light = Light::new();
            self.count(unit, self.frame.tile(unit, self.level, &mut light));
            let mut cells = self.tiles.part(unit);
            for (i, cell) in cells.iter_mut().enumerate() {
                let [r, g, b, through] = light.pixel(i % TILE, i / TILE);
                *cell = [r, g, b, 1.0 - through];
            }
        }
    }

    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        Some(self)
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}
