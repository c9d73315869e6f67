//! Made-up patients, and two releases of them by Mondrian, one 4-anonymous and one 5-anonymous by zip code and age.

use super::releases::Tables;
use crate::draws::Draws;
use crate::error::{Error, Result};
use demure_anonymize::model::{KAnonymity, Model};
use demure_anonymize::mondrian::mondrian;
use demure_anonymize::partition::Options;
use demure_anonymize::recoding::Attribute;
use demure_anonymize::table::{Column, Table};

/// How many there are.
pub const PATIENTS: usize = 300;
/// How often each disease occurs, in parts of 100.
const DISEASES: [(&str, u64); 7] = [
    ("flu", 34),
    ("asthma", 20),
    ("diabetes", 16),
    ("migraine", 12),
    ("depression", 8),
    ("cancer", 6),
    ("HIV", 4),
];

/// The patients, a 4-anonymous release of them and a 5-anonymous one.
///
/// # Errors
/// None that can be met: the patients have such releases.
pub fn patients(seed: u64) -> Result<Tables> {
    let mut draws = Draws::part(seed, 9);
    let mut csv = String::from("zip,age,disease\n");
    for _ in 0..PATIENTS {
        let (zip, age) = (8000 + draws.below(400), 18 + draws.below(70));
        // Diseases go by place and age, as they do.
        let local = DISEASES[((zip / 40 + age / 20) % 7) as usize].0;
        let disease = if draws.below(100) < 60 { local } else { any(&mut draws) };
        csv += &format!("{zip},{age},{disease}\n");
    }
    let original = Table::from_csv(csv.as_bytes(), b',')?;
    Ok(Tables {
        published: release(&original, &["zip", "age"], 4)?,
        second: Some(release(&original, &["age", "zip"], 5)?),
        original,
        quasi: vec!["zip".to_owned(), "age".to_owned()],
        sensitive: "disease".to_owned(),
    })
}

/// A disease as common as it is everywhere.
fn any(draws: &mut Draws) -> &'static str {
    let mut left = draws.below(100);
    for (name, weight) in DISEASES {
        if left < weight {
            return name;
        }
        left -= weight;
    }
    DISEASES[0].0
}

/// A k-anonymous release of boxes; the disease stays as it is.
fn release(table: &Table, quasi: &[&str], k: u64) -> Result<Table> {
    let mut attributes = Vec::new();
    for name in quasi {
        attributes.push(Attribute::numeric(&table.columns[table.position(name)?])?);
    }
    let sensitive = &table.columns[table.position("disease")?];
    let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k)?)];
    let how = Options { threads: 1, ..Options::default() };
    let parts = mondrian(&attributes, &[sensitive], &models, &how)?.ok_or(Error::NoRelease)?;
    let mut columns = vec![sensitive.clone()];
    for (at, attribute) in attributes.iter().enumerate() {
        let labels = (0..parts.recoding.sizes.len()).map(|class| {
            parts.recoding.cells_of(class).get(at).map_or("*".to_owned(), |c| attribute.label(*c))
        });
        // One label a class, alike or not: to a reader, classes with equal labels are one.
        let mut values: Vec<String> = Vec::new();
        let code = |label: String| {
            let known = values.iter().position(|value| *value == label);
            known.unwrap_or_else(|| {
                values.push(label);
                values.len() - 1
            }) as u32
        };
        let of_class: Vec<u32> = labels.map(code).collect();
        let codes = parts.recoding.class_of.iter().map(|class| of_class[*class as usize]).collect();
        columns.push(Column { name: attribute.column.name.clone(), values, codes });
    }
    Ok(Table { columns, rows: table.rows })
}
