//! [`Spec`]: which device to use and how, as in `emulated:explorers=33:inside=hypercube`.

use super::form::{Form, Handling};
use super::slots::MOST_SLOTS;
use super::{BoundingMode, Exchange, Givers, Inside};
use pleach_core::search::named::named;

/// A kind of device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// The kernels run on the CPU, for tests.
    #[default]
    Emulated,
    /// A GPU, by number.
    Gpu(u32),
}

/// What a device does for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It explores.
    Explore,
    /// It bounds the nodes that the host branches.
    Evaluate,
}

named!(Mode { Explore = "explore", Evaluate = "evaluate" });

/// A device with options; options that are not given are tuned while running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Which device.
    pub kind: DeviceKind,
    /// What the device does; by default what there is a kernel for, or what a trial shows to be faster.
    pub mode: Option<Mode>,
    /// The number of batches under way, if it bounds.
    pub rmax: Option<u32>,
    /// The number of parents in a batch, if it bounds.
    pub pool: Option<u32>,
    /// Whether the kernel of a loop is launched only once and then fed.
    pub once: bool,
    /// The number of stacks, each with its own explorer.
    pub explorers: Option<u32>,
    /// How explorers of intervals bound; by default the mode that has a kernel, and alone if both have one.
    pub bounding: Option<BoundingMode>,
    /// Whether explorers give nodes to one another inside a launch; by default where that is faster.
    pub giving: Option<bool>,
    /// How explorers exchange nodes.
    pub inside: Option<Inside>,
    /// How work arrives and leaves.
    pub exchange: Option<Exchange>,
    /// The depth to which the host explores arriving work.
    pub second_cutoff: Option<u32>,
    /// Steps per round.
    pub budget: Option<u32>,
    /// The number of explorers without work at which a round ends.
    pub trigger: Option<u32>,
    /// How it gets its kernels, and how long they may run; only for GPUs.
    pub handling: Handling,
    /// The launch in which the device fails, or 0 if it cannot be opened; only for the emulated one.
    pub fail: Option<u32>,
    /// Milliseconds that opening it takes; only for the emulated one.
    pub late: Option<u32>,
    /// Whether to warn if the problem cannot use the device.
    pub asked: bool,
}

impl Spec {
    /// A device without options.
    #[must_use]
    pub fn of(kind: DeviceKind) -> Self {
        Self { kind, asked: true, ..Self::default() }
    }

    /// The same options for each of this number of GPUs.
    #[must_use]
    pub fn on_gpus(self, gpus: u32) -> Vec<Self> {
        (0..gpus).map(|number| Self { kind: DeviceKind::Gpu(number), ..self }).collect()
    }

    /// Parses `emulated`, `gpu` or `gpu0`, with `key=value` after colons.
    ///
    /// # Errors
    /// If `words` does not name a device: what is wrong, and what was expected.
    pub fn parse(words: &str) -> Result<Self, String> {
        let mut parts = words.split(':');
        let name = parts.next().unwrap_or("");
        let number = name.strip_prefix("gpu").map(|digits| match digits {
            "" => Some(0),
            _ => digits.parse().ok(),
        });
        let kind = match (name, number) {
            ("emulated", _) => DeviceKind::Emulated,
            (_, Some(Some(number))) => DeviceKind::Gpu(number),
            _ => return Err(format!("'{name}': expected cpu, gpu, gpu0 and so on, or emulated")),
        };
        let mut spec = Self::of(kind);
        for part in parts {
            spec.set(part).map_err(|expected| format!("{words}: '{part}', {expected}"))?;
        }
        spec.settle().map_err(|why| format!("{words}: {why}"))?;
        if spec.handling.lines && spec.handling.form == Some(Form::Committed) {
            return Err(format!("{words}: lineinfo=yes has no effect on form=committed"));
        }
        Ok(spec)
    }

    /// Whether it has options that only apply to searches.
    #[must_use]
    pub fn is_for_searches(&self) -> bool {
        let slots = self.rmax.is_some() && self.pool.is_none();
        self.mode.is_some() && !slots
    }

