//! Tests the reader of tables: what it reads, what it refuses, and mutated files.

use super::columns::shop_of;
use super::table::{Table, separator};
use crate::decimal::written;
use oorandom::Rand64;
use pleach_problems::flowshop::shop::Shop;
use pleach_problems::flowshop::variant::{Objective, Passing, Variant};
use std::fmt::Write;

fn read(text: &str) -> Result<Shop, String> {
    let separator = separator("a.csv", text).unwrap();
    Table::read(text, separator).and_then(|table| shop_of(&table))
}

/// The times by job.
fn times(shop: &Shop) -> Vec<Vec<u32>> {
    (0..shop.instance.jobs()).map(|job| shop.instance.job(job).to_vec()).collect()
}

#[test]
fn all_ways_to_write_a_shop_are_read_alike() {
    let plain = read("1,4\n2,5\n3,6\n").unwrap();
    assert_eq!(times(&plain), [[1, 4], [2, 5], [3, 6]]);
    assert_eq!((plain.decimals, plain.jobs.len(), plain.machines.len()), (0, 0, 0));
    let mut named = plain.clone();
    named.jobs = ["A", "B 1", "C,2"].map(String::from).to_vec();
    assert_eq!(read("A,1,4\nB 1,2,5\n\"C,2\",3,6").unwrap(), named);
    named.machines = ["Saw", "Drill"].map(String::from).to_vec();
    for text in [
        "Job,Saw,Drill\nA,1,4\nB 1,2,5\n\"C,2\",3,6\n",
        "\u{feff}job;Saw;Drill\r\n# a comment\r\n\r\nA;1;4\r\nB  1;2,0;5,00\r\nC,2;3;6;;\r\n",
        "Part no.\tSaw\tDrill\nA\t 1 \t4\n\t\t\nB 1\t2.0\t5\n\"C,2\"\t3\t6\t\n",
        "any words|Saw|Drill\nA|1|4\nB 1|2|5\nC,2|3|6",
        ",Saw,\"Drill\"\nA,01,4\n\"B\n1\",2,5\n\"C,2\",3,6\n",
        "sep=;\r\nJob;\"\nSaw\";\"Drill\r\n\"\r\nA;1;4\r\n\"B\r\n1\";2,0;5\r\nC,2;3;6\r\n",
    ] {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        assert_eq!(read(text).unwrap(), named, "{text}");
    }
    let numbered = read("id,1,2\n10,1,4\n20,2,5\n30,3,6\n").unwrap();
    assert_eq!(
        (numbered.jobs, numbered.machines),
        (["10", "20", "30"].map(String::from).to_vec(), ["1", "2"].map(String::from).to_vec())
    );
    // pandas gives the index no title.
    let indexed = read(",101,102\nA,1,4\nB,2,5\n").unwrap();
    assert_eq!((times(&indexed), &*indexed.machines[0]), (vec![vec![1, 4], vec![2, 5]], "101"));
    assert_eq!(times(&read("M1\n3\n4\n").unwrap()), [[3], [4]]);
    assert_eq!(times(&read("5,6,7").unwrap()), [[5, 6, 7]]);
    // Comments may have separators above a header, and where they are jobs.
    for text in ["# Saw, Drill\nM1,M2\n1,4\n2,5\n3,6\n", "# 9,9\n1,4\n# Saw, Drill\n2,5\n3,6\n"] {
        assert_eq!(times(&read(text).unwrap()), times(&plain), "{text}");
    }
    // A comment that would change nothing as a header may have separators, too.
    for (text, of_jobs) in [
        ("# from SAP, week 12\n3,4\n2,5\n", [[3, 4], [2, 5]]),
        ("# Plant 3;;\n# Saw;Oven\n# minutes\n3;4\n2;5\n", [[3, 4], [2, 5]]),
        ("# from SAP, week 12, late shift\nA,3,4\nB,2,5\n", [[3, 4], [2, 5]]),
    ] {
        assert_eq!(times(&read(text).unwrap()), of_jobs, "{text}");
    }
    let unnamed = read("M1,M2\n1,4\n2,5\n3,6\n").unwrap();
    assert_eq!((times(&unnamed), unnamed.jobs.len()), (times(&plain), 0));
}

