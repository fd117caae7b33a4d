//! Bindings of WASI random numbers and clocks, for calls that bypass the standard library.

wit_bindgen::generate!({
    inline: r"
        package art:guests;
        world wasi {
            import wasi:random/random@0.2.0;
            import wasi:clocks/monotonic-clock@0.2.0;
        }
        package wasi:random@0.2.0 {
            interface random {
                get-random-bytes: func(len: u64) -> list<u8>;
                get-random-u64: func() -> u64;
            }
        }
        package wasi:clocks@0.2.0 {
            interface monotonic-clock {
                use wasi:io/poll@0.2.0.{pollable};
                type instant = u64;
                type duration = u64;
                now: func() -> instant;
                resolution: func() -> duration;
                subscribe-instant: func(when: instant) -> pollable;
                subscribe-duration: func(when: duration) -> pollable;
            }
        }
        package wasi:io@0.2.0 {
            interface poll {
                resource pollable {
                    ready: func() -> bool;
                    block: func();
                }
                poll: func(in: list<borrow<pollable>>) -> list<u32>;
            }
        }
    ",
    generate_all,
});