    fn set(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let number = |most: u32| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.map(Some).ok_or_else(|| format!("expected a whole number from 1 to {most}"))
        };
        let gpu = matches!(self.kind, DeviceKind::Gpu(_));
        match (key, value) {
            ("mode", "explore") => self.mode = Some(Mode::Explore),
            ("mode", "evaluate") => self.mode = Some(Mode::Evaluate),
            ("mode", _) => return Err("expected explore or evaluate".into()),
            ("rmax", _) => self.rmax = number(MOST_SLOTS)?,
            ("pool", _) => self.pool = number(1 << 20)?,
            ("launch", "once") => self.once = true,
            ("launch", _) => return Err("expected once".into()),
            ("form", "compiled") if gpu => self.handling.form = Some(Form::Compiled),
            ("form", "committed") if gpu => self.handling.form = Some(Form::Committed),
            ("form", _) if gpu => return Err("expected compiled or committed".into()),
            ("lineinfo", "yes") if gpu => self.handling.lines = true,
            ("lineinfo", _) if gpu => return Err("expected yes".into()),
            ("wait", _) if gpu => self.handling.wait = number(86_400)?,
            ("explorers", _) => self.explorers = number(1 << 20)?,
            ("bounding", "alone") => self.bounding = Some(BoundingMode::Alone),
            ("bounding", "parallel") => self.bounding = Some(BoundingMode::Parallel),
            ("giving", "always") => self.giving = Some(true),
            ("giving", "never") => self.giving = Some(false),
            ("giving", _) => return Err("expected always or never".into()),
            ("bounding", _) => return Err("expected alone or parallel".into()),
            ("put", "spread" | "one") => {
                self.exchange.get_or_insert_default().one_gets = value == "one";
            }
            ("put", _) => return Err("expected spread or one".into()),
            ("take", name) => {
                let gives = match name {
                    "even" => Givers::Even,
                    "one" => Givers::One,
                    "each" => Givers::Each,
                    _ => return Err("expected even, one or each".into()),
                };
                self.exchange.get_or_insert_default().gives = gives;
            }
            ("second_cutoff", _) => self.second_cutoff = number(1000)?,
            ("budget", _) => self.budget = number(1_000_000)?,
            ("trigger", "0") => self.trigger = Some(0),
            ("trigger", _) => self.trigger = number(1 << 20)?,
            ("fail", "0") if self.kind == DeviceKind::Emulated => self.fail = Some(0),
            ("late", _) if self.kind == DeviceKind::Emulated => self.late = number(86_400_000)?,
            ("fail", _) if self.kind == DeviceKind::Emulated => self.fail = number(u32::MAX)?,
            ("inside", name) => {
                let expected =
                    "expected windows, ring, search/N, large/N, adapt, hypercube or none";
                self.inside = Some(Inside::parse(name).ok_or(expected)?);
            }
            _ => {
                return Err(
                    "expected mode, rmax, pool, launch, explorers, bounding, giving, inside, put, take, \
                            second_cutoff, budget, trigger, form, lineinfo, wait (gpu), or fail, late (emulated)"
                        .into(),
                );
            }
        }
        Ok(())
    }

    /// Derives the mode from options that only one mode has; rejects options without effect.
    fn settle(&mut self) -> Result<(), &'static str> {
        let evaluates = self.rmax.is_some() || self.pool.is_some();
        let numbers = [self.explorers, self.budget, self.trigger, self.second_cutoff];
        let ways = self.inside.is_some() || self.exchange.is_some() || self.bounding.is_some();
        let explores = ways || self.giving.is_some() || numbers.iter().any(Option::is_some);
        if self.inside == Some(Inside::None) && self.trigger.is_some() {
            return Err("trigger has no effect with inside=none");
        }
        if self.inside == Some(Inside::None) && self.giving == Some(true) {
            return Err("giving=always contradicts inside=none, with which explorers give nothing");
        }
        if self.trigger == Some(0) && self.giving == Some(true) {
            return Err("trigger=0 ends a round after every step: giving=always has no effect");
        }
        if self.trigger == Some(0) && self.budget.is_some() {
            return Err("trigger=0 ends a round after every step: budget has no effect");
        }
        if evaluates && (explores || self.mode == Some(Mode::Explore)) {
            return Err("rmax and pool are for mode=evaluate only");
        }
        if explores && self.mode == Some(Mode::Evaluate) {
            return Err(
                "explorers, bounding, giving, inside, put, take, second_cutoff, budget and trigger are for \
                 mode=explore only",
            );
        }
        if evaluates {
            self.mode = Some(Mode::Evaluate);
        } else if explores {
            self.mode = Some(Mode::Explore);
        }
        Ok(())
    }
}

