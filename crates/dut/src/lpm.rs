//! Longest prefix match: a multibit trie with a first stride of 16 bits and 8 bits a step from there
//! (16-8-8 for IPv4, up to 16-8-...-8 for IPv6), prefixes expanded into the entries they cover.
//!
//! A lookup costs one load for a prefix of up to 16 bits and one more for each further 8 bits that any
//! longer route shares with the address.

/// Nothing here.
const NONE: u32 = 0;
/// An entry with this bit leads to a node; without it, it is a value plus one.
const NODE: u32 = 1 << 31;

/// Maps addresses of `N` bytes to small numbers.
#[derive(Debug)]
pub(crate) struct Trie<const N: usize> {
    root: Vec<u32>,
    nodes: Vec<[u32; 256]>,
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
        let mut node = self.descend_root(first);
        let mut left = usize::from(prefix.len) - 16;
        let mut at = 2;
        while left > 8 {
            node = self.descend(node, usize::from(address[at]));
            left -= 8;
            at += 1;
        }
        let covered = 1usize << (8 - left);
        let from = usize::from(address[at]) & !(covered - 1);
        self.nodes[node][from..from + covered].fill(prefix.value + 1);
    }

    fn descend_root(&mut self, index: usize) -> usize {
        let entry = self.root[index];
        if entry & NODE != 0 {
            return (entry & !NODE) as usize;
        }
        let node = self.nodes.len();
        self.nodes.push([entry; 256]);
        self.root[index] = NODE | node as u32;
        node
    }

    fn descend(&mut self, parent: usize, index: usize) -> usize {
        let entry = self.nodes[parent][index];
        if entry & NODE != 0 {
            return (entry & !NODE) as usize;
        }
        let node = self.nodes.len();
        self.nodes.push([entry; 256]);
        self.nodes[parent][index] = NODE | node as u32;
        node
    }

    /// Returns the value of the longest prefix that matches; `None` if none does.
    #[inline]
    pub(crate) fn lookup(&self, address: &[u8; N]) -> Option<u32> {
        let mut entry = self.root[usize::from(u16::from_be_bytes([address[0], address[1]]))];
        let mut at = 2;
        while entry & NODE != 0 {
            entry = self.nodes[(entry & !NODE) as usize][usize::from(address[at])];
            at += 1;
        }
        entry.checked_sub(1)
    }
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
