//! Exact hash tables from values to numbers.
//!
//! [`Table`] owns byte strings and numbers them in order of arrival; [`Words`]
//! is a small cache in front of it for values of up to sixteen bytes. Both
//! compare the values themselves: a hash only says where to look.

/// A table has run out of numbers.
#[derive(Debug)]
pub(super) struct Full;

/// Byte strings, numbered from 0 in order of arrival. NULL can have a number too.
#[derive(Default)]
pub(super) struct Table {
    /// Open addressing: a number plus one, or 0 for an empty slot.
    slots: Vec<u32>,
    hashes: Vec<u64>,
    ends: Vec<usize>,
    bytes: Vec<u8>,
    null: Option<u32>,
}

/// A candidate number for a value, from its first slot, and where its bytes are.
pub(super) struct Guess {
    slot: u32,
    start: usize,
    end: usize,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The bytes of a number; `None` for NULL.
    pub(super) fn get(&self, number: u32) -> Option<&[u8]> {
        if self.null == Some(number) {
            return None;
        }
        let at = number as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.bytes[start..self.ends[at]])
    }

    pub(super) fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let number = self.slots[at].checked_sub(1)?;
            if self.hashes[number as usize] == hash && self.get(number) == Some(bytes) {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of `bytes`, whose hash is `hash`; a new one if they are new.
    pub(super) fn intern(&mut self, hash: u64, bytes: &[u8]) -> Result<u32, Full> {
        if let Some(number) = self.find(hash, bytes) {
            return Ok(number);
        }
        let number = self.push(hash, bytes)?;
        self.place(hash, number);
        Ok(number)
    }

    /// Numbers the values in the range `run` in three sweeps: first slots, then spans, then bytes. The loads within
    /// one sweep do not wait for each other, and waiting is most of the time when the table is larger than the CPU
    /// cache.
    pub(super) fn intern_run<'a>(
        &mut self,
        run: &[u32],
        hashes: &[u64],
        bytes: &impl Fn(usize) -> &'a [u8],
        guesses: &mut Vec<Guess>,
        mut out: impl FnMut(usize, u32),
    ) -> Result<(), Full> {
        let mask = self.slots.len().wrapping_sub(1);
        guesses.clear();
        guesses.extend(run.iter().map(|&i| {
            let slot = self.slots.get(hashes[i as usize] as usize & mask).copied().unwrap_or(0);
            Guess { slot, start: 0, end: 0 }
        }));
        for guess in guesses.iter_mut().filter(|guess| guess.slot > 0) {
            let at = guess.slot as usize - 1;
            guess.start = if at == 0 { 0 } else { self.ends[at - 1] };
            guess.end = self.ends[at];
        }
        for (&i, guess) in run.iter().zip(guesses.iter()) {
            let (i, wanted) = (i as usize, bytes(i as usize));
            // Slots never hold the number of NULL.
            let right = guess.slot > 0 && &self.bytes[guess.start..guess.end] == wanted;
            out(i, if right { guess.slot - 1 } else { self.intern(hashes[i], wanted)? });
        }
        Ok(())
    }

    pub(super) fn intern_null(&mut self, hash: u64) -> Result<u32, Full> {
        if let Some(number) = self.null {
            return Ok(number);
        }
        let number = self.push(hash, &[])?;
        self.null = Some(number);
        Ok(number)
    }

    fn push(&mut self, hash: u64, bytes: &[u8]) -> Result<u32, Full> {
        let number = u32::try_from(self.hashes.len()).map_err(|_| Full)?;
        if number >= u32::MAX - 1 {
            return Err(Full);
        }
        self.hashes.push(hash);
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        if self.hashes.len() * 3 > self.slots.len() {
            self.grow();
        }
        Ok(number)
    }

    /// Doubles the slots; the last number pushed has no slot yet.
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        self.slots.clear();
        self.slots.resize(size, 0);
        for number in 0..self.hashes.len() as u32 - 1 {
            if self.null != Some(number) {
                self.place(self.hashes[number as usize], number);
            }
        }
    }

    fn place(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = number + 1;
    }
}

/// A bounded cache from sixteen bytes to a number.
pub(super) struct Words {
    /// Small values, indexed directly.
    small: Vec<u32>,
    entries: Vec<(u128, u32)>,
    len: usize,
    /// Secret, so that no one can choose values that all collide.
    seed: u64,
}

/// Not a number: an empty entry, or a value that is not in the cache.
pub(super) const NONE: u32 = u32::MAX;
const SMALL: usize = 1 << 12;
const FIRST_WORDS: usize = 1 << 8;
const MOST_WORDS: usize = 1 << 18;

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        let (small, entries) = (vec![NONE; SMALL], vec![(0, NONE); FIRST_WORDS]);
        Self { small, entries, len: 0, seed }
    }

    #[inline]
    fn home(&self, word: u128) -> usize {
        let (low, high) = (word as u64, (word >> 64) as u64);
        let product = u128::from(low ^ self.seed)
            * u128::from(high ^ low.rotate_left(32) ^ 0xe703_7ed1_a0b4_28db);
        (product as u64 ^ (product >> 64) as u64) as usize & (self.entries.len() - 1)
    }

    /// The number of `word`, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, word: u128) -> u32 {
        if word < SMALL as u128 {
            return self.small[word as usize];
        }
        let mut at = self.home(word);
        loop {
            let (key, number) = self.entries[at];
            if key == word || number == NONE {
                return number; // an empty entry has no number either
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }

    /// Stores a number, if there is room.
    pub(super) fn put(&mut self, word: u128, number: u32) {
        if word < SMALL as u128 {
            self.small[word as usize] = number;
            return;
        }
        if self.len >= MOST_WORDS || self.get(word) != NONE {
            return;
        }
        if self.len * 4 >= self.entries.len() {
            let size = self.entries.len() * 2;
            let old = std::mem::replace(&mut self.entries, vec![(0, NONE); size]);
            old.into_iter().filter(|e| e.1 != NONE).for_each(|(key, n)| self.place(key, n));
        }
        self.place(word, number);
        self.len += 1;
    }

    fn place(&mut self, word: u128, number: u32) {
        let mut at = self.home(word);
        while self.entries[at].1 != NONE {
            at = (at + 1) & (self.entries.len() - 1);
        }
        self.entries[at] = (word, number);
    }
}

#[cfg(test)]
mod tests;
