// The requests, and the types of Foundation, FoundationNetworking and Dispatch that programs for Alamofire use without an
// import. TransferNetworking has a namespace of this module's name, by which `Alamofire.Session` is found.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking
@_exported public import TransferCore
@_exported public import TransferCrypto
@_exported public import TransferNetworking
@_exported public import TransferReachability

/// The metrics of a task, under Foundation's name.
///
/// Foundation's class of that name cannot be created on Linux, and this library never returns one. A file that also
/// imports FoundationNetworking has two types of that name, and the compiler requires a choice.
public typealias URLSessionTaskMetrics = TransferTaskMetrics

/// The times and addresses of one request of a task, under Foundation's name.
public typealias URLSessionTaskTransactionMetrics = TransferTransactionMetrics