#[test]
fn dates_and_weights_are_kept_and_decimals_are_exact() {
    let shop =
        read("Job,Due Date,Saw,RELEASE,Drill (min),weight\nA,10,0.1,0,4,0.5\nB,9.25,2,1.5,5,2\n")
            .unwrap();
    assert_eq!((shop.decimals, times(&shop)), (2, vec![vec![10, 400], vec![200, 500]]));
    assert_eq!(shop.machines, ["Saw", "Drill (min)"]);
    assert_eq!(shop.due, Some(vec![1000, 925]));
    assert_eq!(shop.releases, Some(vec![0, 150]));
    assert_eq!(shop.weights, Some(vec![5, 20]));
    for text in
        ["Job;Saw;\"Due\ndate\"\nA;1,5;2\nB;3;4\n", "Job\tSaw\t\"Due\ndate\"\nA\t1.5\t2\nB\t3\t4\n"]
    {
        let shop = read(text).unwrap();
        assert_eq!((times(&shop), shop.due), (vec![vec![15], vec![30]], Some(vec![20, 40])));
    }
    // Points that cannot separate thousands mark decimals.
    for text in ["1.500;2.25\n", "1.500;0.250\n", "1.500,2.250\n", "1.500|2.250\n"] {
        assert!(read(text).is_ok_and(|shop| shop.decimals > 0), "{text}");
    }
    let shop = read("a;M1;due_date\nA;1,5;2\n").unwrap();
    assert_eq!((shop.decimals, shop.due), (1, Some(vec![20])));
}

