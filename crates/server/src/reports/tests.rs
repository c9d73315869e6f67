use super::*;
use demure_collect::report::Reject;

#[test]
fn every_outcome_has_its_status() {
    let status = |receipts: &[fn() -> Result<Receipt, Error>]| {
        let (sender, mut receiver) = oneshot::channel();
        let gather = Arc::new(Gather { outcome: Mutex::default(), sender: Some(sender) });
        for receipt in receipts {
            assert!(receiver.try_recv().is_err(), "sent before all is known");
            Arc::clone(&gather).add(receipt());
        }
        drop(gather);
        receiver.try_recv().unwrap().status().as_u16()
    };
    let stored = || Ok(Receipt::Stored);
    let duplicate = || Ok(Receipt::Duplicate);
    let rejected = || Ok(Receipt::Rejected(Reject::Malformed));
    let busy = || Err(Error::Busy);
    let closed = || Err(Error::Closed);
    assert_eq!(status(&[stored, duplicate, rejected]), 200);
    assert_eq!(status(&[duplicate, duplicate]), 409);
    assert_eq!((status(&[]), status(&[rejected]), status(&[duplicate, rejected])), (400, 400, 400));
    // A client that is not sure that all is stored sends all again.
    assert_eq!((status(&[stored, busy]), status(&[stored, busy, closed])), (503, 500));
}