/// The names of devices: GPUs keep their numbers, emulated devices are numbered in the order given.
#[must_use]
pub fn names(specs: &[Spec]) -> Vec<String> {
    let mut emulated = 0..;
    let name = |spec: &Spec| match spec.kind {
        DeviceKind::Emulated => format!("emulated{}", emulated.next().unwrap_or(0)),
        gpu @ DeviceKind::Gpu(_) => gpu.to_string(),
    };
    specs.iter().map(name).collect()
}

/// A GPU that is named more than once: its workers would wait for one another.
#[must_use]
pub fn repeated(specs: &[Spec]) -> Option<DeviceKind> {
    let kinds = || specs.iter().map(|spec| spec.kind);
    let is_repeated = |kind: &DeviceKind| kinds().filter(|other| other == kind).count() > 1;
    kinds().filter(|kind| *kind != DeviceKind::Emulated).find(is_repeated)
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DeviceKind::Emulated => f.write_str("emulated"),
            DeviceKind::Gpu(number) => write!(f, "gpu{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_parsed() {
        assert_eq!(Spec::parse("gpu"), Ok(Spec::of(DeviceKind::Gpu(0))));
        assert_eq!(Spec::parse("gpu3"), Ok(Spec::of(DeviceKind::Gpu(3))));
        let spec =
            Spec::parse("emulated:explorers=33:inside=adapt:budget=5:trigger=2:fail=9:late=5")
                .unwrap();
        assert_eq!((spec.explorers, spec.inside), (Some(33), Some(Inside::Adapt)));
        assert_eq!((spec.budget, spec.trigger, spec.fail), (Some(5), Some(2), Some(9)));
        assert_eq!(spec.late, Some(5));
        assert!(Spec::parse("emulated:launch=once:rmax=3").unwrap().once);
        let inside = |words| Spec::parse(words).unwrap().inside;
        assert_eq!(inside("gpu:inside=search/64"), Some(Inside::Search(64)));
        assert_eq!(inside("gpu:inside=large"), Inside::parse("large"));
        let spec = Spec::parse("gpu1:form=compiled:lineinfo=yes:wait=3").unwrap();
        let wanted = Handling { form: Some(Form::Compiled), lines: true, wait: Some(3) };
        assert_eq!(spec.handling, wanted);
        for bad in [
            "",
            "gpux",
            "cuda",
            "emulated:explorers=0",
            "emulated:form=compiled",
            "gpu:fail=1",
            "gpu:late=1",
            "gpu:inside=rings",
            "gpu:inside=ring/2",
            "gpu:inside=search/0",
            "gpu:take=both",
            "gpu:launch=twice",
            "gpu:bounding=two",
            "gpu:giving=yes",
            "gpu:giving=always:inside=none",
            "gpu:giving=always:trigger=0",
            "gpu:bounding=parallel:mode=evaluate",
            "gpu:x=1",
            "gpu:form=cached",
            "gpu:wait=0",
            "gpu:lineinfo=yes:form=committed",
        ] {
            assert!(Spec::parse(bad).is_err(), "{bad}");
        }
    }
}
