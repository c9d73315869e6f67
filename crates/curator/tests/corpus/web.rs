//! Users of a shop, what they did there and what they bought, in 2024.

use super::draw::{Draw, cents, csv, day, moment, or_null};
use std::path::Path;

const COUNTRIES: [(&str, &str, &str); 6] = [
    ("DE", "Germany", "Europe"),
    ("FR", "France", "Europe"),
    ("GB", "United Kingdom", "Europe"),
    ("IN", "India", "Asia"),
    ("JP", "Japan", "Asia"),
    ("US", "United States", "America"),
];
const CATEGORIES: [&str; 4] = ["books", "garden", "music", "toys"];
const KINDS: [&str; 5] = ["view", "view", "view", "click", "cart"];
const PAGES: [&str; 6] = ["/", "/search", "/item", "/cart", "/help", "/blog"];
const CHANNELS: [&str; 4] = ["ads", "email", "organic", "social"];
/// 2024-01-01.
const FIRST: i64 = 19_723;
const SECONDS: i64 = 86_400;

pub(crate) fn write(folder: &Path) {
    let draw = &mut Draw::new(2024);
    let rows: Vec<String> = COUNTRIES
        .iter()
        .map(|(code, name, continent)| format!("{code},{name},{continent}"))
        .collect();
    // A country without any user.
    let rows = [rows, vec!["IS,Iceland,Europe".to_owned()]].concat();
    csv(folder, "countries", "code,name,continent", &rows);
    let rows: Vec<String> = (1..=24)
        .map(|i| format!("{i},Thing {i},{},{}", CATEGORIES[i % 4], cents(99 + 250 * i as i64)))
        .collect();
    csv(folder, "products", "product_id,title,category,price", &rows);
    people(folder, draw);
}

fn people(folder: &Path, draw: &mut Draw) {
    let (mut users, mut events, mut purchases) = (Vec::new(), Vec::new(), Vec::new());
    for user in 1..=400 {
        let joined = FIRST + draw.between(0, 180);
        let country = draw.of(&COUNTRIES).0;
        let country = or_null((!draw.one_in(25)).then_some(country));
        let plan = draw.of(&["free", "free", "pro", "team"]);
        let born = or_null((!draw.one_in(20)).then_some(draw.between(1950, 2006)));
        let (active, channel) = (draw.one_in(3), draw.of(&CHANNELS));
        let shown = day(joined);
        users.push(format!(
            "{user},User {user},user{user}@example.org,{country},{shown},{plan},{born},{active},{channel}"
        ));
        // One in ten never comes back.
        let count = if user % 10 == 0 { 0 } else { draw.between(1, 20) };
        let mut now = joined * SECONDS + draw.between(0, SECONDS - 1);
        for _ in 0..count {
            // Within a session, or days later.
            now += if draw.one_in(3) {
                draw.between(SECONDS, 20 * SECONDS)
            } else {
                draw.between(5, 1500)
            };
            let kind = draw.of(&KINDS);
            let event = events.len() + 1;
            let spent = or_null((!draw.one_in(15)).then_some(draw.between(0, 600)));
            let (page, device) = (draw.of(&PAGES), draw.of(&["desktop", "mobile", "tablet"]));
            events.push(format!("{event},{user},{},{kind},{page},{spent},{device}", moment(now)));
            if kind == "cart" && draw.one_in(2) {
                let product = draw.between(1, 24);
                let quantity = draw.between(1, 4);
                let amount = cents(quantity * (99 + 250 * product));
                let coupon = or_null(draw.one_in(4).then_some(draw.of(&["SPRING", "WELCOME"])));
                let refunded = draw.one_in(8);
                let purchase = purchases.len() + 1;
                now += draw.between(10, 600);
                purchases.push(format!(
                    "{purchase},{user},{},{product},{quantity},{amount},{coupon},{refunded}",
                    moment(now)
                ));
            }
        }
    }
    let header = "user_id,name,email,country,signup,plan,birth_year,active,channel";
    csv(folder, "users", header, &users);
    csv(folder, "events", "event_id,user_id,ts,kind,page,seconds,device", &events);
    let header = "purchase_id,user_id,ts,product_id,quantity,amount,coupon,refunded";
    csv(folder, "purchases", header, &purchases);
}
