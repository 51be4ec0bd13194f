//! [`KernelForms`]: a kernel compiled for a GPU: cached, compiled now, or shipped ready for any
//! instance.

use super::form::{Form, Handling, in_one_line};
use super::nvrtc;
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use pleach_core::device::Layout;
use pleach_core::wire::fingerprint;
use pleach_kernels::{ptx, source};
use std::fs;
use std::path::PathBuf;

/// The available forms of a kernel, best first.
pub(super) struct KernelForms<'l> {
    layout: &'l Layout,
    text: String,
    options: Vec<String>,
    /// Where a compiled kernel is cached.
    path: Option<PathBuf>,
    /// The text compiled last.
    made: Option<String>,
    handling: Handling,
    next: u32,
}

impl<'l> KernelForms<'l> {
    /// The forms that are allowed, for a GPU of this compute capability.
    pub fn new(layout: &'l Layout, (major, minor): (i32, i32), handling: Handling) -> Self {
        let text = source(layout.kernel).unwrap_or_default();
        let sizes = layout.sizes.iter().enumerate();
        let mut options: Vec<String> =
            sizes.map(|(i, size)| format!("-DSIZE_{i}={size}")).collect();
        options.push(format!("--gpu-architecture=compute_{major}{minor}"));
        options.push("--std=c++17".into());
        if handling.lines {
            options.push("--generate-line-info".into());
        }
        let print =
            fingerprint("kernel", &(text.clone().into_bytes(), options.concat().into_bytes()));
        let name = format!("{}-{print:016x}.ptx", layout.kernel);
        let path = cache().map(|folder| folder.join(name));
        Self { layout, text, options, path, made: None, handling, next: 0 }
    }

    /// The cached form, if any. The driver would stop reading at a zero byte.
    fn cached(&self) -> Option<Result<String, String>> {
        let text = fs::read_to_string(self.path.as_ref()?).ok();
        text.filter(|text| !text.contains('\0')).map(Ok)
    }

    /// Compiled now, with the sizes as constants.
    fn compiled(&mut self) -> Option<Result<String, String>> {
        if !nvrtc::find() {
            return Some(Err("NVRTC not found; PLEACH_NVRTC may name its folder".into()));
        }
        let options = CompileOptions { options: self.options.clone(), ..CompileOptions::default() };
        let made = compile_ptx_with_opts(&self.text, options).map(|made| made.to_src());
        self.made = made.as_ref().ok().cloned();
        Some(made.map_err(|why| match why {
            CompileError::CompileError { nvrtc, log, .. } => {
                in_one_line(&format!("{nvrtc}\n{}", log.to_string_lossy()))
            }
            other => other.to_string(),
        }))
    }

    /// The compiled form, marked for a driver older than the compiler: it rarely needs a newer one.
    fn lowered(&mut self) -> Option<Result<String, String>> {
        let older = |line: &str| match line.trim_start() {
            hint if hint.starts_with(".pragma \"used_bytes_mask") => None,
            version if version.starts_with(".version ") => Some(".version 8.0".to_string()),
            _ => Some(line.to_string()),
        };
        let lines: Vec<String> = self.made.as_ref()?.lines().filter_map(older).collect();
        self.made = Some(lines.join("\n"));
        self.made.clone().map(Ok)
    }

    /// Caches the text compiled last, once the driver has accepted it.
    pub fn keep(&self) {
        let (Some(made), Some(path)) = (&self.made, &self.path) else { return };
        // A failure only costs compiling again; a half-written file would be worse.
        let aside = path.with_extension(format!("{}", std::process::id()));
        let folder = path.parent().map(fs::create_dir_all);
        let written = folder.map(|_| fs::write(&aside, made));
        if matches!(written, Some(Ok(()))) {
            let _ = fs::rename(aside, path);
        }
    }

    /// The form for any instance, for machines that cannot compile.
    fn general(&mut self) -> Option<Result<String, String>> {
        self.made = None;
        ptx(self.layout.kernel).map(|text| Ok(text.into()))
    }
}

impl Iterator for KernelForms<'_> {
    type Item = (Form, Result<String, String>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.next += 1;
            let form = match self.next {
                1 => Form::Cached,
                2 => Form::Compiled,
                3 => Form::Lowered,
                4 => Form::Committed,
                _ => return None,
            };
            if !self.handling.allows(form) {
                continue;
            }
            let text = match form {
                Form::Cached => self.cached(),
                Form::Compiled => self.compiled(),
                Form::Lowered => self.lowered(),
                Form::Committed => self.general(),
            };
            if let Some(text) = text {
                return Some((form, text));
            }
        }
    }
}

/// The folder for compiled kernels.
fn cache() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(folder.or_else(home)?.join("pleach"))
}
