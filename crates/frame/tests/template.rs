//! Frames from templates: the fast ones are the ones built from scratch, and those are what was asked for.
#![allow(missing_docs)]

mod common;

use common::gallery;
use netdyno_frame::template::{Template, minimum_size};

#[test]
fn the_hot_path_writes_what_is_built_from_scratch() {
    for (name, headers) in gallery() {
        let minimum = minimum_size(&headers);
        let sizes = [
            minimum,
            minimum + 1,
            128.max(minimum),
            132.max(minimum),
            133.max(minimum),
            1518,
            9018,
        ];
        for flows in [1, 2, 6, 7, 1000] {
            let mut template = Template::new(&headers, &sizes, flows, 7).expect(name);
            template.set_first_flow(5);
            let mut cursor = template.cursor();
            for number in 0..u64::from(flows) * 2 + 9 {
                let (size, departure) = (number as usize % sizes.len(), number * 67_200);
                let (flow, sequence) = (cursor.flow(), cursor.sequence());
                assert_eq!((u64::from(flow), sequence), (number % u64::from(flows), number / u64::from(flows)));
                assert_eq!(template.position(&cursor), number);
                let mut slot = [0xee; 9020];
                let length = template.write(&mut cursor, size, departure, &mut slot);
                assert_eq!(length, sizes[size] as usize - 4);
                let expected = template.frame(flow, sequence, size, departure);
                assert_eq!(slot[..length], expected, "{name}, frame {number}");
                assert!(slot[length..].iter().all(|byte| *byte == 0xee), "{name}: wrote beyond the frame");
            }
        }
    }
}
