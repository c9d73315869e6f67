use super::*;
use crate::hierarchy::Hierarchy;
use crate::publish::whole;
use crate::recoding::{Attribute, Cell, Recoding};
use crate::search::SUPPRESSED;
use crate::table::Table;

#[test]
fn suppressed_rows_are_stars_and_other_columns_are_left_out() {
    let text = "name,zip,points,system\nAnn,1,5,x\nBob,1,6,y\nCy,2,7,z\n";
    let table = Table::from_csv(text.as_bytes(), b',').unwrap();
    let (flat, all) = (Hierarchy::flat(&table.columns[1]), Hierarchy::suppress(&table.columns[2]));
    let attributes = [
        Attribute::hierarchy(&table.columns[1], &flat).unwrap(),
        Attribute::hierarchy(&table.columns[2], &all).unwrap(),
    ];
    let sensitive = vec![&table.columns[3]];
    let recoding = Recoding {
        width: 2,
        class_of: vec![0, 0, SUPPRESSED],
        sizes: vec![2],
        cells: vec![Cell::Group { level: 0, group: 0 }, Cell::Group { level: 1, group: 0 }],
    };
    let release = Release {
        classes: recoding.classes(&sensitive),
        whole: whole(table.rows, &sensitive, None),
        table: &table,
        attributes: &attributes,
        sensitive,
        recoding,
        method: "optimal",
        score: None,
        levels: None,
        parts: None,
        population: None,
    };
    let mut out = Vec::new();
    write(&release, &[1, 2, 3], b';', &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "zip;points;system\n1;*;x\n1;*;y\n*;*;z\n");
    // The same cell by cell, for other formats.
    let columns = columns(&release, &[1, 2, 3]);
    let row = |row| columns.iter().map(|(_, c)| c.text(row, &release)).collect::<Vec<_>>();
    assert_eq!(row(1), [Some("1"), Some("*"), Some("y")]);
    assert_eq!(row(2), [Some("*"), Some("*"), Some("z")]);
}

#[test]
fn texts_are_quoted_where_they_must_be() {
    let shown = |text, alone| {
        let mut into = Vec::new();
        cell(&mut into, text, b';', b'\n', alone);
        String::from_utf8(into).unwrap()
    };
    assert_eq!(shown("a,b", false), "a,b\n");
    assert_eq!(shown("a;b", false), "\"a;b\"\n");
    assert_eq!(shown("say \"x\"", false), "\"say \"\"x\"\"\"\n");
    assert_eq!((shown("", false), shown("", true)), ("\n".into(), "\"\"\n".into()));
}
