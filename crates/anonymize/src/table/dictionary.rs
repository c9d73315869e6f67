//! Texts to codes: an open-addressed table of the distinct texts of one column.

/// The distinct texts of one column as one thread has met them.
#[derive(Default)]
pub(super) struct Dictionary {
    /// The texts, by code.
    pub(super) values: Vec<String>,
    /// Where each text was met first: (block, row in the block).
    pub(super) first: Vec<(u64, u32)>,
    /// The upper half of each text's hash, to skip most comparisons.
    tags: Vec<u32>,
    /// Code + 1, or 0 where free. A power of two long, at most half full.
    slots: Vec<u32>,
}

impl Dictionary {
    /// The code of a text, a new one if it was not met before.
    pub(super) fn code(&mut self, text: &str, place: (u64, u32)) -> u32 {
        if self.values.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(text.as_bytes());
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                0 => break,
                code if self.tags[code as usize - 1] == tag
                    && self.values[code as usize - 1] == text =>
                {
                    return code - 1;
                }
                _ => slot = (slot + 1) & mask,
            }
        }
        let code = self.values.len() as u32;
        self.slots[slot] = code + 1;
        self.values.push(text.to_owned());
        self.first.push(place);
        self.tags.push(tag);
        code
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 4).max(64);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (code, text) in self.values.iter().enumerate() {
            let mut slot = hash(text.as_bytes()) as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = code as u32 + 1;
        }
    }
}

/// Folded multiplication, eight bytes at a time.
fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(ODD);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut state = bytes.len() as u64 ^ 0x2545_f491_4f6c_dd1d;
    for word in words {
        state = fold(state, u64::from_le_bytes(*word));
    }
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    fold(fold(state, u64::from_le_bytes(tail)), ODD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_stable_as_it_grows() {
        let mut dictionary = Dictionary::default();
        for round in 0..2 {
            for n in 0..5000_u32 {
                assert_eq!(dictionary.code(&format!("text {n}"), (round, n)), n);
            }
        }
        assert_eq!(dictionary.first[7], (0, 7));
    }
}
