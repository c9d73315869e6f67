//! A small TPC-H: 500 customers, 1,500 orders, 5,000 line items, made like dbgen's and skewed so that the official
//! parameters of every query select some rows. Unlike dbgen's, some values are NULL.

use super::draw::{Draw, cents, csv, day, or_null};
use std::path::Path;

const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
/// The nations that the official parameters name come up more often.
const OFTEN: [i64; 8] = [6, 7, 2, 20, 8, 12, 24, 18];
const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"];
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
const INSTRUCTIONS: [&str; 4] = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"];
const COLORS: [&str; 10] =
    ["almond", "blue", "forest", "green", "ivory", "lace", "navy", "plum", "red", "sky"];
const BRANDS: [&str; 8] = [
    "Brand#12", "Brand#12", "Brand#23", "Brand#23", "Brand#34", "Brand#34", "Brand#45", "Brand#51",
];
const TYPES: [&str; 6] = [
    "ECONOMY ANODIZED STEEL",
    "PROMO BRUSHED COPPER",
    "STANDARD POLISHED BRASS",
    "MEDIUM POLISHED TIN",
    "PROMO PLATED STEEL",
    "LARGE BURNISHED NICKEL",
];
const CONTAINERS: [&str; 8] =
    ["SM CASE", "SM BOX", "MED BAG", "MED BOX", "LG CASE", "LG BOX", "WRAP JAR", "JUMBO PKG"];
const REMARKS: [&str; 6] = [
    "carefully final deposits",
    "special packages wake requests",
    "quickly ironic accounts",
    "even theodolites sleep",
    "special pending requests haggle",
    "furiously bold foxes",
];
/// 1992-01-01, the first day of an order.
const FIRST: i64 = 8035;
/// 1995-06-17, the day on which dbgen's world stands still.
const TODAY: i64 = 9298;
/// Nobody has more line items, so that no join has to leave any out.
const MOST_LINES: i64 = 40;

pub(crate) fn write(folder: &Path) {
    let draw = &mut Draw::new(1992);
    let regions: Vec<String> =
        REGIONS.iter().enumerate().map(|(i, name)| format!("{i},{name},a region")).collect();
    csv(folder, "region", "r_regionkey,r_name,r_comment", &regions);
    let nations = NATIONS.iter().enumerate();
    let nations: Vec<String> =
        nations.map(|(i, (name, region))| format!("{i},{name},{region},a nation")).collect();
    csv(folder, "nation", "n_nationkey,n_name,n_regionkey,n_comment", &nations);
    suppliers(folder, draw);
    let prices = parts(folder, draw);
    customers(folder, draw);
    orders(folder, draw, &prices);
}

fn nation(draw: &mut Draw) -> i64 {
    if draw.one_in(2) { draw.of(&OFTEN) } else { draw.between(0, 24) }
}

fn phone(draw: &mut Draw, nation: i64) -> String {
    let mut part = |most: i64| draw.between(most / 10, most - 1);
    format!("{}-{}-{}-{}", nation + 10, part(1000), part(1000), part(10_000))
}

fn suppliers(folder: &Path, draw: &mut Draw) {
    let mut rows = Vec::new();
    for i in 1..=40 {
        let nation = nation(draw);
        let phone = phone(draw, nation);
        let balance = cents(draw.between(-99_999, 999_999));
        let comment = if i % 10 == 3 { "Customer sees Complaints" } else { draw.of(&REMARKS) };
        rows.push(format!(
            "{i},Supplier#{i:09},{i} Dock Road,{nation},{phone},{balance},{comment}"
        ));
    }
    let header = "s_suppkey,s_name,s_address,s_nationkey,s_phone,s_acctbal,s_comment";
    csv(folder, "supplier", header, &rows);
}

