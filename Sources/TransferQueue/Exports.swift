// The modules whose types appear in the queue's interface, so that importing the queue imports them too.
@_exported public import TransferCore
@_exported public import TransferFolders
@_exported public import TransferJobs
@_exported public import TransferReachability
@_exported public import TransferStore
@_exported public import TransferStoreSQLite
@_exported public import TransferWatch

/// The durable queue, under its public name: `TransferQueue.open(…)`.
public typealias TransferQueue = JobQueue
