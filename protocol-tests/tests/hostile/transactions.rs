//! Transactional ids without end.

use kafka_protocol::messages::{FindCoordinatorRequest, InitProducerIdRequest, ProducerId, TransactionalId};
use protocol_tests::requests::text;

use crate::frames::is_served;
use crate::{KIB, MIB, attack};

const POLICY_VIOLATION: i16 = 44;
/// How many attempts are refused before the attack is given up.
const REFUSALS: usize = 1_000;

#[test]
fn transactional_ids_without_end_are_refused() {
    let damage = attack("InitProducerId of ids of 30 KiB without end", &[], |victim| {
        let mut peer = victim.connect();
        let find = FindCoordinatorRequest::default().with_key_type(1).with_coordinator_keys(vec![text("x")]);
        peer.call(4, &find).expect("an answer");
        let mut refused = 0;
        for number in 0.. {
            let id = TransactionalId(text(&format!("{number:030}{}", "x".repeat(30 * KIB))));
            let init = InitProducerIdRequest::default()
                .with_transactional_id(Some(id))
                .with_transaction_timeout_ms(1_000)
                .with_producer_id(ProducerId(-1))
                .with_producer_epoch(-1);
            refused += usize::from(peer.call(4, &init).expect("an answer").error_code == POLICY_VIOLATION);
            if refused == REFUSALS {
                break;
            }
        }
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 320 * MIB, "{damage:?}");
}
