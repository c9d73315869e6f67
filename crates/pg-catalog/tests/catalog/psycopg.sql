-- name: TypeInfo
-- parameter: text text
-- column: name name
-- column: oid oid
-- column: oid array_oid
-- column: text regtype
-- column: char delimiter
-- row: text|25|1009|text|,
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid
;

-- name: EnumInfo
-- parameter: text mood
-- column: name name
-- column: oid oid
-- column: oid array_oid
-- column: text regtype
-- column: _name labels
-- row: none
SELECT name, oid, array_oid, regtype, array_agg(label) AS labels
FROM (
    SELECT
        t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
        t.oid::regtype::text AS regtype, e.enumlabel AS label
    FROM pg_type t
    LEFT JOIN  pg_enum e
    ON e.enumtypid = t.oid
    WHERE t.oid = to_regtype($1)
    ORDER BY e.enumsortorder
) x
GROUP BY name, oid, array_oid, regtype
;

-- name: CompositeInfo
-- parameter: text visits
-- column: name name
-- column: oid oid
-- column: oid array_oid
-- column: text regtype
-- column: _name field_names
-- column: _oid field_types
-- row: visits|{visits type}|{visits array}|visits|{person,day,minutes,place,paid,price,seen,rank}|{20,1082,701,25,16,1700,1114,23}
SELECT
    t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    coalesce(a.fnames, '{}') AS field_names,
    coalesce(a.ftypes, '{}') AS field_types
FROM pg_type t
LEFT JOIN (
    SELECT
        attrelid,
        array_agg(attname) AS fnames,
        array_agg(atttypid) AS ftypes
    FROM (
        SELECT a.attrelid, a.attname, a.atttypid
        FROM pg_attribute a
        JOIN pg_type t ON t.typrelid = a.attrelid
        WHERE t.oid = to_regtype($1)
        AND a.attnum > 0
        AND NOT a.attisdropped
        ORDER BY a.attnum
    ) x
    GROUP BY attrelid
) a ON a.attrelid = t.typrelid
WHERE t.oid = to_regtype($1)
;

-- name: RangeInfo
-- parameter: text int4range
-- column: name name
-- column: oid oid
-- column: oid array_oid
-- column: text regtype
-- column: oid subtype_oid
-- row: int4range|3904|3905|int4range|23
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    r.rngsubtype AS subtype_oid
FROM pg_type t
JOIN pg_range r ON t.oid = r.rngtypid
WHERE t.oid = to_regtype($1)
;

-- name: ping
-- column: int4 ?column?
-- row: 1
SELECT 1
;
