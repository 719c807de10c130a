/// The queue's memory: what a run asks of it, in the queue's own words and in batches.
///
/// All functions block and are called by one worker at a time. Each is one transaction: what it did is there, or nothing
/// is. What a process has claimed it holds by its ``Lease``: as soon as another one may have taken it over, every function
/// that changes jobs throws ``LeaseLost`` and changes nothing, so that no job is recorded by two. No function needs what
/// only the process knows that asks, so that a store may be a server.
package protocol JobStore: LeaseStore, BatchStore, ClaimStore, RecordStore, SteeringStore, EndStore {}
