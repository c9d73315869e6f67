-- name: fetch
-- column: int4 ?column?
-- row: 1
select 1
;

-- name: introspect
-- column: text cur
-- column: text new
-- differs: a constant
-- row: off|off
SELECT
                        current_setting('jit') AS cur,
                        set_config('jit', 'off', false) AS new
;

-- name: introspect
-- parameter: _oid {3905,{visits array},{visits type}}
-- column: oid oid
-- column: name ns
-- column: name name
-- column: char kind
-- column: oid basetype
-- column: oid elemtype
-- column: char elemdelim
-- column: oid range_subtype
-- column: _oid attrtypoids
-- column: _text attrnames
-- column: int4 depth
-- column: text basetype_name
-- column: text elemtype_name
-- column: text range_subtype_name
-- row: 1082|pg_catalog|date|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 1700|pg_catalog|numeric|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 20|pg_catalog|int8|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 1114|pg_catalog|timestamp|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 16|pg_catalog|bool|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 701|pg_catalog|float8|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 23|pg_catalog|int4|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 25|pg_catalog|text|b|\N|0|\N|\N|\N|\N|2|\N|-|\N
-- row: 23|pg_catalog|int4|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 1082|pg_catalog|date|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 3904|pg_catalog|int4range|r|\N|0|\N|23|\N|\N|1|\N|-|integer
-- row: 25|pg_catalog|text|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 1700|pg_catalog|numeric|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 20|pg_catalog|int8|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 701|pg_catalog|float8|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 1114|pg_catalog|timestamp|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: 16|pg_catalog|bool|b|\N|0|\N|\N|\N|\N|1|\N|-|\N
-- row: {visits type}|public|visits|c|\N|0|\N|\N|{20,1082,701,25,16,1700,1114,23}|{person,day,minutes,place,paid,price,seen,rank}|1|\N|-|\N
-- row: {visits array}|public|_visits|b|\N|{visits type}|,|\N|\N|\N|0|\N|visits|\N
-- row: 3905|pg_catalog|_int4range|b|\N|3904|,|\N|\N|\N|0|\N|int4range|\N
-- row: {visits type}|public|visits|c|\N|0|\N|\N|{20,1082,701,25,16,1700,1114,23}|{person,day,minutes,place,paid,price,seen,rank}|0|\N|-|\N
WITH RECURSIVE typeinfo_tree(
    oid, ns, name, kind, basetype, elemtype, elemdelim,
    range_subtype, attrtypoids, attrnames, depth)
