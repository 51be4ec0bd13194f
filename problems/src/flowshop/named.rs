//! Instances by name: Taillard's 120 (1993) and the 480 of Vallada, Ruiz and Framinan (2015), all from the generators
//! they were made with.

use super::instance::Instance;

/// Jobs and machines of Taillard's twelve classes, ten instances each.
const CLASSES: [(usize, usize); 12] = [
    (20, 5),
    (20, 10),
    (20, 20),
    (50, 5),
    (50, 10),
    (50, 20),
    (100, 5),
    (100, 10),
    (100, 20),
    (200, 10),
    (200, 20),
    (500, 20),
];

/// The seeds of Taillard's instances, in order.
#[rustfmt::skip]
const SEEDS: [i32; 120] = [
    873_654_221, 379_008_056, 1_866_992_158, 216_771_124, 495_070_989,
    402_959_317, 1_369_363_414, 2_021_925_980, 573_109_518, 88_325_120,
    587_595_453, 1_401_007_982, 873_136_276, 268_827_376, 1_634_173_168,
    691_823_909, 73_807_235, 1_273_398_721, 2_065_119_309, 1_672_900_551,
    479_340_445, 268_827_376, 1_958_948_863, 918_272_953, 555_010_963,
    2_010_851_491, 1_519_833_303, 1_748_670_931, 1_923_497_586, 1_829_909_967,
    1_328_042_058, 200_382_020, 496_319_842, 1_203_030_903, 1_730_708_564,
    450_926_852, 1_303_135_678, 1_273_398_721, 587_288_402, 248_421_594,
    1_958_948_863, 575_633_267, 655_816_003, 1_977_864_101, 93_805_469,
    1_803_345_551, 49_612_559, 1_899_802_599, 2_013_025_619, 578_962_478,
    1_539_989_115, 691_823_909, 655_816_003, 1_315_102_446, 1_949_668_355,
    1_923_497_586, 1_805_594_913, 1_861_070_898, 715_643_788, 464_843_328,
    896_678_084, 1_179_439_976, 1_122_278_347, 416_756_875, 267_829_958,
    1_835_213_917, 1_328_833_962, 1_418_570_761, 161_033_112, 304_212_574,
    1_539_989_115, 655_816_003, 960_914_243, 1_915_696_806, 2_013_025_619,
    1_168_140_026, 1_923_497_586, 167_698_528, 1_528_387_973, 993_794_175,
    450_926_852, 1_462_772_409, 1_021_685_265, 83_696_007, 508_154_254,
    1_861_070_898, 26_482_542, 444_956_424, 2_115_448_041, 118_254_244,
    471_503_978, 1_215_892_992, 135_346_136, 1_602_504_050, 160_037_322,
    551_454_346, 519_485_142, 383_947_510, 1_968_171_878, 540_872_513,
    2_013_025_619, 475_051_709, 914_834_335, 810_642_687, 1_019_331_795,
    2_056_065_863, 1_342_855_162, 1_325_809_384, 1_988_803_007, 765_656_702,
    1_368_624_604, 450_181_436, 1_927_888_393, 1_759_567_256, 606_425_239,
    19_268_348, 1_298_201_670, 2_041_736_264, 379_756_761, 28_837_162,
];

/// The seeds of the VRF instances: name, seed.
static VRF_SEEDS: &str = include_str!("../../data/vrf-seeds.csv");

/// The best known value and lower bound of each instance: name, value, bound.
static BEST: &str = include_str!("../../data/flowshop-best.csv");

/// The instance with this name, if any: `ta001` to `ta120`, `VFR10_5_1` to `VFR800_60_10`.
#[must_use]
pub fn named(name: &str) -> Option<Instance> {
    let name = name.to_ascii_lowercase();
    taillard(&name).or_else(|| vrf(&name))
}

/// All names, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    best_values().map(|(name, ..)| name)
}

