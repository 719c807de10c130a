// The single import for programs: requests, the queue, and the types of Foundation, FoundationNetworking and Dispatch
// that programs for Alamofire use without an import.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking
@_exported public import TransferCore
@_exported public import TransferCrypto
@_exported public import TransferNetworking
@_exported public import TransferQueue
@_exported public import TransferReachability
@_exported public import TransferWatch
