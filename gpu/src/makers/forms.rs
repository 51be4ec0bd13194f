//! [`KernelForms`]: a kernel's code for a GPU: cached, compiled now, or shipped with Pleach for any instance.

use super::cache::CodeFile;
use super::compile::compile;
use crate::form::{Form, Handling};
use pleach_core::search::device::Layout;
use pleach_kernels::{ptx, source};

/// The available forms of a kernel, best first.
pub(super) struct KernelForms<'l> {
    layout: &'l Layout,
    source: String,
    options: Vec<String>,
    /// Where compiled code is cached.
    file: CodeFile,
    /// The code compiled last, to be cached if the driver accepts it.
    made: Option<Vec<u8>>,
    /// The same code as PTX.
    text: Option<String>,
    handling: Handling,
    next: usize,
}

impl<'l> KernelForms<'l> {
    /// The allowed forms, for a GPU of this compute capability.
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
        let file = CodeFile::of(layout.kernel, &source, &options);
        Self { layout, source, options, file, made: None, text: None, handling, next: 0 }
    }

    /// Compiles with the sizes as constants.
    fn compiled(&mut self) -> Result<Vec<u8>, String> {
        let made = compile(&self.source, &self.options)?;
        (self.made, self.text) = (Some(made.machine.clone()), Some(made.text));
        Ok(made.machine)
    }

    /// The compiled PTX, marked for a driver older than the compiler; it rarely needs the newer one.
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

    /// Caches the code compiled last; call this once the driver has accepted it.
    pub fn keep(&self) {
        self.made.iter().for_each(|made| self.file.keep(made));
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
            let form = *Form::ALL.get(self.next)?;
            self.next += 1;
            if !self.handling.allows(form) {
                continue;
            }
            let code = match form {
                Form::Cached => self.file.read().map(Ok),
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
