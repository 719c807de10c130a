public import TransferNetworking

/// The metrics of a task, under the name that documented programs have for them.
///
/// Foundation's class of that name can't be made on Linux, and nothing of its kind is ever handed out. A file that also
/// imports FoundationNetworking has two types of that name: the compiler asks which one is meant, as a monitor that is
/// written for Foundation's would never be called.
public typealias URLSessionTaskMetrics = TransferTaskMetrics

/// The times and addresses of one request of a task, by the name that ``URLSessionTaskMetrics`` has them under.
public typealias URLSessionTaskTransactionMetrics = TransferTransactionMetrics
