//! Which class a frame is of: by the DSCP of its IP packet, else by the PCP of its outermost tag, else none's.

use crate::header::{self, be16};

/// A table for each, so that a frame is looked up once.
#[derive(Clone, Debug)]
pub(crate) struct Sort {
    dscp: [Option<u8>; 64],
    pcp: [Option<u8>; 8],
}

impl Sort {
    /// Of classes that each take some DSCPs and PCPs. Of two that take the same the first has it. `None` if a value is out
    /// of range, or there are more classes than a byte counts.
    pub(crate) fn new<'a>(classes: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Option<Self> {
        let mut sort = Self {
            dscp: [None; 64],
            pcp: [None; 8],
        };
        for (class, (dscps, pcps)) in classes.enumerate() {
            let class = u8::try_from(class).ok()?;
            for dscp in dscps {
                sort.dscp.get_mut(usize::from(*dscp))?.get_or_insert(class);
            }
            for pcp in pcps {
                sort.pcp.get_mut(usize::from(*pcp))?.get_or_insert(class);
            }
        }
        Some(sort)
    }

    /// The class of a frame, if one takes it.
    pub(crate) fn class(&self, frame: &[u8]) -> Option<usize> {
        let (kind, at) = header::network(frame)?;
        let by_dscp = match kind {
            header::IPV4 => frame.get(at + 1).and_then(|tos| self.dscp[usize::from(tos >> 2)]),
            // Traffic class: the four bits behind the version, and the next four.
            header::IPV6 if frame.len() > at + 1 => self.dscp[usize::from(be16(frame, at) >> 6 & 0x3f)],
            _ => None,
        };
        let tagged = at > header::ETHERNET;
        by_dscp
            .or_else(|| if tagged { self.pcp[usize::from(frame[14] >> 5)] } else { None })
            .map(usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EF is 46 (RFC 3246), AF41 34 (RFC 2597); their bytes with no ECN are 0xb8 and 0x88.
    #[test]
    fn by_dscp_then_by_pcp() {
        let sort = Sort::new([(&[46_u8][..], &[5_u8][..]), (&[34], &[4, 5])].into_iter()).unwrap();
        let mut v4 = vec![0; 60];
        v4[12..16].copy_from_slice(&[8, 0, 0x45, 0xb8]);
        assert_eq!(sort.class(&v4), Some(0));
        v4[15] = 0x8b;
        assert_eq!(sort.class(&v4), Some(1), "whatever its ECN");
        v4[15] = 0;
        assert_eq!(sort.class(&v4), None);
        let mut v6 = vec![0; 60];
        v6[12..16].copy_from_slice(&[0x86, 0xdd, 0x6b, 0x80]);
        assert_eq!(sort.class(&v6), Some(0));
        let mut tagged = vec![0; 64];
        tagged[12..18].copy_from_slice(&[0x81, 0, 0x80, 7, 8, 6]);
        assert_eq!(sort.class(&tagged), Some(1), "ARP with PCP 4");
        tagged[14] = 0xa0;
        assert_eq!(sort.class(&tagged), Some(0), "the first that takes PCP 5");
        assert!(Sort::new([(&[64_u8][..], &[][..])].into_iter()).is_none());
        assert_eq!(sort.class(&[]), None);
    }
}