AS (
    SELECT
        ti.oid, ti.ns, ti.name, ti.kind, ti.basetype,
        ti.elemtype, ti.elemdelim, ti.range_subtype,
        ti.attrtypoids, ti.attrnames, 0
    FROM
            (
        SELECT
            t.oid                           AS oid,
            ns.nspname                      AS ns,
            t.typname                       AS name,
            t.typtype                       AS kind,
            (CASE WHEN t.typtype = 'd' THEN
                (WITH RECURSIVE typebases(oid, depth) AS (
                    SELECT
                        t2.typbasetype      AS oid,
                        0                   AS depth
                    FROM
                        pg_type t2
                    WHERE
                        t2.oid = t.oid

                    UNION ALL

                    SELECT
                        t2.typbasetype      AS oid,
                        tb.depth + 1        AS depth
                    FROM
                        pg_type t2,
                        typebases tb
                    WHERE
                       tb.oid = t2.oid
                       AND t2.typbasetype != 0
               ) SELECT oid FROM typebases ORDER BY depth DESC LIMIT 1)

               ELSE NULL
            END)                            AS basetype,
            t.typelem                       AS elemtype,
            elem_t.typdelim                 AS elemdelim,
            COALESCE(
                range_t.rngsubtype,
                multirange_t.rngsubtype)    AS range_subtype,
            (CASE WHEN t.typtype = 'c' THEN
                (SELECT
                    array_agg(ia.atttypid ORDER BY ia.attnum)
                FROM
                    pg_attribute ia
                    INNER JOIN pg_class c
                        ON (ia.attrelid = c.oid)
                WHERE
                    ia.attnum > 0 AND NOT ia.attisdropped
                    AND c.reltype = t.oid)

                ELSE NULL
            END)                            AS attrtypoids,
            (CASE WHEN t.typtype = 'c' THEN
                (SELECT
                    array_agg(ia.attname::text ORDER BY ia.attnum)
                FROM
                    pg_attribute ia
                    INNER JOIN pg_class c
                        ON (ia.attrelid = c.oid)
                WHERE
                    ia.attnum > 0 AND NOT ia.attisdropped
                    AND c.reltype = t.oid)

                ELSE NULL
            END)                            AS attrnames
        FROM
            pg_catalog.pg_type AS t
            INNER JOIN pg_catalog.pg_namespace ns ON (
                ns.oid = t.typnamespace)
            LEFT JOIN pg_type elem_t ON (
                t.typlen = -1 AND
                t.typelem != 0 AND
                t.typelem = elem_t.oid
            )
            LEFT JOIN pg_range range_t ON (
                t.oid = range_t.rngtypid
            )
            LEFT JOIN pg_range multirange_t ON (
                t.oid = multirange_t.rngmultitypid
            )
    )
 AS ti
    WHERE
        ti.oid = any($1::oid[])

    UNION ALL

    SELECT
        ti.oid, ti.ns, ti.name, ti.kind, ti.basetype,
        ti.elemtype, ti.elemdelim, ti.range_subtype,
        ti.attrtypoids, ti.attrnames, tt.depth + 1
    FROM
            (
        SELECT
            t.oid                           AS oid,
            ns.nspname                      AS ns,
            t.typname                       AS name,
            t.typtype                       AS kind,
            (CASE WHEN t.typtype = 'd' THEN
                (WITH RECURSIVE typebases(oid, depth) AS (
                    SELECT
                        t2.typbasetype      AS oid,
                        0                   AS depth
                    FROM
                        pg_type t2
                    WHERE
                        t2.oid = t.oid

                    UNION ALL

                    SELECT
                        t2.typbasetype      AS oid,
                        tb.depth + 1        AS depth
                    FROM
                        pg_type t2,
                        typebases tb
                    WHERE
                       tb.oid = t2.oid
                       AND t2.typbasetype != 0
               ) SELECT oid FROM typebases ORDER BY depth DESC LIMIT 1)

               ELSE NULL
            END)                            AS basetype,
            t.typelem                       AS elemtype,
            elem_t.typdelim                 AS elemdelim,
            COALESCE(
                range_t.rngsubtype,
                multirange_t.rngsubtype)    AS range_subtype,
            (CASE WHEN t.typtype = 'c' THEN
                (SELECT
                    array_agg(ia.atttypid ORDER BY ia.attnum)
                FROM
                    pg_attribute ia
                    INNER JOIN pg_class c
                        ON (ia.attrelid = c.oid)
                WHERE
                    ia.attnum > 0 AND NOT ia.attisdropped
                    AND c.reltype = t.oid)

                ELSE NULL
            END)                            AS attrtypoids,
            (CASE WHEN t.typtype = 'c' THEN
                (SELECT
                    array_agg(ia.attname::text ORDER BY ia.attnum)
                FROM
                    pg_attribute ia
                    INNER JOIN pg_class c
                        ON (ia.attrelid = c.oid)
                WHERE
                    ia.attnum > 0 AND NOT ia.attisdropped
                    AND c.reltype = t.oid)

                ELSE NULL
            END)                            AS attrnames
        FROM
            pg_catalog.pg_type AS t
            INNER JOIN pg_catalog.pg_namespace ns ON (
                ns.oid = t.typnamespace)
            LEFT JOIN pg_type elem_t ON (
                t.typlen = -1 AND
                t.typelem != 0 AND
                t.typelem = elem_t.oid
            )
            LEFT JOIN pg_range range_t ON (
                t.oid = range_t.rngtypid
            )
            LEFT JOIN pg_range multirange_t ON (
                t.oid = multirange_t.rngmultitypid
            )
    )
 ti,
        typeinfo_tree tt
    WHERE
        (tt.elemtype IS NOT NULL AND ti.oid = tt.elemtype)
        OR (tt.attrtypoids IS NOT NULL AND ti.oid = any(tt.attrtypoids))
        OR (tt.range_subtype IS NOT NULL AND ti.oid = tt.range_subtype)
        OR (tt.basetype IS NOT NULL AND ti.oid = tt.basetype)
)

SELECT DISTINCT
    *,
    basetype::regtype::text AS basetype_name,
    elemtype::regtype::text AS elemtype_name,
    range_subtype::regtype::text AS range_subtype_name
FROM
    typeinfo_tree
ORDER BY
    depth DESC
;

-- name: introspect
-- parameter: text on
-- column: text set_config
-- row: on
SELECT
                    set_config('jit', $1, false)
;
