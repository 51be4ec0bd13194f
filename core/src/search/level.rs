//! [`Level`]: which vector instructions to use, detected once or forced.

use super::named::named;

/// A code path. No exact result, such as a count, depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain code only.
    Off,
    /// AVX2 and FMA, with the SHA instructions where they help.
    Avx2,
    /// AVX-512 with VBMI and VBMI2.
    Avx512,
}

named!(Level { Off = "off", Avx2 = "avx2", Avx512 = "avx512" });

impl Level {
    /// Whether this processor supports the level.
    #[must_use]
    pub fn works(self) -> bool {
        match self {
            Level::Off => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.works()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest level that this processor supports.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rfind(|level| level.works()).unwrap_or(Level::Off)
    }

    /// Parses `auto`, `off`, `avx2` or `avx512`.
    ///
    /// # Errors
    /// If the word is unknown, or this processor does not support the level.
    pub fn parse(word: &str) -> Result<Self, String> {
        if word == "auto" {
            return Ok(Self::best());
        }
        let level = Self::ALL.into_iter().find(|level| level.to_string() == word);
        let level = level.ok_or_else(|| format!("'{word}': expected auto, off, avx2 or avx512"))?;
        if level.works() {
            Ok(level)
        } else {
            Err(format!("this processor does not support {word}"))
        }
    }
}
