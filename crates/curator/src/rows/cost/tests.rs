use super::*;
use datafusion::functions::expr_fn::{concat, initcap, left, regexp_count, regexp_like, strpos};
use datafusion::logical_expr::{col, lit};

/// A text `t` of up to 4,096 bytes, one `s` of up to 10, a number `n`.
fn of(expr: &Expr) -> Computed {
    cost(expr, &|column| match column.name.as_str() {
        "t" => 4096,
        "s" => 10,
        _ => 0,
    })
}

#[test]
fn ordinary_expressions_cost_a_handful() {
    for expr in [
        (col("n") + lit(3)).gt(lit(5)).and(col("n").lt(lit(100))),
        col("n").between(lit(1), lit(9)).or(col("n").is_null()),
        col("t").eq(col("t")),
        col("n").in_list((0..1000).map(lit).collect(), false),
    ] {
        let found = of(&expr);
        assert!(found.cost.units() <= 64 && found.cost.passes == 0, "{expr}: {found:?}");
    }
}

#[test]
fn texts_cost_as_much_as_they_can_be_long() {
    let short = of(&initcap(col("s")));
    assert_eq!((short.cost.passes, short.cost.bytes, short.longest), (8, 80, 20));
    let long = of(&initcap(col("t")));
    assert_eq!((long.cost.passes, long.cost.bytes, long.longest), (8, 32_768, 4096));
    // The result of a function is at most this long, whatever goes in.
    let twice = concat(vec![col("t"), col("t"), lit("0")]);
    assert_eq!((of(&twice).cost.bytes, of(&twice).longest), (4 * 8193, 4096));
    assert_eq!(of(&left(col("t"), lit(5))).longest, 20);
    // Searching for a long text in a long one.
    assert_eq!(of(&strpos(col("t"), lit("zq"))).cost.passes, 4);
    assert_eq!(of(&strpos(col("t"), col("t"))).cost.passes, 260);
}

#[test]
fn patterns_cost_as_many_passes_as_they_have_places() {
    for (pattern, passes) in [
        ("flu", 4),
        ("diabetes|asthma", 14),
        (r"\d{4}-\d{2}-\d{2}", 10),
        ("(a|b){1,100}c", 1616),
        (r"^\w+@\w+\.(com|org)$", 14),
    ] {
        let found = of(&regexp_like(col("t"), lit(pattern), None)).cost.passes;
        assert_eq!(found, passes, "{pattern}");
    }
    assert_eq!(of(&col("t").like(lit("%flu%"))).cost.passes, 2);
    assert_eq!(of(&col("t").like(lit("%a%b_c%d%"))).cost.passes, 9);
    let many = format!("%a{}c%", "_".repeat(27));
    assert_eq!(of(&col("t").like(lit(many))).cost.passes, 31 * 16);
    // Every match that is counted costs by itself.
    let counted = |pattern: &str| of(&regexp_count(col("t"), lit(pattern), None, None)).cost.passes;
    assert_eq!((counted(""), counted("a"), counted("abcd")), (68, 68, 32));
    // A number of characters beyond all texts.
    assert_eq!(of(&left(col("t"), lit(1i64 << 62))).longest, 4096);
}

/// The limits on a person's rows count a long row as several short ones.
#[test]
fn no_cost_grows_faster_than_the_texts() {
    let at =
        |expr: &Expr, times: u64| cost(expr, &|column| 64 * times * u64::from(column.name == "t"));
    let mut all = vec![
        col("t").eq(col("t")),
        col("t").like(lit("%a%b_c%d%")),
        col("t").in_list(vec![lit("a"), lit("b")], false),
        col("t").in_list(vec![col("t"), lit("b")], false),
        concat(vec![initcap(col("t")), left(col("t"), lit(30)), lit("x")]),
    ];
    for function in datafusion::functions::all_default_functions() {
        if !crate::rows::admit::FUNCTIONS.iter().any(|(name, _)| *name == function.name()) {
            continue;
        }
        for others in [vec![], vec![lit("ab+c")], vec![col("t")], vec![col("t"), col("t")]] {
            all.push(function.call([vec![col("t")], others].concat()));
        }
    }
    assert!(all.len() > 200);
    for expr in all {
        let one = at(&expr, 1);
        for times in [2, 7, 64] {
            let found = at(&expr, times);
            assert!(found.cost.units() <= one.cost.units().saturating_mul(times), "{expr} {times}");
            assert!(found.longest <= times * one.longest, "{expr} {times}");
        }
    }
}
