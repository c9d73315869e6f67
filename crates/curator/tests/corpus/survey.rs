//! A survey: one row for each person who was asked.

use super::draw::{Draw, cents, csv, day, moment, or_null};
use std::path::Path;

/// 2023-03-01.
const FIRST: i64 = 19_417;

pub(crate) fn write(folder: &Path) {
    let draw = &mut Draw::new(7);
    let mut rows = Vec::new();
    for id in 1..=600 {
        let age = draw.between(18, 95);
        let sex = or_null(Some(draw.of(&["f", "m", "x"])).filter(|_| !draw.one_in(30)));
        let region = draw.of(&["North", "South", "East", "West"]);
        let education = draw.of(&["none", "school", "college", "degree"]);
        let income = draw.between(0, 180) * 50_000 + draw.between(0, 99);
        let income = or_null((!draw.one_in(12)).then(|| cents(income)));
        let household = draw.between(1, 7);
        let satisfaction = or_null((!draw.one_in(10)).then_some(draw.between(1, 5)));
        let height = draw.between(1450, 2050);
        // Weight follows height.
        let weight = height * 4 / 10 - 10 + draw.between(-150, 250);
        let smoker = or_null((!draw.one_in(15)).then_some(draw.one_in(4)));
        let when = FIRST + draw.between(0, 60);
        let started = when * 86_400 + draw.between(8 * 3600, 20 * 3600);
        let finished = started + draw.between(300, 3600);
        let party = or_null(
            Some(draw.of(&["Blue", "green", "Red ", "yellow"])).filter(|_| !draw.one_in(9)),
        );
        rows.push(format!(
            "{id},{age},{sex},{region},{education},{income},{household},{satisfaction},{}.{},{}.{},{smoker},{},{},{},{party}",
            height / 10,
            height % 10,
            weight / 10,
            weight % 10,
            day(when),
            moment(started),
            moment(finished),
        ));
    }
    let header = "id,age,sex,Region,education,income,HouseholdSize,satisfaction,height,weight,smoker,interviewed,started,finished,party";
    csv(folder, "respondents", header, &rows);
    let weights = ["North,0.9", "South,1.1", "East,1.25", "West,0.75"].map(str::to_owned);
    csv(folder, "weights", "region,factor", &weights);
}