#[test]
fn titles_say_what_columns_hold() {
    for title in ["Job #", "JobID", "Job-No.", "ORDER", "name [text]"] {
        let shop = read(&format!("{title},M1,M2\n1,3,4\n2,5,6\n")).unwrap();
        assert_eq!((times(&shop), &*shop.jobs[1]), (vec![vec![3, 4], vec![5, 6]], "2"), "{title}");
    }
    let shop = read("Job,M1,M2,Due [h],Release/h\nA,3,4,10,5\nB,1,2,10,0\n").unwrap();
    assert_eq!((shop.due, shop.releases), (Some(vec![10, 10]), Some(vec![5, 0])));
    for titles in ["Due times,Ready Date", "Deadlines,release_dates", "dueDate,ReleaseTime"] {
        let shop = read(&format!("Job,M1,{titles}\nA,3,10,5\n")).unwrap();
        assert_eq!((shop.due, shop.releases), (Some(vec![10]), Some(vec![5])), "{titles}");
    }
    // A plural is no unit.
    let shop = read("Job,M1 [min],Deadline(s),Release date(s)\nA,3,10,5\n").unwrap();
    assert_eq!((shop.due, shop.releases), (Some(vec![10]), Some(vec![5])));
    let shop = read("Job,Press (S),Press (h),Saw [min],Oven/Min.\nA,3,4,5,6\n").unwrap();
    assert_eq!(shop.machines, ["Press (S)", "Press (h)", "Saw [min]", "Oven/Min."]);
    // Names of several machines begin the header, or a single one.
    for titles in ["Machine 1,Machine 2", "Station A,Station B", "Machine,Machine (new)"] {
        let shop = read(&format!("{titles}\n1,2\n2,4\n")).unwrap();
        assert_eq!((times(&shop), shop.jobs.len()), (vec![vec![1, 2], vec![2, 4]], 0), "{titles}");
    }
    assert_eq!(times(&read("Machine\n3\n4\n").unwrap()), [[3], [4]]);
    // A column with such a title hardly holds times.
    for title in [
        "Arrival", "Arrival time", "Job priority", "Quantity", "Liefertermin", "dj", "w_j", "rj",
        "Total", "Sum [h]", "Total processing time", "Due by", "Ready at", "[Due by]", "Menge",
        "Anzahl", "fällig", "Delivery date", "Ship date [h]", "Date", "Lieferdatum",
        "Fälligkeitsdatum", "Freigabedatum", "Wunschtermin", "Stückzahl", "Prio", "Frist",
        "Gewichtung", "Earliest start", "Latest finish",
    ] {
        let why = read(&format!("Job,Saw,{title}\nA,1,2\n")).unwrap_err();
        let said = ", line 1, column '";
        assert!(
            why.starts_with(said) && why.contains("': not clearly a machine; expected 'due"),
            "{why}"
        );
    }
    // Other words make it a machine.
    for title in ["Total station", "WJ 1", "Machine part", "# [Saw]", "Delivery", "Date coder"] {
        let shop = read(&format!("Job,Saw,{title}\nA,1,2\n")).unwrap();
        assert_eq!((times(&shop), &*shop.machines[1]), (vec![vec![1, 2]], title));
    }
    // Names of jobs may have any title without a number.
    for title in ["Machine part", "Machine type", "Total order", "Lot release", "Setup group"] {
        let shop = read(&format!("{title};Saw;Oven\nMF-12;3;4\n")).unwrap();
        assert_eq!((times(&shop), &*shop.jobs[0]), (vec![vec![3, 4]], "MF-12"), "{title}");
    }
    let shop = read("Workpiece [2026],Saw\nA,3").unwrap();
    assert_eq!((times(&shop), &*shop.jobs[0]), (vec![vec![3]], "A"));
    let shop = read("Auftrag;Säge\n10;3\n20;5").unwrap();
    assert_eq!((times(&shop), &*shop.jobs[1]), (vec![vec![3], vec![5]], "20"));
    // Titles may be in brackets.
    let shop = read("[Saw],[Oven]\n3,4\n5,6").unwrap();
    assert_eq!((times(&shop), shop.jobs.len()), (vec![vec![3, 4], vec![5, 6]], 0));
    let shop = read("[Job],[Saw],[Due],[Weight]\nA,3,9,2").unwrap();
    assert_eq!((times(&shop), shop.due), (vec![vec![3]], Some(vec![9])));
    // A job may have any name.
    assert_eq!(read("Total,1\nSum,2\nTotal overhaul,3\n").unwrap().jobs[0], "Total");
    assert_eq!(read("job,Saw\nTotal,1\n").unwrap().jobs, ["Total"]);
    assert_eq!(read("Machine frame,1,3\nA,3,4\n").unwrap().jobs[0], "Machine frame");
    assert_eq!(read("10-1,1,3\nA,3,4\n").unwrap().jobs[0], "10-1");
}