/// Jobs and machines of a named instance.
#[must_use]
pub fn size(name: &str) -> Option<(usize, usize)> {
    let name = name.to_ascii_lowercase();
    if let Some(digits) = name.strip_prefix("ta") {
        return CLASSES.get(digits.parse::<usize>().ok()?.checked_sub(1)? / 10).copied();
    }
    let mut numbers = name.strip_prefix("vfr")?.split('_').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The best known makespan of a named instance, and whether it is proven optimal.
#[must_use]
pub fn best_known(name: &str) -> Option<(i64, bool)> {
    let row = best_values().find(|(row, ..)| row.eq_ignore_ascii_case(name))?;
    Some((row.1, row.1 == row.2))
}

/// All names with the best known makespan and the best known bound.
pub fn best_values() -> impl Iterator<Item = (&'static str, i64, i64)> {
    BEST.lines().skip(1).filter_map(|line| {
        let mut words = line.split(',');
        let name = words.next()?;
        let mut number = || words.next()?.parse().ok();
        Some((name, number()?, number()?))
    })
}

fn taillard(name: &str) -> Option<Instance> {
    let digits = name.strip_prefix("ta").filter(|digits| digits.len() == 3)?;
    let at = digits.parse::<usize>().ok()?.checked_sub(1)?;
    let mut seed = i64::from(*SEEDS.get(at)?);
    let (jobs, machines) = CLASSES[at / 10];
    // Park and Miller's minimal standard generator (1988), as in Taillard's paper.
    let next = |_| {
        seed = 16807 * seed % 2_147_483_647;
        (1 + 99 * seed / 2_147_483_647) as u32
    };
    // Machine by machine.
    let times: Vec<u32> = (0..jobs * machines).map(next).collect();
    let by_job = (0..jobs).flat_map(|j| (0..machines).map(move |k| k * jobs + j));
    Instance::new(machines, by_job.map(|at| times[at]).collect()).ok()
}

fn vrf(name: &str) -> Option<Instance> {
    let mut rows = VRF_SEEDS.lines().skip(1).filter_map(|line| line.split_once(','));
    let (name, seed) = rows.find(|(row, _)| row.eq_ignore_ascii_case(name))?;
    let mut state: u32 = seed.parse().ok()?;
    let mut numbers = name.strip_prefix("VFR")?.split('_').map(str::parse);
    let (jobs, machines): (usize, usize) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    // The linear congruential generator of Delphi and Turbo Pascal, job by job.
    let next = |_| {
        state = state.wrapping_mul(134_775_813).wrapping_add(1);
        1 + ((u64::from(state) * 99) >> 32) as u32
    };
    Instance::new(machines, (0..jobs * machines).map(next).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum of all times and 31-ary hash by machine, published for the generator.
    const CHECKS: [(&str, u64, u32); 4] = [
        ("ta001", 5_153, 2_981_577_873),
        ("ta030", 19_338, 1_348_396_312),
        ("ta056", 49_030, 145_213_466),
        ("ta120", 499_516, 3_205_498_994),
    ];

    fn by_machine(instance: &Instance) -> Vec<u32> {
        let jobs = 0..instance.jobs();
        (0..instance.machines())
            .flat_map(|k| jobs.clone().map(move |j| (j, k)))
            .map(|(j, k)| instance.job(j)[k])
            .collect()
    }

    fn hashed(hash: u32, times: &[u32]) -> u32 {
        times.iter().fold(hash, |hash, &time| hash.wrapping_mul(31).wrapping_add(time))
    }

    #[test]
    fn generated_instances_are_those_published() {
        for (name, sum, hash) in CHECKS {
            let times = by_machine(&named(name).unwrap());
            assert_eq!(times.iter().map(|&time| u64::from(time)).sum::<u64>(), sum, "{name}");
            assert_eq!(hashed(0, &times), hash, "{name}");
        }
        // The published files of all small and of all large VRF instances.
        let all = |small: bool| {
            let names = names().filter(|name| name.starts_with("VFR"));
            let instances = names.filter_map(named).filter(|it| (it.jobs() < 100) == small);
            instances.fold(0, |hash, instance| hashed(hash, &by_machine(&instance)))
        };
        assert_eq!((all(true), all(false)), (3_830_811_257, 2_712_350_894));
    }

    #[test]
    fn every_name_has_an_instance_and_a_best_value() {
        assert_eq!(names().count(), 600);
        for name in names() {
            let instance = named(name).unwrap();
            let (best, _) = best_known(name).unwrap();
            let order: Vec<u16> = (0..instance.jobs() as u16).collect();
            assert!(i64::from(instance.makespan(&order)) >= best, "{name}");
        }
        let small = by_machine(&named("VFR10_5_2").unwrap());
        assert_eq!(small[..10], [79, 40, 48, 16, 38, 76, 73, 34, 38, 32]);
        let large = named("vfr800_60_10").unwrap();
        assert_eq!((large.jobs(), large.machines()), (800, 60));
        for wrong in [
            "ta000", "ta121", "ta1", "ta0001", "VFR10_5_11", "VFR10_5_01", "VFR70_5_1",
            "VFR100_10_1",
        ] {
            assert!(named(wrong).is_none(), "{wrong}");
        }
    }
}
