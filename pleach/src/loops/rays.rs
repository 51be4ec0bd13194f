//! The entry of rays through tetrahedra.

use super::entry::{Job, LoopCommand, LoopEntry, LoopOutput};
use super::runner::Runner;
use crate::cli::flags::{METHOD, NEAR, SIZE, Use, VIEW, ZOOM};
use crate::failure::{Failure, usage};
use pleach_core::search::level::Level;
use pleach_loops::looping::Loop;
use pleach_loops::png::write_png;
use pleach_loops::rays::frame::{Frame, Method, Settings};
use pleach_loops::rays::march::Tally;
use pleach_loops::rays::mesh::Mesh;
use pleach_loops::rays::picture::Picture;
use pleach_loops::rays::scene::Scene;
use pleach_loops::rays::stage::Stage;
use pleach_loops::rays::transfer::Transfer;
use pleach_loops::rays::view::View;
use pleach_loops::rays::vtk;
use serde_json::json;

/// See [`LoopEntry`].
pub const ENTRY: LoopEntry = LoopEntry {
    name: "rays",
    about: "a picture of the values inside a mesh (volume rendering)",
    words: "a mesh: a VTK file (.vtk or .vtu), sphere:TETRAHEDRA, cube:CUBES, bluntfin:AxBxC or random:POINTS",
    takes: (1, 1),
    is_file,
    shared: true,
    flags: &[
        Use::with("size", "size of the picture in pixels", "512x512"),
        Use::plain("values"),
        Use::plain("view"),
        Use::plain("zoom"),
        Use::plain("near"),
        Use::plain("transfer"),
        Use::plain("method"),
        Use::with("out", "write the picture (PNG)", ""),
    ],
    examples: &[
        "loop rays bluntfin:40x32x32 --size 512x512 --out fin.png",
        "loop rays sphere:2000 --view 0,90",
    ],
    writes: &["png"],
    prepare,
};

fn prepare(command: &LoopCommand<'_>) -> Result<Box<dyn Job>, Failure> {
    let (word, given) = (&command.words[0], command.given);
    let mesh = mesh(command, word)?;
    let [width, height] = given.get(&SIZE)?.unwrap_or(vec![512, 512])[..] else {
        let size = given.word("size").unwrap_or_default();
        return usage(format!("--size {size}: expected WIDTHxHEIGHT"));
    };
    let [azimuth_degrees, elevation_degrees] = given.get(&VIEW)?.unwrap_or([30.0, 20.0]);
    let zoom = given.get(&ZOOM)?.unwrap_or(1.0);
    let near = given.get(&NEAR)?;
    let view = View { azimuth_degrees, elevation_degrees, width, height, zoom, near };
    view.axes(&mesh).or_else(|why| usage(format!("rays {word}: {why}")))?;
    let transfer = match given.word("transfer") {
        Some(file) => {
            let text =
                command.text(file).or_else(|why| usage(format!("--transfer {file}: {why}")))?;
            Transfer::parse(&text).or_else(|why| usage(format!("--transfer {file}: {why}")))?
        }
        None => Transfer::usual(mesh.range(), mesh.sphere().1),
    };
    let level = given.simd()?;
    let method = given.get(&METHOD)?.unwrap_or(Method::Project);
    let picture = Picture::new(width, height);
    let scene = Scene::owning(mesh, &transfer);
    Ok(Box::new(Drawing { scene, view, method, level, picture, drawn: Drawn::default() }))
}

/// The mesh that a word names, with the values of one array of its file.
fn mesh(command: &LoopCommand<'_>, word: &str) -> Result<Mesh, Failure> {
    if !command.is_file(word, is_file)
        && let Some(mesh) = Mesh::named(word)
    {
        return mesh.map_err(Failure::Usage);
    }
    let bytes = command
        .bytes(word)
        .or_else(|why| usage(format!("{word}: {why}; expected {}", ENTRY.words)))?;
    vtk::read(&bytes, command.given.word("values")).or_else(|why| usage(format!("{word}: {why}")))
}

fn is_file(word: &str) -> bool {
    std::path::Path::new(word).exists() || !word.contains(':')
}

/// What a picture is made of.
struct Drawing {
    scene: Scene<'static>,
    view: View,
    method: Method,
    level: Level,
    picture: Picture,
    drawn: Drawn,
}

/// Statistics about a picture.
#[derive(Default)]
struct Drawn {
    units: u64,
    tally: Tally,
    marched: bool,
}

impl Job for Drawing {
    fn run(&mut self, runner: &mut Runner<'_>) -> Result<(), Failure> {
        let settings = Settings { method: self.method, ..Settings::default() };
        let mut outcome = Ok(Some(()));
        let mut run = |stage: &Stage<'_>| {
            outcome = runner.prepare(stage);
            matches!(outcome, Ok(Some(())))
        };
        let frame = Frame::prepare(&self.scene, &self.view, settings, &mut run);
        let Some(frame) = frame.map_err(Failure::Usage)? else { return outcome.map(|_| ()) };
        let rays = frame.rays(&mut self.picture, self.level);
        self.drawn = Drawn {
            units: rays.units() as u64,
            marched: frame.method() == Method::March,
            ..Drawn::default()
        };
        runner.run(&rays)?;
        self.drawn.tally = rays.tally();
        Ok(())
    }

    fn found(&self) -> LoopOutput {
        let Drawn { units, tally, marched } = &self.drawn;
        let (tets, method) =
            (self.scene.mesh().tets().len(), if *marched { "march" } else { "project" });
        let (width, height) = (self.picture.width(), self.picture.height());
        LoopOutput {
            units: *units,
            checksum: self.picture.checksum() as f64,
            work: (f64::from(width) * f64::from(height), "rays"),
            more: vec![
                ("tetrahedra", json!(tets)),
                ("degenerate", json!(self.scene.mesh().dropped())),
                ("segments", json!(tally.segments)),
                ("lost", json!(tally.lost)),
                ("method", json!(method)),
            ],
            phrase: format!(
                "{width} × {height} pixels, {tets} tetrahedra, {} segments by {method}",
                tally.segments
            ),
        }
    }

    fn file(&self, _: &LoopCommand<'_>) -> Result<Vec<u8>, Failure> {
        let pixels = self.picture.rgba(None);
        write_png(self.picture.width(), self.picture.height(), &[pixels]).map_err(Failure::Inside)
    }
}
