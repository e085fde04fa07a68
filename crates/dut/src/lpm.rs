//! Longest prefix match: a multibit trie with a first stride of 16 bits, prefixes expanded into the entries they cover. It has
//! strides of 16, 8, 4 and 4 bits for IPv4 and of up to 16-8-...-8 for IPv6.
//!
//! A lookup costs one load for a prefix of up to 16 bits and one more for each further stride that any longer route shares
//! with the address. The last byte of IPv4 has two: random prefixes of 25 to 28 bits have a node each, which is a line of
//! the cache instead of sixteen.

/// Nothing here.
const NONE: u32 = 0;
/// An entry with this bit leads to a node; without it, it is a value plus one.
const NODE: u32 = 1 << 31;

/// Maps addresses of `N` bytes to small numbers.
#[derive(Debug)]
pub(crate) struct Trie<const N: usize> {
    root: Vec<u32>,
    nodes: Vec<[u32; 256]>,
    /// Of half a byte.
    halves: Vec<[u32; 16]>,
}

/// A prefix of `len` bits and what it leads to. Bits behind `len` do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix<const N: usize> {
    pub(crate) address: [u8; N],
    pub(crate) len: u8,
    pub(crate) value: u32,
}

impl<const N: usize> Trie<N> {
    /// Builds the trie. Of equal prefixes the later one holds.
    pub(crate) fn new(prefixes: &[Prefix<N>]) -> Self {
        let mut trie = Self {
            root: vec![NONE; 1 << 16],
            nodes: Vec::new(),
            halves: Vec::new(),
        };
        // Shorter ones first: a longer prefix then only ever overwrites what a shorter one has filled in.
        let mut ordered: Vec<_> = prefixes.iter().collect();
        ordered.sort_by_key(|prefix| prefix.len);
        for prefix in ordered {
            trie.insert(prefix);
        }
        trie
    }

    fn insert(&mut self, prefix: &Prefix<N>) {
        let address = &prefix.address;
        let first = usize::from(u16::from_be_bytes([address[0], address[1]]));
        if prefix.len <= 16 {
            let covered = 1usize << (16 - prefix.len);
            let from = first & !(covered - 1);
            self.root[from..from + covered].fill(prefix.value + 1);
            return;
        }
        let mut node = descend(&mut self.root[first], &mut self.nodes);
        let mut left = usize::from(prefix.len) - 16;
        if N == 4 && left > 8 {
            return self.insert_last(node, prefix);
        }
        let mut at = 2;
        while left > 8 {
            let mut entry = self.nodes[node][usize::from(address[at])];
            let next = descend(&mut entry, &mut self.nodes);
            self.nodes[node][usize::from(address[at])] = entry;
            node = next;
            left -= 8;
            at += 1;
        }
        let covered = 1usize << (8 - left);
        let from = usize::from(address[at]) & !(covered - 1);
        self.nodes[node][from..from + covered].fill(prefix.value + 1);
    }

    /// An IPv4 prefix that ends in the last byte, below `node` of the byte before it.
    fn insert_last(&mut self, node: usize, prefix: &Prefix<N>) {
        let [high, low] = [prefix.address[3] >> 4, prefix.address[3] & 15].map(usize::from);
        let mut half = descend(&mut self.nodes[node][usize::from(prefix.address[2])], &mut self.halves);
        let (mut left, mut place) = (usize::from(prefix.len) - 24, high);
        if left > 4 {
            let mut entry = self.halves[half][high];
            let next = descend(&mut entry, &mut self.halves);
            self.halves[half][high] = entry;
            (half, left, place) = (next, left - 4, low);
        }
        let covered = 1usize << (4 - left);
        let from = place & !(covered - 1);
        self.halves[half][from..from + covered].fill(prefix.value + 1);
    }

    /// Returns the value of the longest prefix that matches; `None` if none does.
    #[inline]
    pub(crate) fn lookup(&self, address: &[u8; N]) -> Option<u32> {
        let mut entry = self.root[usize::from(u16::from_be_bytes([address[0], address[1]]))];
        if N == 4 {
            return self.lookup_last(entry, address[2], address[3]).checked_sub(1);
        }
        let mut at = 2;
        while entry & NODE != 0 {
            entry = self.nodes[(entry & !NODE) as usize][usize::from(address[at])];
            at += 1;
        }
        entry.checked_sub(1)
    }

