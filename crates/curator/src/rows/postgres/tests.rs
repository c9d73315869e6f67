//! Expected values are PostgreSQL's.

use super::*;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::prelude::SessionContext;

async fn shown(sql: &str) -> String {
    let context = SessionContext::new();
    functions().for_each(|function| context.register_udf(function));
    let found = match context.sql(&format!("SELECT {sql} AS x")).await {
        Ok(frame) => frame.collect().await,
        Err(error) => Err(error),
    };
    match found {
        Ok(batches) => {
            let column = batches[0].column(0);
            if column.is_null(0) {
                "NULL".to_owned()
            } else {
                array_value_to_string(column, 0).unwrap()
            }
        }
        Err(error) => {
            let text = error.strip_backtrace();
            text.rsplit("(): ").next().unwrap().lines().next().unwrap().to_owned()
        }
    }
}

#[tokio::test]
async fn constants_have_the_values_of_postgresql() {
    for (sql, expected) in [
        ("age(timestamp '2001-04-10', timestamp '1957-06-13')", "525 mons 27 days"),
        ("age(date '2024-03-31', date '2024-02-29')", "1 mons 2 days"),
        ("age(date '2024-02-29', date '2024-03-31')", "-1 mons -2 days"),
        ("age(timestamp '2024-03-01 01:00:00', timestamp '2024-02-29 23:00:00')", "2 hours"),
        ("make_date(2024, 2, 29)", "2024-02-29"),
        ("make_date(2023, 2, 29)", "there is no such date"),
        ("make_date(2024, NULL, 1)", "NULL"),
        ("to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05"),
        ("to_date('20240229', 'YYYYMMDD')", "2024-02-29"),
        ("to_date('2024/2/9', 'YYYY-MM-DD')", "2024-02-09"),
        ("to_date('24-069', 'YY-DDD')", "2024-03-09"),
        ("to_date('2024-17-03', 'YYYY-MM-DD')", "a part of the text is out of range"),
        ("to_date('2024-02-30', 'YYYY-MM-DD')", "there is no such date"),
        ("to_date('abc', 'YYYY-MM-DD')", "the text does not match the format"),
        ("to_date('2024', 'IYYY')", "the format has a part that is not understood"),
        ("to_date(NULL, 'YYYY')", "NULL"),
        ("to_timestamp('2024-03-17 05:06:07', 'YYYY-MM-DD HH24:MI:SS')", "2024-03-17T05:06:07"),
        ("to_timestamp('17.3.2024 05:06 PM', 'DD.MM.YYYY HH12:MI AM')", "2024-03-17T17:06:00"),
        ("to_timestamp('12:30 AM', 'HH12:MI AM')", "0001-01-01T00:30:00"),
        ("to_timestamp(1284352323.5)", "2010-09-13T04:32:03.500"),
        ("to_timestamp(1e300)", "the time is out of range"),
        ("width_bucket(5.35, 0.024, 10.06, 5)", "3"),
        ("width_bucket(35, 0, 100, 10)", "4"),
        ("width_bucket(100, 0, 100, 10)", "11"),
        ("width_bucket(-1, 0, 100, 10)", "0"),
        ("width_bucket(35, 100, 0, 10)", "7"),
        ("width_bucket(29, 0, 100, 100)", "30"),
        ("width_bucket(5, 0, 0, 3)", "the lower bound equals the upper bound"),
        ("width_bucket(5, 0, 1, 0)", "the number of buckets must be between 1 and 2147483646"),
        ("lpad('hi', 5, 'xy')", "xyxhi"),
        ("rpad('hi', 5)", "hi   "),
        ("lpad('hello', 2)", "he"),
        ("lpad('hi', -1)", ""),
        ("lpad('hi', 5, '')", "hi"),
        ("overlay('Txxxxas', 'hom', 2, 4)", "Thomas"),
        ("overlay('abcdef', 'XY', 2)", "aXYdef"),
        ("overlay('abcdef', 'XY', 0)", "the place must be 1 or more"),
        ("regexp_replace('foobarbaz', 'b..', 'X')", "fooXbaz"),
        ("regexp_replace('foobarbaz', 'b..', 'X', 'g')", "fooXX"),
        ("regexp_replace('foobarbaz', 'b(..)', 'X\\1Y', 'g')", "fooXarYXazY"),
        ("regexp_replace('a$1', 'A', '[\\&]$1', 'i')", "[a]$1$1"),
        ("regexp_replace('abc', 'x*', '-', 'g')", "-a-b-c-"),
        ("regexp_replace('abc', '(', '-')", "the regular expression cannot be used"),
        ("substring_match('Thomas', '...$')", "mas"),
        ("substring_match('foobar', 'o(.)b')", "o"),
        ("substring_match('foobar', 'z')", "NULL"),
        ("isfinite(date '2001-02-16')", "true"),
    ] {
        assert_eq!(shown(sql).await, expected, "{sql}");
    }
}
