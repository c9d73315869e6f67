//! Awkward values and types: NULL, NaN, −0, dictionaries, decimals, many keys.

use super::tables::{argument, context, kept, key, native, plan, runtime, sorted, steps};
use crate::bound::exact::ExactArgument;
use crate::bound::spec::{BoundSpec, Form};
use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};
use datafusion::arrow::datatypes::{Field, Int8Type, Schema};
use datafusion::common::ScalarValue;
use std::sync::Arc;

fn table(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .enumerate()
        .map(|(i, column)| Field::new(format!("c{i}"), column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn bounds(unit: Option<usize>, keys: Vec<usize>) -> BoundSpec {
    BoundSpec { unit, keys, arguments: vec![], max_groups: 50, max_rows: 1, weighing: None }
}

/// The group keys when every person has one row in each group.
async fn group_keys(columns: Vec<ArrayRef>, spec: &BoundSpec) -> Vec<String> {
    let context = context();
    let batch = table(columns);
    let input = plan(&context, batch.schema(), vec![vec![batch]]).await;
    let exact = native(&context, input, spec, key(1), 1 << 20).await;
    sorted(exact.groups.into_iter().map(|group| (group.key, group.rows, group.people)))
}

#[test]
fn floats_that_are_equal_are_one_key() {
    runtime().block_on(async {
        let negative_nan = f64::from_bits(f64::NAN.to_bits() | 1 << 63 | 1);
        let values =
            [Some(0.0), Some(-0.0), Some(f64::NAN), Some(negative_nan), None, None, Some(1.0)];
        let key: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
        let id: ArrayRef = Arc::new(Int64Array::from(vec![7; 7]));
        let keys = group_keys(vec![id.clone(), key], &bounds(Some(0), vec![1])).await;
        assert_eq!(keys.len(), 4, "{keys:?}");
        assert!(keys.iter().all(|key| key.ends_with("1, 1)")));
        let narrow: Vec<Option<f32>> = values.iter().map(|x| x.map(|x| x as f32)).collect();
        let key: ArrayRef = Arc::new(Float32Array::from(narrow));
        assert_eq!(group_keys(vec![id, key], &bounds(Some(0), vec![1])).await.len(), 4);
    });
}

#[test]
fn rows_without_an_id_are_left_out_and_ids_of_all_types_are_exact() {
    runtime().block_on(async {
        let texts = vec![Some("a"), Some("b"), None, Some("a"), Some(""), Some("b")];
        let text = StringArray::from(texts.clone());
        let dictionary: DictionaryArray<Int8Type> = texts.into_iter().collect();
        let numbers = vec![Some(1), Some(2), None, Some(1), Some(3), Some(2)];
        let decimal = numbers.iter().map(|n| n.map(i128::from)).collect::<Decimal128Array>();
        let small = numbers.iter().map(|n| n.map(|n| n as u8)).collect::<UInt8Array>();
        let float = numbers.iter().map(|n| n.map(|n| n as f64 - 1.0)).collect::<Float64Array>();
        let ids: [ArrayRef; 6] = [
            Arc::new(text),
            Arc::new(dictionary),
            Arc::new(Int64Array::from(numbers.clone())),
            Arc::new(decimal),
            Arc::new(small),
            Arc::new(float),
        ];
        for id in ids {
            let kind = id.data_type().clone();
            let found = group_keys(vec![id], &bounds(Some(0), vec![])).await;
            assert_eq!(found, ["([], 3, 3)"], "{kind}");
        }
    });
}

#[test]
fn ids_that_differ_in_any_bit_are_different_people() {
    runtime().block_on(async {
        let ids: Vec<i64> =
            (0..64).flat_map(|bit| [1i64 << bit, !(1i64 << bit)]).chain([0, -1]).collect();
        let count = ids.len() as u64;
        let id: ArrayRef = Arc::new(Int64Array::from([ids.clone(), ids].concat()));
        let found = group_keys(vec![id], &bounds(Some(0), vec![])).await;
        assert_eq!(found, [format!("([], {count}, {count})")]);
    });
}

#[test]
fn people_who_share_a_radix_partition_and_a_bucket_stay_apart() {
    runtime().block_on(async {
        // Ids whose words agree in the 16 highest bits, found by search.
        let key = key(1);
        let wanted = key.permute(0) >> 48;
        let ids: Vec<i64> =
            (0..8_000_000).filter(|&id| key.permute(id as u64) >> 48 == wanted).collect();
        assert!(ids.len() > 80, "{}", ids.len());
        let count = ids.len();
        let id: ArrayRef = Arc::new(Int64Array::from([ids.clone(), ids.clone(), ids].concat()));
        let groups = [vec![1; count], vec![1; count], vec![2; count]].concat();
        let group: ArrayRef = Arc::new(Int32Array::from(groups));
        let found = group_keys(vec![id, group], &bounds(Some(0), vec![1])).await;
        let wanted = |g: i32| format!("([Int32({g})], {count}, {count})");
        assert_eq!(found, [wanted(1), wanted(2)]);
    });
}

#[test]
fn several_keys_of_several_types_and_dictionaries() {
    runtime().block_on(async {
        let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 1, 1, 2]));
        let a: DictionaryArray<Int8Type> =
            vec![Some("x"), Some("x"), None, Some("y"), Some("x")].into_iter().collect();
        let a: ArrayRef = Arc::new(a);
        let b: ArrayRef =
            Arc::new(BooleanArray::from(vec![Some(true), None, None, Some(true), Some(true)]));
        let found =
            group_keys(vec![id.clone(), a.clone(), b.clone()], &bounds(Some(0), vec![1, 2])).await;
        let wanted = [
            "([Utf8(\"x\"), Boolean(NULL)], 1, 1)",
            "([Utf8(\"x\"), Boolean(true)], 2, 2)",
            "([Utf8(\"y\"), Boolean(true)], 1, 1)",
            "([Utf8(NULL), Boolean(NULL)], 1, 1)",
        ];
        assert_eq!(found, wanted);
        // More keys than fit into a cache word.
        let keys = vec![1, 2, 1, 2, 1, 2];
        assert_eq!(group_keys(vec![id, a, b], &bounds(Some(0), keys)).await.len(), 4);
    });
}

