//! The tables of the goldens, made of arithmetic: no file of the repository, no randomness.

#[path = "orders.rs"]
mod orders;

use datafusion::arrow::array::{
    ArrayRef, Date32Array, Date64Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use datafusion::parquet::arrow::ArrowWriter;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Values of protected tables that no output may hold.
pub(crate) const CANARIES: &[&str] = &["CANARY-7f3a", "8675309", "77777777"];

/// Which data.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Data {
    /// With NULL, NaN, ±∞, −0, i64::MIN, malformed text, duplicates, and canaries.
    Nasty,
    /// The same, last row first.
    Reversed,
    /// Without any of it.
    Harmless,
}

/// The policy of that name.
pub(crate) fn policy(name: &str) -> String {
    let budget = match name {
        "pure" => "epsilon = 1000.0\ndelta = 1e-3\nper_query = 1.0",
        "replace" => "epsilon = 1000.0\ndelta = 1e-3\nper_query = 1.0\nneighbours = \"replace\"",
        "zcdp" => "epsilon = 1000.0\ndelta = 1e-3\nper_query = 1.0\naccounting = \"zcdp\"",
        "zcdp-replace" => {
            "epsilon = 1000.0\ndelta = 1e-3\nper_query = 1.0\naccounting = \"zcdp\"\n\
             neighbours = \"replace\""
        }
        "no-delta" => "epsilon = 1000.0\nper_query = 1.0",
        "poor" => "epsilon = 2.5\ndelta = 1e-6\nper_query = 1.0",
        "least" => "epsilon = 3.0\ndelta = 1e-6\nper_query = 1.0\nmin_per_query = 0.25",
        // So much ε that the noise all but vanishes: what is left is the meaning of a query.
        "exact" => "epsilon = 1e12\ndelta = 0.5\nper_query = 1e6",
        other => panic!("no policy {other}"),
    };
    format!("[budget]\n{budget}\n{TABLES}{}", orders::TABLE)
}

const TABLES: &str = r#"
[tables.patients]
source = "patients.csv"
unit = "id"
max_groups = 1
[tables.patients.columns]
id = { type = "integer" }
age = { type = "integer", bounds = [0, 120], nullable = false }
sex = { values = ["f", "m"], nullable = false }
region = { type = "integer", bounds = [0, 4] }
income = { bounds = [0, 100000] }
weight = { type = "real" }
active = { type = "boolean" }
born = { type = "date" }
note = { type = "text" }
name = { hidden = true }

[tables.visits]
source = "visits.parquet"
unit = "patient_id"
max_groups = 3
max_rows_per_group = 2
[tables.visits.columns]
cost = { bounds = [0, 500] }
paid = { bounds = [0, 500], grid = 0.01 }
disease = { values = ["flu", "asthma", "diabetes"], nullable = false }
units = { type = "integer", bounds = [-2, 10] }

[tables.prescriptions]
source = "prescriptions.csv"
unit = { column = "visit_id", references = "visits.id" }
max_groups = 2
max_rows_per_group = 4
[tables.prescriptions.columns]
visit_id = { type = "integer" }
drug = { values = ["aspirin", "insulin", "statin"] }
dose = { bounds = [0, 1000] }

[tables.bills]
source = "bills.csv"
unit = { column = "patient_id", references = "patients.id" }
max_groups = 4
max_rows_per_group = 50
[tables.bills.columns]
id = { type = "integer" }
patient_id = { type = "integer" }
day = { type = "date" }
state = { values = ["open", "paid"], nullable = false }

[tables.items]
source = "items.csv"
unit = { column = "bill_id", references = "bills.id" }
max_groups = 4
max_rows_per_group = 50
[tables.items.columns]
bill_id = { type = "integer" }
kind = { values = ["bed", "drug", "test"], nullable = false }
amount = { type = "integer", bounds = [0, 100] }
region = { type = "integer", bounds = [0, 4] }

[tables.sensors]
source = "sensors.csv"
unit = "row"
[tables.sensors.columns]
kind = { values = ["heat", "noise"] }
reading = { bounds = [-50, 50] }
region = { type = "integer" }

[tables.stays]
source = "visits.parquet"
unit = "patient_id"
[tables.stays.columns]
disease = { values = ["flu", "asthma", "diabetes"], nullable = false }

