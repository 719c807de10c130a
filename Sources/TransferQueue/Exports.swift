// The parts of the queue that have names in its interface: who imports the queue has them too.
@_exported public import TransferCore
@_exported public import TransferFolders
@_exported public import TransferJobs
@_exported public import TransferReachability
@_exported public import TransferStore
@_exported public import TransferStoreSQLite
@_exported public import TransferWatch

/// The durable queue, under the name that programs know: `TransferQueue.open(…)`.
public typealias TransferQueue = JobQueue
