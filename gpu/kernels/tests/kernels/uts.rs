//! Unbalanced trees on the emulated device.

use crate::device::explore;
use crate::{on_cpu, uses};
use pleach_core::search::problem::Problem;
use pleach_problems::simd::Level;
use pleach_problems::uts::Uts;
use pleach_problems::uts::parameters::Parameters;

#[test]
fn trees_of_every_kind_are_counted_as_on_the_cpu() {
    let ways: Vec<_> = uses().collect();
    let mut nodes = 0;
    for (i, words) in [
        "shape=fixed,b0=4,gen_mx=5,seed=3",
        "shape=linear,b0=4,gen_mx=9,seed=5",
        "shape=cyclic,b0=3,gen_mx=8,seed=1",
        "shape=fixed,b0=300,gen_mx=2,seed=8",
        "shape=fixed,b0=0,gen_mx=3,seed=8",
        "type=binomial,b0=60.9,q=0.3,m=3,seed=6",
        "type=binomial,b0=300,q=0.12,m=8,seed=7",
        "type=hybrid,b0=6,gen_mx=8,q=0.234375,m=4,seed=1",
        "type=balanced,b0=3,gen_mx=7,seed=1",
    ]
    .into_iter()
    .enumerate()
    {
        let uts = Uts::new(Parameters::parse(words).unwrap(), Level::Off);
        let wanted = on_cpu(&uts, i64::MAX).counts;
        assert!(uts.on_device().is_ok() && wanted.total < 20_000, "{words}: {wanted:?}");
        nodes += wanted.total;
        for how in ways.iter().skip(i % 4).step_by(4) {
            assert_eq!(explore(&uts, *how, i64::MAX).counts, wanted, "{words}, {how:?}");
        }
    }
    assert!(nodes > 10_000, "{nodes}");
}
