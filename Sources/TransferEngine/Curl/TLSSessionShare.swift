import CTransferCurl
import TransferCore

/// The TLS sessions of a pool, for handles that do one transfer each.
///
/// A pool has one set of rules for servers, so that no ticket gets from one set to another; and it is one thread's, so
/// that nothing has to be locked. Every handle that uses the share keeps it: it's freed after the last of them.
final class TLSSessionShare {
    let raw: UnsafeMutableRawPointer

    /// - Throws: `TransferError` when libcurl has no memory for it.
    init() throws(TransferError) {
        guard let raw = transfer_share_sessions() else {
            throw TransferError(.internalFault, "libcurl has no memory for TLS sessions")
        }
        self.raw = raw
    }

    deinit { curl_share_cleanup(raw) }
}