#[test]
fn faults_are_placed() {
    for (text, said) in [
        (
            "#,M1,M2\n1,3,4\n",
            ", line 1: could be a comment or a header; expected 'job' instead of '#'",
        ),
        (
            "# (Stück);Saw;Oven\n1;3;4\n2;5;6\n",
            ", line 1: could be a comment or a header; expected a header",
        ),
        (
            "# hours\n# Job,Saw,Due\nA,3,9\n",
            ", line 2: could be a comment or a header; expected a header",
        ),
        (
            "# Job,Saw,Due\n# hours\nA,3,9\n",
            ", line 1: could be a comment or a header; expected a header",
        ),
        (
            "# No;Saw;Oven;;\n1;3;4;;\n2;5;6;;\n",
            ", line 1: could be a comment or a header; expected a header",
        ),
        ("# No\t1\t2\n7\t3\t4\n", ", line 1: could be a comment or a header; expected a header"),
        ("# Saw;Due\n3;9\n2;5\n", ", line 1: could be a comment or a header; expected a header"),
        (
            "# parts, week 12\n1,4\n2,5\n",
            ", line 1: could be a comment or a header; expected a header",
        ),
        (
            "Thing,M1\n1,3\n2,4\n",
            ", line 1, column 'Thing': could be times or the numbers of the jobs;",
        ),
        ("Machine,J1,J2\nSaw,1,2\n", ", line 1: a line for each machine, expected one for each"),
        ("job,M1,Sequence setup\nA,1,2\n", ", line 1, column 'Sequence setup': setup times"),
        ("Maschine;A1;A2\nSäge;3;4\n", ", line 1: a line for each machine, expected one for each"),
        ("Machine no;J1\nSaw;3\n", ", line 1: a line for each machine, expected one for each"),
        ("Machine \\ Job,J1\nSaw,3\n", ", line 1: a line for each machine, expected one for each"),
        ("job;M1;Set-up\nA;1;2\n", ", line 1, column 'Set-up': setup times"),
        ("job;M1;Rüstzeit\nA;1;2\n", ", line 1, column 'Rüstzeit': setup times"),
        ("Job,Saw,Weight [kg]\nA,1,2\n", ", column 'Weight [kg]': a weight is the importance of"),
        ("Job,Saw,Weight/kg\nA,1,2\n", ", column 'Weight/kg': a weight is the importance of a job"),
        ("M1,M2\n1,4\n.5,5\n", ", line 3, column 'M1': '.5' could be a time or the name of a job;"),
        ("M1,M2\n1O,4\n3,5\n", ", line 2, column 'M1': '1O' could be a time or the name of a job;"),
        (
            "Machine A,Machine B\n3 h,4\n",
            ", line 2, column 'Machine A': '3 h' could be a time or the name",
        ),
        ("", ": empty, expected a line for each job"),
        ("# only\n\n,,\n", ": empty, expected"),
        ("job,M1,M2\n", ", line 1: no line after the header, expected a line for each job"),
        ("job,due\nA,3\n", ", line 1: no column of times, expected"),
        ("A,1,3\n\nB,3\n", ", line 3: 2 cells, expected 3 as in line 1"),
        ("A,1,3\nB,3,4,5\n", ", line 2: 4 cells, expected 3 as in line 1"),
        (
            "job,Saw,due\nA,x,3\n",
            ", line 2, column 'Saw': 'x', expected a number from 0 to 1000000000",
        ),
        ("job,Saw,due\nA,3,\n", ", line 2: 2 cells, expected 3"),
        ("job,Saw,due\nA,,3\n", ", line 2, column 'Saw': empty, expected a number"),
        ("job,Saw,due\nA,-1,3\n", ", line 2, column 'Saw': '-1', expected a number from 0"),
        ("1,2\n3,1e3\n", ", line 2, column 2: '1e3', expected a number"),
        (
            "A,1O,3\nB,5,6\n",
            "line 1, column 2: '1O', expected a number from 0 to 1000000000 with at \
                              most 9 decimals; a header begins with 'job'",
        ),
        (
            "Saw,1,2\nB,4,5\n",
            ", line 1: could be a job or a header; expected a header that begins with 'job'",
        ),
        (
            ",4,3\nB,1,2\n",
            ", line 1: could be a header or a job without a name; expected the title 'job'",
        ),
        (
            ",1.5,3\nB,1,2\n",
            ", line 1: could be a header or a job without a name; expected the title",
        ),
        (
            "job,M1\nA,1\n#B,2\n",
            ", line 3: could be a comment or a job; expected a blank after '#'",
        ),
        (
            "job,M1,Due by\nA,1,2\n",
            ", line 1, column 'Due by': not clearly a machine; expected 'due date'",
        ),
        ("job,M1,Weight time\nA,1,2\n", ", line 1, column 'Weight time': not clearly a machine;"),
        ("A;1,5;2\nB;1.5;2\n", ", line 2, column 2: '1.5', expected a number"),
        (
            "A\t1,234\t2\n",
            ", line 1, column 2: '1,234', expected a number from 0 to 1000000000 with at most 9 \
             decimals; a comma marks decimals only between semicolons",
        ),
        (
            "Job;Saw;Due\n1.100;900;5000\nB;300;1.200\n",
            ", line 3, column 'Due': '1.200' could be a decimal number or thousands; expected no point in \
             thousands, or commas instead of semicolons",
        ),
        (
            "Job;Saw;Weight\nA;900;1.200\n",
            ", line 2, column 'Weight': '1.200' could be a decimal number or",
        ),
        ("Job;Saw\nA;2.5 h\n", ", line 2, column 'Saw': '2.5 h', expected a number"),
        ("A;1,5;2\nB;1.200;3\n", "line 2, column 2: '1.200', expected a number from 0 to"),
        ("1,0.0000000001\n", ", line 1, column 2: '0.0000000001', expected"),
        (
            "0.001,2000000\n",
            ", line 1, column 2: '2000000', expected a number from 0 to 1000000.000 \
                              with 3 decimals, as others have",
        ),
        ("A,1\nB,2\n A ,3\n", ", line 3: a second job 'A', expected different names (line 1 has"),
        ("job,Saw,Saw\nA,1,2\n", ", line 1: a second machine 'Saw'"),
        ("job,M1,due,Due Date\nA,1,2,3\n", ", line 1: 'Due Date' is a second column of that kind"),
        (
            "Job,Saw [min],Weight,Due (hours)\nA,30,1,2\n",
            ", line 1, column 'Due (hours)': another unit than in column 'Saw [min]', expected the",
        ),
        ("Job;Saw, s;Oven;Drill [h]\nA;3;4;5\n", ", column 'Drill [h]': another unit than in"),
        // The letter of a date used to be taken for that of a machine.
        ("Job;Saw (min);Due (h)\nA;30;2\n", ", column 'Due (h)': another unit than in"),
        ("Job;Saw [min];Release(s)\nA;30;2\n", ", column 'Release(s)': another unit than in"),
        ("# Machine,J1,J2\nSaw,3,4\nOven,5,6\n", ", line 1: could be a comment or a header;"),
        ("# Job,Saw [min],Oven [h]\nA,30,2\nB,45,1\n", ", line 1: could be a comment or a header;"),
        ("Part,Job No,Saw\nA,1,3\n", ", line 1, column 'Job No': could be names of jobs;"),
        (
            "job,M1,Setup time\nA,1,2\n",
            ", line 1, column 'Setup time': setup times, expected in a separate file",
        ),
        ("A,1\n,2\n", ", line 2: empty, expected the name of the job"),
        ("1000000000\n1000000000\n999999999", ": times that may add up to 3999999999 on a path"),
        ("A,\"1\nB,2\n", ", line 1: a quote opens here and is not closed, expected a second one"),
        (
            "job,Saw,due\nA,3,\n",
            ", line 2: 2 cells, expected 3 as in line 1; column 'due' is empty",
        ),
        ("A,1,3\nB\n", ", line 2: 1 cell, expected 3 as in line 1; column 2 is empty"),
        (
            "Week 12;;\n\nJob;Saw;Oven\nA;1;2\n",
            ", line 3: 3 cells, expected 1 as in line 1; a title above the table needs a '#'",
        ),
        ("Orders\nJob;Saw\nA;1\n", ", line 2: 2 cells, expected 1 as in line 1; a title above"),
        (
            "Job:Saw:Oven\nA:1:2\n",
            ", line 2, column 'Job:Saw:Oven': 'A:1:2', expected a number from 0 to 1000000000 with \
             at most 9 decimals; commas, semicolons, tabs or | separate cells",
        ),
        ("Job Saw\nA 1\n", "with at most 9 decimals; commas, semicolons, tabs or | separate cells"),
        (
            "job,Saw,due\nA,1,-1\n",
            "column 'due': '-1', expected a number from 0 to 1000000000 with at most 9 decimals; if \
             the job is overdue, add the same number to all due and release dates",
        ),
        (
            "job,Saw,due\nA,1,2026-12-01\n",
            "column 'due': '2026-12-01', expected a number from 0 to 1000000000 with at most 9 decimals; \
             dates are times from the start of the schedule, in the unit of all times",
        ),
        ("job;Saw;Ready\nA;1;01.12.2026\n", "9 decimals; dates are times from the start of the"),
        (
            "job,Saw\nA,1\nB,3\nSum,4\n",
            ", line 4: 'Sum' could be a sum or a job; expected only jobs",
        ),
        ("A;1;9\nB;3;9\nGrand total:;4\n", ", line 3: 'Grand total:' could be a sum or a job;"),
    ] {
        let why = read(text).unwrap_err();
        assert!(why.contains(said), "{text:?}: {why}");
    }
}