/// Writes the parts and who supplies them. Returns the retail prices, in cents.
fn parts(folder: &Path, draw: &mut Draw) -> Vec<i64> {
    let (mut rows, mut supplies, mut prices) = (Vec::new(), Vec::new(), Vec::new());
    for i in 1..=200 {
        let name = format!("{} {}", draw.of(&COLORS), draw.of(&COLORS));
        let (brand, kind, container) = (draw.of(&BRANDS), draw.of(&TYPES), draw.of(&CONTAINERS));
        let (maker, size) = (&brand[6..7], draw.of(&[1, 3, 5, 9, 14, 15, 19, 23, 36, 45, 49, 50]));
        let price = 90_000 + i * 100 + i % 7;
        let shown = cents(price);
        rows.push(format!(
            "{i},{name},Manufacturer#{maker},{brand},{kind},{size},{container},{shown},a part"
        ));
        for k in 0..4 {
            let (available, cost) = (draw.between(1, 9999), cents(draw.between(100, 100_000)));
            supplies.push(format!("{i},{},{available},{cost},a supply", supplier_of(i, k)));
        }
        prices.push(price);
    }
    let header =
        "p_partkey,p_name,p_mfgr,p_brand,p_type,p_size,p_container,p_retailprice,p_comment";
    csv(folder, "part", header, &rows);
    let header = "ps_partkey,ps_suppkey,ps_availqty,ps_supplycost,ps_comment";
    csv(folder, "partsupp", header, &supplies);
    prices
}

/// One of the four suppliers of a part.
fn supplier_of(part: i64, k: i64) -> i64 {
    (part + k * 10) % 40 + 1
}

fn customers(folder: &Path, draw: &mut Draw) {
    let mut rows = Vec::new();
    for i in 1..=500 {
        let nation = nation(draw);
        let phone = phone(draw, nation);
        let balance = draw.between(-99_999, 999_999);
        let balance = or_null((!draw.one_in(30)).then(|| cents(balance)));
        let segment = or_null(Some(draw.of(&SEGMENTS)).filter(|_| !draw.one_in(40)));
        let comment = draw.of(&REMARKS);
        rows.push(format!(
            "{i},Customer#{i:09},{i} Main Street,{nation},{phone},{balance},{segment},{comment}"
        ));
    }
    let header = "c_custkey,c_name,c_address,c_nationkey,c_phone,c_acctbal,c_mktsegment,c_comment";
    csv(folder, "customer", header, &rows);
}

fn orders(folder: &Path, draw: &mut Draw, prices: &[i64]) {
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let mut key = 0;
    for customer in 1..=500 {
        // A third of the customers never order.
        let count = if customer % 3 == 0 { 0 } else { draw.between(1, 8) };
        let mut left = MOST_LINES;
        for _ in 0..count {
            key += draw.of(&[1, 1, 2, 25]);
            let date = FIRST + draw.between(0, 2405);
            let items = draw.between(1, 7).min(left);
            left -= items;
            let (mut total, mut open) = (0, 0);
            for item in 1..=items {
                let (price, shipped, line) = line(draw, key, item, date, prices);
                (total, open) = (total + price, open + i64::from(shipped > TODAY));
                lines.push(line);
            }
            let status = match open {
                0 => "F",
                all if all == items => "O",
                _ => "P",
            };
            let (priority, clerk) = (draw.of(&PRIORITIES), draw.between(1, 12));
            let remark = draw.of(&REMARKS);
            let comment = or_null((!draw.one_in(40)).then_some(remark));
            let (total, date) = (cents(total), day(date));
            rows.push(format!(
                "{key},{customer},{status},{total},{date},{priority},Clerk#{clerk:09},0,{comment}"
            ));
        }
    }
    let header = "o_orderkey,o_custkey,o_orderstatus,o_totalprice,o_orderdate,o_orderpriority,o_clerk,o_shippriority,o_comment";
    csv(folder, "orders", header, &rows);
    let header = "l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,l_comment";
    csv(folder, "lineitem", header, &lines);
}

/// Its price in cents, the day on which it was shipped, and the row.
fn line(draw: &mut Draw, order: i64, item: i64, date: i64, prices: &[i64]) -> (i64, i64, String) {
    let part = draw.between(1, 200);
    let supplier = supplier_of(part, draw.between(0, 3));
    let quantity = draw.between(1, 50);
    let price = quantity * prices[part as usize - 1];
    let (discount, tax) = (cents(draw.between(0, 10)), cents(draw.between(0, 8)));
    let shipped = date + draw.between(1, 121);
    let committed = date + draw.between(30, 90);
    let received = shipped + draw.between(1, 30);
    let flag = if received <= TODAY { draw.of(&["R", "A"]) } else { "N" };
    let status = if shipped > TODAY { "O" } else { "F" };
    let (instruction, mode) = (draw.of(&INSTRUCTIONS), draw.of(&MODES));
    let row = format!(
        "{order},{part},{supplier},{item},{quantity},{},{discount},{tax},{flag},{status},{},{},{},{instruction},{mode},a line",
        cents(price),
        day(shipped),
        day(committed),
        day(received),
    );
    (price, shipped, row)
}
