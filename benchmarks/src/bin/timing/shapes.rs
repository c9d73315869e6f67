//! The statements that are timed: `{t}` is the table, `{x}` the person, `{k}` her attribute in `present`. In
//! `{t}_many` she has very many rows.

/// One shape.
pub(crate) struct Shape {
    /// What reports call it.
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// One of the three tables.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
}

/// The first is compared with each of the others.
pub(crate) const CLASSES: [Class; 3] =
    [Class { name: "present" }, Class { name: "absent" }, Class { name: "other" }];

/// A shape that scans the table twice, without looking for anybody.
pub(crate) fn two_scans() -> &'static Shape {
    const TWO: Shape = Shape {
        name: "two scans",
        sql: "SELECT count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id",
    };
    &TWO
}

pub(crate) const SHAPES: [Shape; 24] = [
    Shape { name: "filter: id", sql: "SELECT count(*) FROM {t} WHERE user_id = {x}" },
    Shape {
        name: "filter: id and attribute",
        sql: "SELECT count(*) FROM {t} WHERE user_id = {x} AND g = {k}",
    },
    Shape { name: "filter: attribute", sql: "SELECT count(*) FROM {t} WHERE g = {k}" },
    Shape {
        name: "filter: range",
        sql: "SELECT count(*) FROM {t} WHERE user_id BETWEEN {x} AND {x} + 3 AND g = {k}",
    },
    Shape {
        name: "filter: OR",
        sql: "SELECT count(*) FROM {t} WHERE (user_id = {x} OR user_id = -1) AND NOT g <> {k}",
    },
    Shape {
        name: "filter: arithmetic",
        sql: "SELECT count(*) FROM {t} WHERE user_id = {x} AND sqrt(v) + ln(v + 2) > -1 AND g = {k}",
    },
    Shape {
        name: "IN: ids",
        sql: "SELECT count(*) FROM {t} WHERE user_id IN (-3, -2, -1, {x}) AND g = {k}",
    },
    Shape {
        name: "IN: people",
        sql: "SELECT count(*) FROM {t} WHERE user_id IN \
              (SELECT user_id FROM {t} WHERE user_id = {x} AND g = {k})",
    },
    Shape { name: "sum", sql: "SELECT sum(v) FROM {t} WHERE user_id = {x} AND g = {k}" },
    Shape { name: "average", sql: "SELECT avg(v) FROM {t} WHERE user_id = {x} AND g = {k}" },
    Shape {
        name: "join of 2",
        sql: "SELECT count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id \
              WHERE a.user_id = {x} AND a.g = {k}",
    },
    Shape {
        name: "join of 2: other side",
        sql: "SELECT count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id \
              WHERE b.user_id = {x} AND b.g = {k}",
    },
    Shape {
        name: "left join of 2",
        sql: "SELECT count(b.v) FROM {t} a LEFT JOIN {t} b ON a.user_id = b.user_id AND b.g = {k} \
              WHERE a.user_id = {x}",
    },
    Shape {
        name: "join of 3",
        sql: "SELECT count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id \
              JOIN {t} c ON b.user_id = c.user_id WHERE a.user_id = {x} AND a.g = {k}",
    },
    Shape {
        name: "join of 4",
        sql: "SELECT count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id \
              JOIN {t} c ON b.user_id = c.user_id JOIN {t} d ON c.user_id = d.user_id \
              WHERE a.user_id = {x} AND a.g = {k}",
    },
    Shape { name: "GROUP BY", sql: "SELECT g, count(*) FROM {t} GROUP BY g" },
    Shape { name: "GROUP BY: id", sql: "SELECT g, sum(v) FROM {t} WHERE user_id = {x} GROUP BY g" },
    Shape {
        name: "GROUP BY: join",
        sql: "SELECT b.g, count(*) FROM {t} a JOIN {t} b ON a.user_id = b.user_id \
              WHERE a.user_id = {x} AND a.g = {k} GROUP BY b.g",
    },
    Shape {
        name: "per person",
        sql: "SELECT avg(clamp(n, 0, 20)) FROM (SELECT user_id, count(*) AS n FROM {t} \
              WHERE user_id = {x} AND g = {k} GROUP BY user_id)",
    },
    Shape { name: "median", sql: "SELECT median(v) FROM {t} WHERE user_id = {x} AND g = {k}" },
    Shape { name: "quantile", sql: "SELECT approx_percentile_cont(v, 0.9) FROM {t} WHERE g = {k}" },
    Shape { name: "max", sql: "SELECT max(v) FROM {t} WHERE user_id = {x} AND g = {k}" },
    // One row of hers, 256 public rows, text functions of each: near the most that is admitted.
    Shape {
        name: "long texts: join",
        sql: "SELECT sum(clamp(strpos(initcap(reverse(concat(a.v, r.s, '0'))), 'zq'), 0, 1)) \
              FROM {t} a JOIN (SELECT concat(x.n, 'abcde abcde abcde abcde abcde abcde abcde \
              abcde abcde abcde ') AS s, x.n * 0 AS z FROM (VALUES (0), (1), (2), (3), (4), \
              (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)) x(n) CROSS JOIN \
              (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), \
              (13), (14), (15)) y(n)) r ON a.v * 0 = r.z WHERE a.user_id = {x} AND a.g = {k}",
    },
    // Thousands of rows of hers, long texts of each.
    Shape {
        name: "long texts: many rows",
        sql: "SELECT sum(clamp(strpos(initcap(reverse(concat(v, 'abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi ', '0'))), 'zq') + \
              strpos(initcap(reverse(concat(v, 'abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi ', '1'))), 'zq') + strpos(initcap(reverse(concat(v, \
              'abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi ', '2'))), 'zq') + \
              strpos(initcap(reverse(concat(v, 'abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi ', '3'))), 'zq') + strpos(initcap(reverse(concat(v, \
              'abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi ', '4'))), 'zq') + \
              strpos(initcap(reverse(concat(v, 'abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi \
              abcdefghi abcdefghi ', '5'))), 'zq'), 0, 1)) FROM {t}_many WHERE user_id = {x} \
              AND g = {k}",
    },
];

#[cfg(test)]
mod tests;