    /// What the last two bytes of an IPv4 address lead to from `entry` of the root on.
    #[inline(always)]
    fn lookup_last(&self, mut entry: u32, third: u8, fourth: u8) -> u32 {
        if entry & NODE != 0 {
            entry = self.nodes[(entry & !NODE) as usize][usize::from(third)];
            for half in [fourth >> 4, fourth & 15] {
                if entry & NODE == 0 {
                    break;
                }
                entry = self.halves[(entry & !NODE) as usize][usize::from(half)];
            }
        }
        entry
    }
}

/// The node that `entry` leads to; it is made, with what was there in each of its places, if there is none.
fn descend<const M: usize>(entry: &mut u32, nodes: &mut Vec<[u32; M]>) -> usize {
    if *entry & NODE == 0 {
        nodes.push([*entry; M]);
        *entry = NODE | (nodes.len() - 1) as u32;
    }
    (*entry & !NODE) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition itself: of all prefixes whose bits agree, the longest; of equal ones the last.
    fn by_definition<const N: usize>(prefixes: &[Prefix<N>], address: &[u8; N]) -> Option<u32> {
        let bit = |bytes: &[u8; N], index: usize| bytes[index / 8] >> (7 - index % 8) & 1;
        let agrees = |prefix: &Prefix<N>| (0..usize::from(prefix.len)).all(|index| bit(&prefix.address, index) == bit(address, index));
        prefixes
            .iter()
            .filter(|prefix| agrees(prefix))
            .max_by_key(|prefix| prefix.len)
            .map(|prefix| prefix.value)
    }

    #[test]
    fn longest_of_nested_prefixes_wins_in_any_order() {
        let prefix = |address, len, value| Prefix { address, len, value };
        let mut routes = vec![
            prefix([0, 0, 0, 0], 0, 0),
            prefix([10, 0, 0, 0], 8, 1),
            prefix([10, 1, 0, 0], 16, 2),
            prefix([10, 1, 2, 0], 24, 3),
            prefix([10, 1, 2, 128], 25, 4),
            prefix([10, 1, 2, 129], 32, 5),
        ];
        for _ in 0..2 {
            let trie = Trie::new(&routes);
            let expected = [
                ([9, 9, 9, 9], 0),
                ([10, 9, 9, 9], 1),
                ([10, 1, 9, 9], 2),
                ([10, 1, 2, 9], 3),
                ([10, 1, 2, 130], 4),
                ([10, 1, 2, 129], 5),
            ];
            for (address, value) in expected {
                assert_eq!(trie.lookup(&address), Some(value), "{address:?}");
            }
            routes.reverse();
        }
        assert_eq!(Trie::new(&routes[1..]).lookup(&[9, 9, 9, 9]), None);
    }

    // Few different byte values, so that prefixes nest and collide often.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![Just(0u8), Just(1), Just(128), Just(255), any::<u8>()]
    }

    proptest! {
        #[test]
        fn ipv4_agrees_with_the_definition(
            routes in prop::collection::vec((prop::array::uniform4(byte()), 0u8..=32), 0..60),
            addresses in prop::collection::vec(prop::array::uniform4(byte()), 1..60),
        ) {
            let routes: Vec<_> = routes.into_iter().enumerate().map(|(value, (address, len))| Prefix { address, len, value: value as u32 }).collect();
            let trie = Trie::new(&routes);
            for address in addresses.iter().chain(routes.iter().map(|route| &route.address)) {
                prop_assert_eq!(trie.lookup(address), by_definition(&routes, address));
            }
        }

        #[test]
        fn ipv6_agrees_with_the_definition(
            routes in prop::collection::vec((prop::array::uniform16(byte()), 0u8..=128), 0..40),
            addresses in prop::collection::vec(prop::array::uniform16(byte()), 1..40),
        ) {
            let routes: Vec<_> = routes.into_iter().enumerate().map(|(value, (address, len))| Prefix { address, len, value: value as u32 }).collect();
            let trie = Trie::new(&routes);
            for address in addresses.iter().chain(routes.iter().map(|route| &route.address)) {
                prop_assert_eq!(trie.lookup(address), by_definition(&routes, address));
            }
        }
    }
}
