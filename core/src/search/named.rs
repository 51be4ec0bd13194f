//! [`named`]: enums whose values have names.

/// Names the values of an enum: gives it `ALL`, `Display` and, with a list of what is expected, `parse`.
#[doc(hidden)]
#[macro_export]
macro_rules! __named {
    ($enum:ident { $($value:ident = $name:literal),+ $(,)? } $($expected:literal)?) => {
        impl $enum {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];
            $(
                /// Parses a name.
                ///
                /// # Errors
                /// If the name is unknown.
                pub fn parse(word: &str) -> Result<Self, String> {
                    let known = Self::ALL.into_iter().find(|known| known.to_string() == word);
                    known.ok_or_else(|| format!("'{word}': expected {}", $expected))
                }
            )?
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$value => $name),+ })
            }
        }
    };
}
pub use __named as named;
