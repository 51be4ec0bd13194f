//! Casts rays through meshes of tetrahedra: pictures of a value inside a volume.

mod bins;
mod boundary;
mod delaunay;
mod device;
pub mod frame;
pub mod generate;
pub mod march;
pub mod mesh;
pub mod order;
pub mod picture;
pub mod prepare;
pub mod project;
pub mod record;
pub mod remote;
pub mod scene;
pub mod shade;
pub mod stage;
pub mod transfer;
pub mod view;
pub mod vtk;
