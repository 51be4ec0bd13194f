//! [`KernelForms`]: a kernel's code for a GPU: cached, compiled now, or shipped ready for any instance.

use super::compile::compile;
use super::form::{Form, Handling};
use pleach_core::device::Layout;
use pleach_core::wire::fingerprint;
use pleach_kernels::{ptx, source};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The available forms of a kernel, best first.
pub(super) struct KernelForms<'l> {
    layout: &'l Layout,
    source: String,
    options: Vec<String>,
    /// Where compiled code is cached.
    path: Option<PathBuf>,
    /// The code compiled last, to be cached if the driver accepts it.
    made: Option<Vec<u8>>,
    /// The same as text.
    text: Option<String>,
    handling: Handling,
    next: u32,
}

impl<'l> KernelForms<'l> {
    /// The forms that are allowed, for a GPU of this compute capability.
    pub fn new(layout: &'l Layout, (major, minor): (i32, i32), handling: Handling) -> Self {
        let source = source(layout.kernel).unwrap_or_default();
        let sizes = layout.sizes.iter().enumerate();
        let mut options: Vec<String> =
            sizes.map(|(i, size)| format!("-DSIZE_{i}={size}")).collect();
        options.push(format!("--gpu-architecture=sm_{major}{minor}"));
        options.push("--std=c++17".into());
        if handling.lines {
            options.push("--generate-line-info".into());
        }
        let print =
            fingerprint("kernel", &(source.clone().into_bytes(), options.concat().into_bytes()));
        let name = format!("{}-{print:016x}", layout.kernel);
        let path = cache().map(|folder| folder.join(name));
        Self { layout, source, options, path, made: None, text: None, handling, next: 0 }
    }

    /// The cached form, if any.
    fn cached(&self) -> Option<Vec<u8>> {
        unsealed(fs::read(self.path.as_ref()?).ok()?)
    }

    /// Compiled now, with the sizes as constants.
    fn compiled(&mut self) -> Result<Vec<u8>, String> {
        let made = compile(&self.source, &self.options)?;
        (self.made, self.text) = (Some(made.machine.clone()), Some(made.text));
        Ok(made.machine)
    }

    /// The compiled text, marked for a driver older than the compiler: it rarely needs a newer one.
    fn lowered(&mut self) -> Option<Vec<u8>> {
        let older = |line: &str| match line.trim_start() {
            hint if hint.starts_with(".pragma \"used_bytes_mask") => None,
            version if version.starts_with(".version ") => Some(".version 8.0".to_string()),
            _ => Some(line.to_string()),
        };
        let lines: Vec<String> = self.text.take()?.lines().filter_map(older).collect();
        self.made = Some(lines.join("\n").into_bytes());
        self.made.clone()
    }

    /// Caches the code compiled last, once the driver has accepted it.
    pub fn keep(&self) {
        let (Some(made), Some(path)) = (&self.made, &self.path) else { return };
        // A failure only costs compiling again; a half-written file would be worse.
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let aside = path.with_extension(format!("{}-{number}", std::process::id()));
        let folder = path.parent().map(fs::create_dir_all);
        let written = folder.map(|_| fs::write(&aside, sealed(made)));
        if matches!(written, Some(Ok(()))) {
            let _ = fs::rename(aside, path);
        }
    }

    /// The form for any instance, for machines that cannot compile.
    fn general(&mut self) -> Option<Vec<u8>> {
        self.made = None;
        ptx(self.layout.kernel).map(|text| text.as_bytes().to_vec())
    }
}

impl Iterator for KernelForms<'_> {
    type Item = (Form, Result<Vec<u8>, String>);

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
            let code = match form {
                Form::Cached => self.cached().map(Ok),
                Form::Compiled => Some(self.compiled()),
                Form::Lowered => self.lowered().map(Ok),
                Form::Committed => self.general().map(Ok),
            };
            if let Some(code) = code {
                return Some((form, code));
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

fn seal(code: &[u8]) -> [u8; 8] {
    fingerprint("code", &code.to_vec()).to_le_bytes()
}

/// Code with its print behind it. The driver is not told how long code is, so it would read beyond a file that was
/// cut off.
fn sealed(code: &[u8]) -> Vec<u8> {
    [code, &seal(code)].concat()
}

/// The code of a file that is whole.
fn unsealed(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let print = file.split_off(file.len().checked_sub(8)?);
    (seal(&file)[..] == print[..]).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_read() {
        let file = sealed(b"code");
        assert_eq!(unsealed(file.clone()), Some(b"code".to_vec()));
        for cut in 0..file.len() {
            assert_eq!(unsealed(file[..cut].to_vec()), None);
            let mut other = file.clone();
            other[cut] ^= 1;
            assert_eq!(unsealed(other), None);
        }
    }
}
