//! [`Inside`]: how the many explorers of one device share work among themselves.

/// The width of a window, unless it is given.
const WINDOW: u32 = 32;

/// How explorers without nodes get some from others inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// In a single launch: each looks in its own window, and together the windows cover all explorers. The fewer
    /// explorers are idle, the wider the windows.
    #[default]
    Windows,
    /// From the preceding explorer; in the next exchange from the one before that, and so on round the ring.
    Ring,
    /// From the nearest preceding explorer, within a window of this width, that has two nodes.
    Search(u32),
    /// From the nearest preceding explorer, within a window of this width, that has more than the mean.
    Large(u32),
    /// Like [`Inside::Large`], but the window advances from launch to launch, doubles while many are idle, and halves
    /// while few are.
    Adapt,
    /// From their neighbours in a hypercube, one launch per neighbour.
    Hypercube,
    /// Not at all: each explores what it was given, as in codes that divide work over a device once.
    None,
}

impl Inside {
    /// All values with their names.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Windows, "windows"),
        (Self::Ring, "ring"),
        (Self::Search(WINDOW), "search"),
        (Self::Large(WINDOW), "large"),
        (Self::Adapt, "adapt"),
        (Self::Hypercube, "hypercube"),
        (Self::None, "none"),
    ];

    /// Parses a name; with `search` and `large` the width of the window may follow, as in `search/64`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let (name, width) =
            word.split_once('/').map_or((word, None), |(name, width)| (name, Some(width)));
        let (inside, _) = Self::ALL.into_iter().find(|(_, known)| *known == name)?;
        let Some(width) = width else { return Some(inside) };
        let width = width.parse().ok().filter(|width| (1..=1 << 20).contains(width))?;
        match inside {
            Self::Search(_) => Some(Self::Search(width)),
            Self::Large(_) => Some(Self::Large(width)),
            _ => None,
        }
    }

    /// Whether it also works while some explorers take no part.
    #[must_use]
    pub fn takes_from_all(self) -> bool {
        self == Self::Windows
    }
}
