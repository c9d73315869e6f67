//! Writes the release: each row with its class's labels.

use crate::error::{Error, Result};
use crate::hierarchy::STAR;
use crate::search::{Outcome, Problem};
use std::io::Write;

/// Writes the table as CSV with a header. Columns keep their order: the
/// quasi-identifiers with the labels of the row's class, `*` where the row is
/// suppressed; the sensitive columns and those of `also` as they are. Any other
/// column is left out.
///
/// Sensitive values of suppressed rows are published, since the models compare
/// with the whole table; no quasi-identifier stands beside them.
pub fn write(
    problem: &Problem<'_>,
    outcome: &Outcome,
    also: &[usize],
    delimiter: u8,
    output: impl Write,
) -> Result<()> {
    let table = problem.table;
    // Each column published: its codes, and the text of each code.
    let mut columns: Vec<(&[u32], Vec<&str>, bool)> = Vec::new();
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter).buffer_capacity(1 << 20).from_writer(output);
    let mut header = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let quasi = problem.quasi.iter().zip(&outcome.levels).find(|(quasi, _)| quasi.column == at);
        if let Some((quasi, &level)) = quasi {
            let Some(level) = quasi.hierarchy.levels.get(level) else {
                return Err(Error::OutOfRange {
                    parameter: "a level",
                    allowed: "a level of the hierarchy",
                });
            };
            let texts =
                level.group.iter().map(|&group| level.labels[group as usize].as_str()).collect();
            columns.push((&column.codes, texts, true));
        } else if problem.sensitive.contains(&at) || also.contains(&at) {
            columns.push((
                &column.codes,
                column.values.iter().map(String::as_str).collect(),
                false,
            ));
        } else {
            continue;
        }
        header.push(column.name.as_str());
    }
    writer.write_record(&header).map_err(failed)?;
    for (row, &class) in outcome.assignment.iter().enumerate() {
        let suppressed = class == crate::search::SUPPRESSED;
        for (codes, texts, quasi) in &columns {
            let text = if suppressed && *quasi { STAR } else { texts[codes[row] as usize] };
            writer.write_field(text).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    writer.flush().map_err(|source| Error::File { what: "writing the release".to_owned(), source })
}

fn failed(error: csv::Error) -> Error {
    let source = match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        _ => std::io::ErrorKind::InvalidData.into(),
    };
    Error::File { what: "writing the release".to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Hierarchy;
    use crate::model::KAnonymity;
    use crate::search::{Answer, Metric, Options, Quasi, Suppression, optimal};
    use crate::table::Table;

    #[test]
    fn suppressed_rows_are_stars_and_other_columns_are_left_out() {
        let text = "name,zip,points,system\nAnn,1,5,x\nBob,1,6,y\nCy,2,7,z\n";
        let table = Table::from_csv(text.as_bytes(), b',').unwrap();
        let quasi = |column: usize, hierarchy| Quasi { column, hierarchy };
        let problem = Problem {
            table: &table,
            quasi: vec![
                quasi(2, Hierarchy::suppress(&table.columns[2])),
                quasi(1, Hierarchy::flat(&table.columns[1])),
            ],
            sensitive: vec![3],
            population: None,
            models: vec![Box::new(KAnonymity::new(2).unwrap())],
            limit: Suppression::Count(1),
            metric: Metric::Loss,
        };
        let Answer::Release(outcome) = optimal(&problem, &Options::default()).unwrap() else {
            panic!()
        };
        let mut output = Vec::new();
        write(&problem, &outcome, &[], b';', &mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        assert_eq!(output, "zip;points;system\n1;*;x\n1;*;y\n*;*;z\n");
    }
}
