//! A first tour by insertion, as NEH builds schedules (Nawaz, Enscore and Ham 1983): quick, for a run that stops early.

use super::instance::Instance;
use std::cmp::Reverse;

/// Inserts the cities one by one where the tour grows least, those farthest from city 0 first.
pub(super) fn insertion(instance: &Instance) -> Vec<u16> {
    let mut cities: Vec<u16> = (1..instance.cities() as u16).collect();
    cities.sort_by_key(|&city| Reverse(instance.cost(city.into(), 0)));
    let mut order = vec![0];
    for city in cities {
        let more = |&place: &usize| {
            let (from, to) = (order[place], order[(place + 1) % order.len()]);
            let cost = |from: u16, to: u16| instance.cost(from.into(), to.into());
            cost(from, city) + cost(city, to) - cost(from, to)
        };
        let place = (0..order.len()).min_by_key(more).unwrap_or(0);
        order.insert(place + 1, city);
    }
    order
}
