//! Texts to codes: an open-addressed table of the distinct texts of one column.
//!
//! A text of up to 16 bytes is compared by two words and its length, without
//! following a pointer; of a longer one those are its ends, and the rest is
//! compared where they agree.

/// Bytes that must follow a text in memory, for its ends to be read as words.
pub(super) const PADDING: usize = 8;

/// The distinct texts of one column as one thread has met them.
#[derive(Default)]
pub(super) struct Dictionary {
    /// The texts, by code.
    pub(super) values: Vec<String>,
    /// Where each text was met first: (block, row in the block).
    pub(super) first: Vec<(u64, u32)>,
    /// A power of two long, at most half full.
    slots: Vec<Slot>,
}

/// One text in the table: its ends, its length and its code.
#[derive(Clone, Copy, Default)]
struct Slot {
    low: u64,
    high: u64,
    length: u32,
    /// The code + 1, or 0 where free.
    next: u32,
}

impl Dictionary {
    /// The code of a text, a new one if it was not met before.
    pub(super) fn code(&mut self, text: &str, place: (u64, u32)) -> u32 {
        let bytes = text.as_bytes();
        let (low, high) = ends(bytes);
        self.find(low, high, bytes, || text.to_owned(), place)
    }

    /// The code of `block[start..end]`, which must be UTF-8 and have [`PADDING`] bytes behind it.
    #[inline]
    pub(super) fn code_in(
        &mut self,
        block: &[u8],
        start: usize,
        end: usize,
        place: (u64, u32),
    ) -> u32 {
        let word = |at: usize| -> u64 {
            block.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |w| u64::from_le_bytes(*w))
        };
        let length = end - start;
        let (low, high) = match length {
            0 => (0, 0),
            1..8 => (word(start) & (u64::MAX >> (64 - 8 * length)), 0),
            _ => (word(start), word(end - 8)),
        };
        let bytes = &block[start..end];
        self.find(low, high, bytes, || String::from_utf8_lossy(bytes).into_owned(), place)
    }

    #[inline]
    fn find(
        &mut self,
        low: u64,
        high: u64,
        bytes: &[u8],
        text: impl FnOnce() -> String,
        place: (u64, u32),
    ) -> u32 {
        let length = bytes.len() as u32;
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(low, high, bytes) as usize & mask;
        while let Some(slot) = self.slots.get(at).filter(|slot| slot.next != 0) {
            if slot.low == low && slot.high == high && slot.length == length {
                let code = slot.next - 1;
                if length <= 16 || self.values[code as usize].as_bytes() == bytes {
                    return code;
                }
            }
            at = (at + 1) & mask;
        }
        self.add(text(), place)
    }

    #[cold]
    fn add(&mut self, text: String, place: (u64, u32)) -> u32 {
        if (self.values.len() + 1) * 2 > self.slots.len() {
            let size = (self.slots.len() * 4).max(64);
            let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
            for slot in old.into_iter().filter(|slot| slot.next != 0) {
                let hash =
                    hash(slot.low, slot.high, self.values[slot.next as usize - 1].as_bytes());
                self.put(hash, slot);
            }
        }
        let bytes = text.as_bytes();
        let (low, high) = ends(bytes);
        let (length, next) = (bytes.len() as u32, self.values.len() as u32 + 1);
        self.put(hash(low, high, bytes), Slot { low, high, length, next });
        self.values.push(text);
        self.first.push(place);
        next - 1
    }

    fn put(&mut self, hash: u64, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].next != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

/// A text's first and last eight bytes; of a shorter one all bytes, and nothing.
fn ends(bytes: &[u8]) -> (u64, u64) {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            (u64::from_le_bytes(word), 0)
        }
    }
}

/// Folded multiplication: of the ends and the length, and of all of a text they do not cover.
#[inline]
fn hash(low: u64, high: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let short = fold(low ^ ODD, high ^ 0x2545_f491_4f6c_dd1d ^ ((bytes.len() as u64) << 56));
    if bytes.len() <= 16 {
        return short;
    }
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(short, |state, word| fold(state ^ u64::from_le_bytes(*word), ODD))
}

#[cfg(test)]
mod tests;
