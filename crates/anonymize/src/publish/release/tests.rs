use super::*;

#[test]
fn rows_that_agree_are_a_class() {
    let table = Table::from_csv(&b"a,b,s\n1,x,p\n1,y,q\n1,x,q\n2,x,p\n"[..], b',').unwrap();
    let columns: Vec<&Column> = table.columns.iter().take(2).collect();
    assert_eq!(group(&columns), (vec![0, 1, 0, 2], vec![2, 1, 1]));
    let all = whole(table.rows, &[&table.columns[2]], None);
    assert_eq!((all.size, all.sensitive[0].counts.as_slice()), (4, &[2, 2][..]));
    assert_eq!(group(&[]), (vec![], vec![]));
    let people = Population { codes: vec![vec![0, 0, 1, 1], vec![0, 0, 0, 1]], rows: 4 };
    assert_eq!(matching(&columns, &people), [2, 0, 1]);
}
