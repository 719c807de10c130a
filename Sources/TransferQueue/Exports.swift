// The parts of the queue that have names in its interface: who imports the queue has them too.
@_exported public import TransferFolders
@_exported public import TransferJobs
@_exported public import TransferStore