[tables.trips]
source = "trips.parquet"
unit = "rider"
max_groups = 3
max_rows_per_group = 2
[tables.trips.columns]
day = { type = "date", bounds = [2024-01-01, 2024-06-30], nullable = false }
back = { type = "date", bounds = [2024-01-01, 2024-07-31] }
begun = { type = "time", bounds = [2024-01-01, 2024-06-30] }
seconds = { bounds = [2024-01-01T00:00:00, 2024-01-07T23:59:59] }
millis = { bounds = [2024-01-01, 2024-01-02] }
nanos = { bounds = [2024-01-01, 2024-01-02] }
day64 = { bounds = [2024-01-01, 2024-01-31] }

[tables.regions]
source = "regions.csv"
public = true
key = "code"

[tables.diseases]
source = "diseases.csv"
public = true
"#;

/// Writes all tables.
pub(crate) fn write(folder: &Path, data: Data) {
    let csv = |name: &str, header: &str, mut rows: Vec<String>| {
        if data == Data::Reversed {
            rows.reverse();
        }
        let text = format!("{header}\n{}\n", rows.join("\n"));
        fs::write(folder.join(name), text).expect("a table");
    };
    let nasty = data != Data::Harmless;
    csv("patients.csv", "id,age,sex,region,income,weight,active,born,note,name", patients(nasty));
    csv("prescriptions.csv", "id,visit_id,drug,dose", prescriptions(nasty));
    csv("bills.csv", "id,patient_id,day,state", bills(nasty));
    csv("items.csv", "bill_id,kind,amount,region", items(nasty));
    csv("sensors.csv", "device,kind,reading,region", sensors(nasty));
    // Public tables have one order.
    let regions = "code,name,population,climate\n0,north,100,cold\n1,south,200,warm\n\
                   2,east,300,cold\n3,west,400,warm\n4,mid,500,mild\n";
    fs::write(folder.join("regions.csv"), regions).expect("a table");
    let diseases = "disease,chapter\nflu,infection\nflu,lung\nasthma,lung\ndiabetes,metabolism\n";
    fs::write(folder.join("diseases.csv"), diseases).expect("a table");
    visits(folder, data);
    trips(folder, data);
    orders::write(folder, data);
}

/// 600 people; age i mod 90, sex by parity, region i mod 5, income 100·(i mod 700).
fn patients(nasty: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for i in 0..600 {
        let sex = ["f", "m"][i % 2];
        let (year, month, day) = (1930 + i % 90, 1 + i % 12, 1 + i % 28);
        let note = ["calm", "tired", "well"][i % 3];
        let active = i % 4 != 0;
        rows.push(format!(
            "{i},{},{sex},{},{},{},{active},{year}-{month:02}-{day:02},{note},n{i}",
            i % 90,
            i % 5,
            100 * (i % 700),
            50 + i % 50,
        ));
    }
    if nasty {
        for strange in [
            // The canary: an id, a number outside its bounds, a text.
            "8675309,77777777,f,77777777,8675309.125,8675309.125,true,2000-01-01,CANARY-7f3a,CANARY-7f3a",
            ",40,m,1,100,70,true,1980-01-01,nobody,nobody",
            ",41,m,1,100,70,true,1980-01-01,nobody,nobody",
            "1,1,m,1,100,51,true,1931-02-02,tired,n1",
            "1,1,m,1,100,51,true,1931-02-02,tired,n1",
            "700,abc,x,2.5,12a,1e400,maybe,2024-13-45,,",
            "701,9223372036854775807,,-9223372036854775808,inf,nan,,9999-12-31,\"\",",
            "702,-9223372036854775808,f,99,-inf,-inf,false,0001-01-01,\"a,b\",",
            "703,,,,,,,,,",
            "704,-0,m,-0,-0.0,-0.0,true,262142-12-31,'quoted',",
            "705,9223372036854775808,m,1,NaN,NaN,TRUE,-0001-01-01,well,",
            "x706,30,f,1,50,60,true,1990-01-01,well,not a number",
        ] {
            rows.push(strange.to_owned());
        }
    }
    rows
}