/// A shop as a table that says everything.
fn table(shop: &Shop) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let dates = [("due", &shop.due), ("release", &shop.releases), ("weight", &shop.weights)];
    let mut text = String::new();
    if !shop.machines.is_empty() {
        text += if shop.jobs.is_empty() { "" } else { "job," };
        text += &shop.machines.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        for (title, _) in dates.iter().filter(|(_, all)| all.is_some()) {
            let _ = write!(text, ",{title}");
        }
        text.push('\n');
    }
    for job in 0..shop.instance.jobs() {
        let mut cells: Vec<String> =
            shop.jobs.get(job).map(|name| quoted(name)).into_iter().collect();
        let exact = |time: u32, decimals| written(time.into(), decimals);
        cells.extend(shop.instance.job(job).iter().map(|&time| exact(time, shop.decimals)));
        for (title, all) in dates {
            let weights = title == "weight";
            let decimals = if weights { shop.weight_decimals } else { shop.decimals };
            cells.extend(all.iter().map(|all| exact(all[job], decimals)));
        }
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

/// A text with a few random changes.
fn mutated(rng: &mut Rand64, text: &str) -> String {
    const SIGNS: [&str; 20] = [
        ",", ";", "\t", "|", "\"", "\n", "\r\n", "#", ".", "-", "0", "7", "999999999999", "x", " ",
        "\0", "é", "due", "setup", "e9",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.rand_range(0..3) {
        let at = rng.rand_range(0..chars.len() as u64 + 1) as usize;
        let until = (at + rng.rand_range(0..6) as usize).min(chars.len());
        let sign = SIGNS[rng.rand_range(0..20) as usize];
        match rng.rand_range(0..4) {
            0 => drop(chars.drain(at..until)),
            1 => drop(chars.splice(at..at, sign.chars())),
            2 => drop(chars.splice(at..until, sign.chars())),
            _ => {
                let piece = chars[at..until].to_vec();
                let to = rng.rand_range(0..chars.len() as u64 + 1) as usize;
                drop(chars.splice(to..to, piece));
            }
        }
    }
    chars.into_iter().collect()
}

/// The times of a text without quotes, cell by cell, as approximate numbers.
fn approximately(text: &str, separator: u8, shop: &Shop) -> Vec<f64> {
    let separator = char::from(separator);
    let rows = text.split(['\n', '\r']).filter(|line| !line.starts_with('#'));
    let rows = rows.filter(|line| line.chars().any(|c| c != separator && !c.is_whitespace()));
    let numbers = rows.flat_map(|line| line.split(separator).map(str::trim)).filter_map(|cell| {
        let cell = if separator == ';' { cell.replace(',', ".") } else { cell.into() };
        cell.parse::<f64>().ok()
    });
    let scale = 10f64.powi(shop.decimals as i32);
    numbers.map(|number| number * scale).collect()
}

/// The total weighted tardiness of the jobs as they follow in a text without quotes, with a header and due dates, as a
/// multiple of its least decimal.
fn tardiness(text: &str, separator: u8, shop: &Shop) -> i64 {
    let units = |cell: &str, decimals: u32| -> i64 {
        let cell = if separator == b';' { cell.replace(',', ".") } else { cell.into() };
        let (whole, part) = cell.split_once('.').unwrap_or((&cell, ""));
        let (part, width) = (part.trim_end_matches('0'), decimals as usize);
        format!("{whole}{part:0<width$}").parse().unwrap()
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let cells = line.split(char::from(separator)).map(str::trim);
        let mut row: Vec<&str> = cells.collect();
        row.truncate(row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1));
        row
    });
    let mut rows = rows.filter(|row| !row.is_empty());
    let titles = rows.next().unwrap().into_iter().map(|title| {
        let words =
            title.split(',').find(|part| part.contains(char::is_alphanumeric)).unwrap_or_default();
        let words = words.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase()
    });
    let titles: Vec<String> = titles.collect();
    let (mut free, mut total) = (vec![0; titles.len()], 0);
    for row in rows {
        let (mut end, mut due, mut weight) = (0, 0, 1);
        for (at, (title, cell)) in titles.iter().zip(row).enumerate() {
            match title.as_str() {
                "due" => due = units(cell, shop.decimals),
                "weight" | "weights" => weight = units(cell, shop.weight_decimals),
                _ if at == 0 && !shop.jobs.is_empty() => {}
                _ => {
                    end = free[at].max(end) + units(cell, shop.decimals);
                    free[at] = end;
                }
            }
        }
        total += weight * (end - due).max(0);
    }
    total
}

