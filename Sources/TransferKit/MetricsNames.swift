public import TransferNetworking

/// The metrics of a task, under Foundation's name.
///
/// Foundation's class of that name cannot be created on Linux, and this library never returns one. A file that also
/// imports FoundationNetworking has two types of that name. The compiler then requires a choice, as a monitor for
/// Foundation's type would never be called.
public typealias URLSessionTaskMetrics = TransferTaskMetrics

/// The times and addresses of one request of a task, under Foundation's name.
public typealias URLSessionTaskTransactionMetrics = TransferTransactionMetrics
