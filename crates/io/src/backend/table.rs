//! The table of backends, from one line each.

/// For each `file::Type`: declares the module, makes a variant of [`BackendSpec`](super::BackendSpec) of the type, which
/// implements [`Backend`](super::ask::Backend), and a line of [`BACKENDS`](super::BACKENDS).
macro_rules! backends {
    ($($module:ident::$options:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// Which backend carries a port's frames, with its options.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum BackendSpec {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $options($module::$options),)*
        }

        impl BackendSpec {
            /// The backend's name, as in [`BACKENDS`] and in JSON.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$options(_) => <$module::$options as ask::Backend>::NAME,)*
                }
            }

            /// The same options for a port of an emulated device that is served: testers come and go, the device stays.
            #[must_use]
            pub fn for_served_device(&self) -> Self {
                match self {
                    $(Self::$options(options) => Self::$options(ask::Backend::for_served_device(options)),)*
                }
            }
        }

        $(const _: () = assert!(
            ask::is_same(<$module::$options as ask::Backend>::NAME, stringify!($module)),
            "a backend has the name of its file"
        );)*

        $(impl From<$module::$options> for BackendSpec {
            fn from(options: $module::$options) -> Self {
                Self::$options(options)
            }
        })*

        /// Every port backend, in the order `--help` lists them.
        pub const BACKENDS: &[Entry] = &[$({
            type Options = $module::$options;
            Entry {
                name: <Options as ask::Backend>::NAME,
                doc: <Options as ask::Backend>::DOC,
                clock: <Options as ask::Backend>::CLOCK,
                is_linked: <Options as ask::Backend>::IS_LINKED,
                open: |asks, placement| {
                    let own = asks.iter().map(|ask| match ask.spec {
                        BackendSpec::$options(options) => Ok(ask.with(options)),
                        other => Err(ask.unfit(format!("`{}` options given to {}", other.kind(), <Options as ask::Backend>::NAME))),
                    });
                    ask::Backend::open(&own.collect::<Result<Vec<_>, _>>()?, placement)
                },
            }
        },)*];
    };
}
