//! The only source of randomness: the system's generator.
#![expect(clippy::disallowed_methods, reason = "this is where randomness comes from")]

use crate::api::Entropy;

/// Random numbers that nobody can guess; member ids are made of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        // A system without random numbers has nothing to fall back to; the request at hand fails.
        getrandom::fill(&mut bytes).expect("the system's generator of random numbers works");
        u128::from_ne_bytes(bytes)
    }
}
