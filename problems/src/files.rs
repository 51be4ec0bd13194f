//! [`files`]: instances by name, with their optima, from a folder of this crate's files.

/// Defines the functions `names`, `file` and `optimum` for files with these names; a name may be given with its ending.
macro_rules! files {
    (
        $include:ident($folder:literal, $ending:literal $packed:literal) -> $content:ty;
        $($name:literal $optimum:literal),* $(,)?
    ) => {
        /// Name, optimum and file.
        static FILES: &[(&str, i64, &$content)] = &[
            $(($name, $optimum, $include!(concat!("../../data/", $folder, "/", $name, $ending, $packed)))),*
        ];

        /// The names of all files, in order.
        pub fn names() -> impl Iterator<Item = &'static str> {
            FILES.iter().map(|(name, ..)| *name)
        }

        fn file(name: &str) -> Option<&'static (&'static str, i64, &'static $content)> {
            let name = name.strip_suffix($ending).unwrap_or(name);
            FILES.iter().find(|(known, ..)| *known == name)
        }

        /// The published optimum of a named instance.
        #[must_use]
        pub fn optimum(name: &str) -> Option<i64> {
            file(name).map(|(_, optimum, _)| *optimum)
        }
    };
}

pub(crate) use files;
