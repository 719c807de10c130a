import CTransferCurl
import TransferCore

/// The TLS sessions of a pool, for handles that do one transfer each.
///
/// A pool has one set of rules for servers, so no ticket gets from one set to another. It belongs to one thread, so no
/// lock is needed. Every handle that uses the share retains it: it is freed after the last of them.
final class TLSSessionShare {
    let raw: UnsafeMutableRawPointer

    /// Creates a share.
    ///
    /// - Throws: `TransferError` when libcurl has no memory for it.
    init() throws(TransferError) {
        guard let raw = transfer_share_sessions() else {
            throw TransferError(.internalFault, "libcurl has no memory for TLS sessions")
        }
        self.raw = raw
    }

    deinit { curl_share_cleanup(raw) }
}
