//! Which cell of a smaller table each cell of a larger one belongs to.

/// For every cell of the table over `columns`, the cell of the table over `onto`, some of these columns in any order.
///
/// `map[i]` takes a value of column `onto[i]` to a value below `sizes_onto[i]`; without one, values stay as they are.
pub(crate) fn index(
    columns: &[usize],
    sizes: &[usize],
    onto: &[usize],
    sizes_onto: &[usize],
    map: Option<&[Vec<u16>]>,
) -> Vec<u32> {
    let mut strides = vec![0usize; onto.len()];
    let mut stride = 1;
    for i in (0..onto.len()).rev() {
        strides[i] = stride;
        stride *= sizes_onto[i];
    }
    let mut cells = vec![0u32];
    for (&column, &size) in columns.iter().zip(sizes) {
        // What each value of this column adds to the cell's number.
        let adds: Vec<u32> = match onto.iter().position(|&other| other == column) {
            None => vec![0; size],
            Some(i) => (0..size)
                .map(|value| map.map_or(value, |map| usize::from(map[i][value])) * strides[i])
                .map(|cell| cell as u32)
                .collect(),
        };
        cells = cells.iter().flat_map(|&cell| adds.iter().map(move |add| cell + add)).collect();
    }
    cells
}