#[test]
fn a_dictionary_larger_than_its_rows_and_a_null_value_in_it() {
    runtime().block_on(async {
        let values: ArrayRef =
            Arc::new(StringArray::from(vec![Some("p"), None, Some("q"), Some("r")]));
        let wide = |keys: Vec<Option<i8>>| -> ArrayRef {
            Arc::new(DictionaryArray::<Int8Type>::try_new(keys.into(), values.clone()).unwrap())
        };
        for keys in [vec![Some(0), Some(1), None], vec![Some(0), Some(1), None, Some(0), Some(0)]] {
            let id: ArrayRef = Arc::new(Int64Array::from_iter_values(0..keys.len() as i64));
            let found = group_keys(vec![id, wide(keys.clone())], &bounds(Some(0), vec![1])).await;
            let p = keys.len() - 2;
            assert_eq!(
                found,
                [format!("([Utf8(\"p\")], {p}, {p})"), "([Utf8(NULL)], 2, 2)".into()]
            );
        }
    });
}

#[test]
fn without_a_unit_every_row_stays_and_is_first() {
    runtime().block_on(async {
        let value: ArrayRef =
            Arc::new(Float64Array::from(vec![Some(2.4), None, Some(99.0), Some(f64::NAN)]));
        let batch = table(vec![value]);
        let (context, schema) = (context(), batch.schema());
        let input = plan(&context, schema, vec![vec![batch.clone()], vec![batch]]).await;
        let spec = BoundSpec {
            unit: None,
            keys: vec![],
            arguments: vec![
                argument(0, steps(-1.0, 10.0)),
                argument(0, Form::Present),
                argument(0, Form::Code),
            ],
            max_groups: 1,
            max_rows: 1,
            weighing: None,
        };
        let rows = kept(&context, input.clone(), &spec, key(1), 1).await;
        assert_eq!(rows.len(), 8);
        assert!(rows.iter().all(|(_, first, _)| *first));
        let exact = native(&context, input, &spec, key(1), 1).await;
        let [group] = exact.groups.as_slice() else { panic!("one group") };
        assert_eq!((group.rows, group.people), (8, 8));
        let [
            ExactArgument::Steps { rows, sum, squares, histogram },
            ExactArgument::Present(present),
            ExactArgument::Code(codes),
        ] = group.arguments.as_slice()
        else {
            panic!("three arguments")
        };
        // 2.4 is 3 steps above −1, 99 is clamped to 11, NaN counts as 0: 1 step.
        assert_eq!((*rows, *sum, *squares, *present), (6, 2 * 15, 2 * (9 + 121 + 1), 6));
        assert_eq!(
            histogram.as_ref().unwrap().iter().map(|(k, n)| (*k, *n)).collect::<Vec<_>>(),
            [(1, 2), (3, 2), (11, 2)]
        );
        assert_eq!(codes.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [2, 2, 2]);
    });
}

#[test]
fn no_rows_no_groups_and_nothing_protected_in_debug() {
    runtime().block_on(async {
        let id: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        let batch = table(vec![id]);
        let context = context();
        let input = plan(&context, batch.schema(), vec![vec![batch]]).await;
        let exact = native(&context, input.clone(), &bounds(Some(0), vec![]), key(1), 1).await;
        assert!(exact.groups.is_empty());
        assert_eq!(format!("{exact:?}"), "Exact(protected)");
        let zero = BoundSpec { max_rows: 0, ..bounds(Some(0), vec![]) };
        assert!(crate::bound::BoundContributions::new(Arc::new(input), zero, key(1)).is_err());
    });
}

#[test]
fn many_arguments_fit_the_wider_rows() {
    runtime().block_on(async {
        let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2]));
        let value: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
        let batch = table(vec![id, value]);
        let context = context();
        for count in [0, 1, 2, 3, 5, 9, 17, 65] {
            let input = plan(&context, batch.schema(), vec![vec![batch.clone()]]).await;
            let arguments = vec![argument(1, steps(0.0, 9.0)); count];
            let spec = BoundSpec {
                unit: Some(0),
                keys: vec![],
                arguments,
                max_groups: 1,
                max_rows: 2,
                weighing: None,
            };
            let rows = kept(&context, input, &spec, key(1), 1 << 20).await;
            let value = |n: u32| vec![Some(ScalarValue::from(n)); count];
            let found = rows.into_iter().map(|(_, _, arguments)| arguments);
            assert_eq!(sorted(found), sorted([value(1), value(2), value(3)]));
        }
    });
}
