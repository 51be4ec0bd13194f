"""Draws meshes that VTK made and wrote with VTK's mappers and with Pleach, compares the pictures, and times both
on one thread: python rays.py FOLDER."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

PLACE, PIXELS, TIMES = Path(sys.argv[1]), 512, 3
AZIMUTH, ELEVATION = np.radians([30.0, 20.0])
# Value, red, green, blue, and extinction along the radius of the mesh.
CONTROLS = [(0.0, 0.1, 0.15, 0.6, 0.15), (0.3, 0.1, 0.55, 0.8, 0.6), (0.5, 0.2, 0.75, 0.35, 1.5),
            (0.7, 0.95, 0.8, 0.2, 3.0), (1.0, 0.85, 0.1, 0.1, 8.0)]


def ball(points):
    """Tetrahedra between random points of a ball, by VTK's own triangulation."""
    places = np.random.default_rng(1).normal(size=(points, 3))
    places *= (np.random.default_rng(2).random(points) ** (1 / 3) / np.linalg.norm(places, axis=1))[:, None]
    cloud = vtk.vtkPolyData()
    cloud.SetPoints(vtk.vtkPoints())
    cloud.GetPoints().SetData(numpy_to_vtk(places.astype(np.float32), deep=True))
    cut = vtk.vtkDelaunay3D()
    cut.SetInputData(cloud)
    cut.Update()
    return with_values(cut.GetOutput())


def box(a, b, c):
    """A box of cubes, cut into tetrahedra by VTK."""
    image = vtk.vtkImageData()
    image.SetDimensions(a, b, c)
    image.SetSpacing(2 / a, 2 / b, 2 / c)
    cut = vtk.vtkDataSetTriangleFilter()
    cut.SetInputData(image)
    cut.TetrahedraOnlyOn()
    cut.Update()
    return with_values(cut.GetOutput())


def with_values(mesh):
    places = vtk_to_numpy(mesh.GetPoints().GetData()).astype(float)
    waves = np.sin(4 * places[:, 0]) * np.cos(3 * places[:, 1]) + np.sin(5 * places[:, 2])
    low, high = waves.min(), waves.max()
    values = numpy_to_vtk(((waves - low) / (high - low)).astype(np.float32), deep=True)
    values.SetName("waves")
    mesh.GetPointData().SetScalars(values)
    return mesh


def sphere(mesh):
    places = vtk_to_numpy(mesh.GetPoints().GetData()).astype(float)
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    return middle, np.linalg.norm(places - middle, axis=1).max()


def drawn_by_vtk(mesh, mapper):
    """The best time of a frame in seconds, and the picture on black."""
    middle, radius = sphere(mesh)
    colours, opacities, most = vtk.vtkColorTransferFunction(), vtk.vtkPiecewiseFunction(), CONTROLS[-1][4]
    for value, red, green, blue, extinction in CONTROLS:
        colours.AddRGBPoint(value, red, green, blue)
        opacities.AddPoint(value, extinction / most)
    look = vtk.vtkVolumeProperty()
    look.SetColor(colours)
    look.SetScalarOpacity(opacities)
    look.SetScalarOpacityUnitDistance(radius / most)
    look.SetInterpolationTypeToLinear()
    look.ShadeOff()
    mapper.SetInputData(mesh)
    volume = vtk.vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(look)
    scene, window = vtk.vtkRenderer(), vtk.vtkRenderWindow()
    scene.SetBackground(0, 0, 0)
    scene.AddVolume(volume)
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(PIXELS, PIXELS)
    window.AddRenderer(scene)
    camera = scene.GetActiveCamera()
    towards = np.array([np.cos(ELEVATION) * np.cos(AZIMUTH), np.cos(ELEVATION) * np.sin(AZIMUTH), np.sin(ELEVATION)])
    camera.ParallelProjectionOn()
    camera.SetFocalPoint(*middle)
    camera.SetPosition(*(middle + 3 * radius * towards))
    camera.SetViewUp(0, 0, 1)
    camera.SetParallelScale(radius)
    camera.SetClippingRange(radius, 5 * radius)
    best = np.inf
    for _ in range(TIMES):
        # A change of the mesh would let VTK prepare everything again; a change of the view is what a user makes.
        camera.Modified()
        began = time.perf_counter()
        window.Render()
        window.WaitForCompletion()
        best = min(best, time.perf_counter() - began)
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    pixels = vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars())[:, :3]
    return best, pixels.reshape(PIXELS, PIXELS, 3)[::-1] / 255


def drawn_by_pleach(mesh, *flags):
    _, radius = sphere(mesh)
    lines = [f"{v} {r} {g} {b} {e / radius:.9g}" for v, r, g, b, e in CONTROLS]
    (PLACE / "transfer.txt").write_text("\n".join(lines) + "\n")
    write = vtk.vtkXMLUnstructuredGridWriter()
    write.SetFileName(str(PLACE / "mesh.vtu"))
    write.SetInputData(mesh)
    write.Write()
    words = ["target/release/pleach", "loop", "rays", PLACE / "mesh.vtu", "--transfer", PLACE / "transfer.txt"]
    words += ["--threads", "1", "--repeat", "7", "--size", f"{PIXELS}x{PIXELS}", "--out", PLACE / "out.png", "--json"]
    done = subprocess.run([*words, *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"pleach: {done.stderr}")
    read = vtk.vtkPNGReader()
    read.SetFileName(str(PLACE / "out.png"))
    read.Update()
    pixels = vtk_to_numpy(read.GetOutput().GetPointData().GetScalars()).reshape(PIXELS, PIXELS, 4)[::-1] / 255
    return json.loads(done.stdout)["loop"]["seconds"], pixels[:, :, :3] * pixels[:, :, 3:]


def mappers():
    """VTK's ways to draw such a mesh, by name. The last needs OpenGL: without a GPU, Mesa's in software."""
    cast = vtk.vtkUnstructuredGridVolumeRayCastMapper()
    cast.SetNumberOfThreads(1)
    cast.AutoAdjustSampleDistancesOff()
    yield "ray casting", cast
    yield "sweeping", vtk.vtkUnstructuredGridVolumeZSweepMapper()
    yield "projected tetrahedra", vtk.vtkProjectedTetrahedraMapper()


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"VTK {vtk.vtkVersion().GetVTKVersion()}, one thread, {PIXELS} × {PIXELS}, best frame")
    for name, mesh in (("ball of 2,200 points", ball(2200)), ("box of 36,000 cubes", box(41, 31, 31))):
        print(f"{name}: {mesh.GetNumberOfCells()} tetrahedra")
        for words, flags in (("marching", ["--method", "march"]), ("projecting", []), ("projecting, AVX2", ["--simd", "avx2"])):
            ours, picture = drawn_by_pleach(mesh, *flags)
            print(f"  Pleach, {words}: {ours * 1e3:.0f} ms")
        fastest, _ = drawn_by_pleach(mesh)
        for words, mapper in mappers():
            theirs, other = drawn_by_vtk(mesh, mapper)
            apart = abs(other - picture) * 255
            far = np.percentile(apart, 99)
            print(f"  VTK, {words}: {theirs * 1e3:.0f} ms, {theirs / fastest:.1f} times as long as Pleach, projecting; "
                  f"pictures apart by {apart.mean():.1f} of 255 on average, 99 % of it below {far:.0f}", flush=True)



main()
