//! [`schedule`]: a schedule as a table with the start and the end of every operation.

use crate::decimal::written;
use csv::Writer;
use pleach_problems::flowshop::variant::Variant;

/// A table with a row for each operation: job by job in the order of the schedule, and machine by machine.
pub fn schedule(variant: &Variant, order: &[u16]) -> Result<String, csv::Error> {
    let shop = variant.shop();
    let mut table = Writer::from_writer(Vec::new());
    table.write_record(["job", "machine", "start", "end"])?;
    let exact = |time: u32| written(time.into(), shop.decimals);
    for (&job, ends) in order.iter().zip(variant.ends(order)) {
        let job = usize::from(job);
        for (machine, (end, time)) in ends.iter().zip(shop.instance.job(job)).enumerate() {
            let names = [shop.job_name(job), shop.machine_name(machine)];
            table.write_record(names.iter().chain(&[exact(end - time), exact(*end)]))?;
        }
    }
    let bytes = table.into_inner().map_err(|why| why.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_problems::flowshop::instance::Instance;
    use pleach_problems::flowshop::shop::Shop;
    use pleach_problems::flowshop::variant::{Objective, Passing};

    fn plain(shop: &Shop) -> Variant {
        Variant::new(shop.clone(), Objective::Makespan, Passing::Wait).unwrap()
    }

    #[test]
    fn every_operation_has_a_start_and_an_end() {
        let mut shop = Shop::new(Instance::new(2, vec![1, 4, 20, 5]).unwrap());
        let numbered = "job,machine,start,end\n2,M1,0,20\n2,M2,20,25\n1,M1,20,21\n1,M2,25,29";
        assert_eq!(schedule(&plain(&shop), &[1, 0]).unwrap(), numbered);
        shop.decimals = 1;
        shop.jobs = ["A, 1", "B"].map(String::from).to_vec();
        shop.machines = ["Saw", "\"Oven\""].map(String::from).to_vec();
        let named = "job,machine,start,end\nB,Saw,0.0,2.0\nB,\"\"\"Oven\"\"\",2.0,2.5\n\
                     \"A, 1\",Saw,2.0,2.1\n\"A, 1\",\"\"\"Oven\"\"\",2.5,2.9";
        assert_eq!(schedule(&plain(&shop), &[1, 0]).unwrap(), named);
    }
}
