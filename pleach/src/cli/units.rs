//! `--threads`, `--devices` and `--slow`: the units that a run is to have.

use super::options::whole;
use pleach_run::cores;
use pleach_run::executor::gpu::count;
use pleach_run::executor::gpu::spec::{Kind, Spec};

/// Devices at most: no machine has more.
const MOST_DEVICES: usize = 64;

/// Threads and devices.
pub struct Units {
    /// Threads of the CPU.
    pub threads: u32,
    /// Devices.
    pub devices: Devices,
}

/// Devices, and the words for what is in force.
pub struct Devices {
    /// As `--devices` would have them.
    pub words: String,
    /// One each.
    pub specs: Vec<Spec>,
}

impl Units {
    /// Reads the flags; without `--devices` all GPUs that there are take part.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn read(threads: Option<&str>, devices: Option<&str>) -> Result<Self, String> {
        let wanted = match threads {
            None => cores(),
            Some(word) => whole("threads", word, 1, 1024)? as u32,
        };
        let Some(list) = devices else {
            let mut specs = all(&Spec::of(Kind::Gpu(0)), count().unwrap_or(0));
            // Nobody has asked for them: a problem that they cannot do is no fault.
            specs.iter_mut().for_each(|spec| spec.asked = false);
            let words = if specs.is_empty() { "cpu" } else { "cpu,gpu" }.to_string();
            return Ok(Self { threads: wanted, devices: Devices { words, specs } });
        };
        let (mut on_cpu, mut specs) = (false, Vec::new());
        for words in list.split(',') {
            let spec = || Spec::parse(words).map_err(|why| format!("--devices {why}"));
            match words.split(':').next() {
                Some("cpu") if words == "cpu" => on_cpu = true,
                Some("cpu") => return Err(format!("--devices {words}: cpu has no choices")),
                // Where there are none, the run says why.
                Some("gpu") => specs.extend(all(&spec()?, count().unwrap_or(1))),
                _ => specs.push(spec()?),
            }
        }
        if specs.len() > MOST_DEVICES {
            return Err(format!("--devices: expected {MOST_DEVICES} devices at most"));
        }
        if !on_cpu && threads.is_some() {
            return Err(format!("--threads: expected with cpu among --devices {list}"));
        }
        let devices = Devices { words: list.to_string(), specs };
        Ok(Self { threads: if on_cpu { wanted } else { 0 }, devices })
    }
}

/// The same for so many GPUs.
fn all(spec: &Spec, gpus: u32) -> Vec<Spec> {
    (0..gpus).map(|number| Spec { kind: Kind::Gpu(number), ..*spec }).collect()
}

/// How many times slower each thread is to be made.
///
/// # Errors
/// One line: which unit is none, or which factor.
pub fn slow_factors(words: &[&str], threads: u32) -> Result<Vec<f64>, String> {
    let mut factors = vec![1.0; threads as usize];
    for word in words.iter().filter(|&&word| word != "none") {
        let (unit, factor) = word.split_once('=').unwrap_or((word, ""));
        let at = unit.strip_prefix("cpu").and_then(|number| number.parse::<usize>().ok());
        let factor: Option<f64> = factor.parse().ok().filter(|f| (1.0..=1e6).contains(f));
        match (at.and_then(|at| factors.get_mut(at)), factor) {
            (Some(slot), Some(factor)) => *slot = factor,
            _ => {
                let units = match threads {
                    0 => "there is no thread to be slowed".into(),
                    _ => format!(
                        "a unit from cpu0 to cpu{} and a factor from 1 to 1000000",
                        threads - 1
                    ),
                };
                return Err(format!("--slow {word}: expected UNIT=FACTOR, {units}"));
            }
        }
    }
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_units_are_named() {
        assert_eq!(slow_factors(&["cpu1=4"], 2), Ok(vec![1.0, 4.0]));
        for bad in ["cpu2=4", "cpu0", "gpu0=2", "cpu0=0.5", "cpu0=inf"] {
            assert!(slow_factors(&[bad], 2).is_err(), "{bad}");
        }
    }

    #[test]
    fn devices_are_named() {
        let read = |threads, devices| {
            let units = Units::read(threads, devices)?;
            let kinds: Vec<String> =
                units.devices.specs.iter().map(|spec| spec.kind.to_string()).collect();
            Ok::<_, String>((units.threads, kinds.join(" ")))
        };
        assert_eq!(read(Some("3"), Some("cpu,gpu2")), Ok((3, "gpu2".into())));
        assert_eq!(read(None, Some("emulated,emulated")), Ok((0, "emulated emulated".into())));
        assert!(read(None, Some("cpu,gpu")).is_ok_and(|(_, gpus)| gpus.starts_with("gpu0")));
        for bad in ["cpu:explorers=2", "gpu:explorers=x", "", "cpu,,gpu"] {
            assert!(read(None, Some(bad)).is_err(), "{bad}");
        }
        assert!(read(Some("2"), Some("emulated")).is_err());
    }
}