/// Of rider i, i mod 3 trips, from a day of the first half of 2024 to up to 13 days later.
fn trips(folder: &Path, data: Data) {
    let mut rows: Vec<(i64, Option<i64>, i64)> = Vec::new();
    for i in 0..600i64 {
        for k in 0..i % 3 {
            rows.push((i, Some(19_723 + (i + 61 * k) % 182), (i + k) % 14));
        }
    }
    if data != Data::Harmless {
        // Before and after the bounds, without a day, and as far away as a date can be.
        let strange =
            [Some(19_722), Some(19_905), None, Some(-719_529), Some(73_000_000), Some(-73_000_000)];
        rows.extend(strange.into_iter().enumerate().map(|(i, day)| (900 + i as i64, day, 5)));
        rows.extend(
            [Some(i64::from(i32::MAX)), Some(i64::from(i32::MIN))].map(|day| (907, day, 0)),
        );
    }
    if data == Data::Reversed {
        rows.reverse();
    }
    let date = |days: i64| i32::try_from(days).ok();
    // At an hour of the rider's; each unit as far as it goes.
    let of = |per_day: i64| -> Vec<Option<i64>> {
        let count = |(rider, day, _): &(i64, Option<i64>, i64)| {
            day.map(|day| {
                day.saturating_mul(per_day).saturating_add(rider * 7 % 24 * (per_day / 24))
            })
        };
        rows.iter().map(count).collect()
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("rider", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("day", Arc::new(rows.iter().map(|row| date(row.1?)).collect::<Date32Array>())),
        ("back", Arc::new(rows.iter().map(|row| date(row.1? + row.2)).collect::<Date32Array>())),
        ("begun", Arc::new(TimestampMicrosecondArray::from(of(86_400_000_000)))),
        ("seconds", Arc::new(TimestampSecondArray::from(of(86_400)))),
        (
            "millis",
            Arc::new(
                TimestampMillisecondArray::from(of(86_400_000)).with_timezone("Europe/Berlin"),
            ),
        ),
        ("nanos", Arc::new(TimestampNanosecondArray::from(of(86_400_000_000_000)))),
        (
            "day64",
            Arc::new(
                rows.iter().map(|row| row.1?.checked_mul(86_400_000)).collect::<Date64Array>(),
            ),
        ),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    );
    let batch = batch.expect("columns of one length");
    let file = fs::File::create(folder.join("trips.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
}

/// Of person i, i mod 5 visits: cost (7i + 13k) mod 400, disease by i + k, on a day of 2024.
fn visits(folder: &Path, data: Data) {
    type Row = (
        Option<i64>,
        Option<i64>,
        Option<i32>,
        Option<f64>,
        Option<&'static str>,
        Option<&'static str>,
        Option<i64>,
        Option<i64>,
        Option<f64>,
        Option<u64>,
    );
    let mut rows: Vec<Row> = Vec::new();
    let mut id = 0;
    for i in 0..600i64 {
        for k in 0..i % 5 {
            id += 1;
            let disease = ["flu", "flu", "asthma", "diabetes"][((i + k) % 4) as usize];
            let ward = ["A", "B", "C"][((i / 5 + k) % 3) as usize];
            rows.push((
                Some(id),
                Some(i),
                Some(19_723 + ((i + 31 * k) % 366) as i32),
                Some(((7 * i + 13 * k) % 400) as f64),
                Some(disease),
                Some(ward),
                Some(i - 300),
                Some(1 + (i + k) % 9),
                Some((i % 10) as f64 / 4.0),
                Some(i as u64),
            ));
        }
    }
    if data != Data::Harmless {
        let canary = Some(8_675_309);
        rows.extend([
            (
                Some(77_777_777),
                canary,
                Some(19_800),
                Some(8_675_309.125),
                Some("CANARY-7f3a"),
                Some("CANARY-7f3a"),
                canary,
                Some(77_777_777),
                Some(8_675_309.125),
                Some(77_777_777),
            ),
            (Some(90_001), None, None, None, None, None, None, None, None, None),
            (
                Some(90_002),
                None,
                Some(19_800),
                Some(100.0),
                Some("flu"),
                Some("A"),
                Some(1),
                Some(1),
                Some(1.0),
                Some(1),
            ),
            (
                Some(90_003),
                Some(1),
                Some(2_932_896),
                Some(f64::NAN),
                Some("flu"),
                Some("A"),
                Some(i64::MIN),
                Some(0),
                Some(f64::NAN),
                Some(u64::MAX),
            ),
            (
                Some(90_004),
                Some(2),
                Some(-719_162),
                Some(f64::INFINITY),
                Some("plague"),
                Some(""),
                Some(i64::MAX),
                Some(-1),
                Some(f64::INFINITY),
                Some(0),
            ),
            (
                Some(90_005),
                Some(3),
                Some(i32::MAX),
                Some(f64::NEG_INFINITY),
                None,
                None,
                Some(i64::MIN),
                Some(i64::MIN),
                Some(f64::NEG_INFINITY),
                None,
            ),
            (
                Some(90_006),
                Some(4),
                Some(i32::MIN),
                Some(-0.0),
                Some("asthma"),
                Some("B"),
                Some(-1),
                Some(0),
                Some(-0.0),
                Some(u64::MAX),
            ),
            (
                Some(90_006),
                Some(4),
                Some(i32::MIN),
                Some(-0.0),
                Some("asthma"),
                Some("B"),
                Some(-1),
                Some(0),
                Some(-0.0),
                Some(u64::MAX),
            ),
            (
                None,
                Some(5),
                Some(0),
                Some(f64::MAX),
                Some("diabetes"),
                Some("C"),
                Some(0),
                Some(0),
                Some(f64::MIN_POSITIVE),
                Some(1 << 63),
            ),
        ]);
    }
    if data == Data::Reversed {
        rows.reverse();
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.0)))),
        ("patient_id", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.1)))),
        ("day", Arc::new(Date32Array::from_iter(rows.iter().map(|r| r.2)))),
        ("cost", Arc::new(Float64Array::from_iter(rows.iter().map(|r| r.3)))),
        ("paid", Arc::new(Float64Array::from_iter(rows.iter().map(|r| r.3.map(|x| x / 2.0))))),
        ("disease", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.4)))),
        ("ward", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.5)))),
        ("big", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.6)))),
        ("units", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.7)))),
        ("score", Arc::new(Float64Array::from_iter(rows.iter().map(|r| r.8)))),
        ("huge", Arc::new(UInt64Array::from_iter(rows.iter().map(|r| r.9)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = fs::File::create(folder.join("visits.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a table");
}

/// One for each visit, drug by its id.
fn prescriptions(nasty: bool) -> Vec<String> {
    let mut rows: Vec<String> = (1..=1200)
        .map(|i| format!("{i},{i},{},{}", ["aspirin", "insulin", "statin"][i % 3], 10 * (i % 50)))
        .collect();
    if nasty {
        for strange in [
            "77777777,77777777,CANARY-7f3a,8675309.125",
            "90001,,aspirin,10",
            "90002,90001,insulin,nan",
            "90003,90006,statin,inf",
            "90004,123456,statin,1",
            "90005,12.5,,x",
            "1,1,insulin,10",
        ] {
            rows.push(strange.to_owned());
        }
    }
    rows
}

/// Of patient i, i mod 3 bills, with ids from 1001.
fn bills(nasty: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for i in 0..600 {
        for k in 0..i % 3 {
            let id = 1001 + rows.len();
            let state = ["open", "paid", "paid"][(i + k) % 3];
            rows.push(format!("{id},{i},2024-{:02}-{:02},{state}", 1 + (i + k) % 12, 1 + i % 28));
        }
    }
    if nasty {
        rows.extend(
            ["5001,,2024-01-01,open", "5002,99999,2024-01-01,open", ",7,2024-02-02,paid"]
                .map(str::to_owned),
        );
    }
    rows
}

/// Of bill b, b mod 4 items.
fn items(nasty: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for bill in 1001..1599 {
        for k in 0..bill % 4 {
            let kind = ["bed", "drug", "test"][(bill + k) % 3];
            rows.push(format!("{bill},{kind},{},{}", (7 * bill + k) % 101, (bill + k) % 5));
        }
    }
    if nasty {
        rows.extend(
            ["5001,bed,1,1", "5002,bed,1,1", ",bed,1,1", "7777,bed,1,1"].map(str::to_owned),
        );
    }
    rows
}

/// 800 rows: heat in two of three, readings −40 to 40.
fn sensors(nasty: bool) -> Vec<String> {
    let mut rows: Vec<String> = (0..800i64)
        .map(|i| {
            let kind = ["heat", "heat", "noise"][(i % 3) as usize];
            format!("d{},{kind},{},{}", i % 4, i % 81 - 40, i % 5)
        })
        .collect();
    if nasty {
        for strange in [
            "CANARY-7f3a,CANARY-7f3a,8675309.125,77777777",
            ",,,",
            "d0,heat,nan,1",
            "d0,heat,inf,1",
            "d0,heat,-inf,1",
            "d0,heat,-0.0,1",
            "d0,heat,one,one",
            "d0,heat,0,1",
            "d0,heat,0,1",
        ] {
            rows.push(strange.to_owned());
        }
    }
    rows
}