#[test]
fn mutated_tables_are_read_right_or_refused_in_one_line() {
    let texts = [
        "job,Saw,Drill,Oven,due,weight\nA,3,5,2,20,1\nB,4.25,1,6,18,2.5\n\"C, 2\",2,7,1,30,1\n",
        "# hours\nTeil;Säge;Bohrer;Due;Weight\nA;1,5;2;3;0,5\nB;2,25;3;8;1\n",
        "job,Saw,due,Oven,weight\nA,3,4,5.5,1\nB,4.25,9,6,2.5\nC,2,8.5,4,3\n",
        "1,2,3\n4,5,6\n7,8,9\n",
        "id\tM1\tM2\n7\t1\t4\n8\t2\t5\n9\t3\t6\n",
        "A|1000000|2.125\nB|3|4\n",
    ];
    let mut rng = Rand64::new(34);
    let (mut right, mut computed, mut refused) = (0, 0, 0);
    for case in 0..10_000 {
        let text = mutated(&mut rng, texts[case % texts.len()]);
        let Some(separator) = separator("a.csv", &text) else { continue };
        match Table::read(&text, separator).and_then(|table| shop_of(&table)) {
            Ok(shop) => {
                right += 1;
                assert_eq!(read(&table(&shop)).as_ref(), Ok(&shop), "{text:?}");
                if !text.contains('"') {
                    let mut all = approximately(&text, separator, &shop).into_iter();
                    for time in times(&shop).into_iter().flatten() {
                        let found = all.any(|number| (number - f64::from(time)).abs() < 1e-3);
                        assert!(found, "{text:?}: {time} in {shop:?}");
                    }
                    let order: Vec<u16> = (0..shop.instance.jobs() as u16).collect();
                    let variant = Variant::new(shop.clone(), Objective::Tardiness, Passing::Wait);
                    if let (Ok(variant), false) = (variant, text.contains('\r')) {
                        computed += 1;
                        let value = tardiness(&text, separator, &shop);
                        assert_eq!(variant.value(&order), value, "{text:?}: {shop:?}");
                    }
                }
            }
            Err(why) => {
                refused += 1;
                let short = why.chars().count() < 300 && !why.contains(['\n', '\r', '\0']);
                let known = ["expected", "not supported"].iter().any(|word| why.contains(word));
                let placed = why.starts_with(", line ") || why.starts_with(": ");
                assert!(short && placed && known, "{text:?}: {why}");
            }
        }
    }
    assert!(right > 1_500 && refused > 2_000, "{right} right, {refused} refused");
    assert!(computed > 300, "{computed}");
}
