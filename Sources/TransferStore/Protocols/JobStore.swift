/// The stored state of a queue: the questions and changes of a run, in the queue's terms and many jobs at a time.
///
/// All functions block and are called by one worker at a time. Each is one transaction: it takes effect as a whole or
/// not at all. A process holds its claims by its ``Lease``. As soon as another process may have taken them over, every
/// function that changes jobs throws ``LeaseLost`` and changes nothing. So no job is recorded by two processes. No
/// function depends on facts that only the calling process knows, so that a store may be a server.
package protocol JobStore: LeaseStore, BatchStore, ClaimStore, RecordStore, SteeringStore, EndStore {}
