import CTransferPostgres
import Glibc
import Synchronization
import TransferEventLoop

/// The request to a server to give up the statement of a connection that this process gives up (PostgreSQL's manual,
/// PQcancel). Without it, the server would complete the statement for no caller, and hold its locks as long.
///
/// libpq waits for the server's answer, so the requests have a thread of their own. A server that does not answer holds
/// that thread only, and further requests are left out then.
///
/// `@unchecked`: libpq allows any one thread to use the value, and only the thread of the requests does.
final class PostgresCancelRequest: @unchecked Sendable {
    private let raw: OpaquePointer

    private static let pool = WorkerPool(name: "queue-cancel", threads: 1)
    /// The number of requests that have not been answered.
    private static let pending = Mutex(0)
    private static let most = 8

    /// - Returns: `nil` for a connection without a statement under way.
    private init?(_ connection: OpaquePointer) {
        guard PQtransactionStatus(connection) == PQTRANS_ACTIVE, let raw = PQgetCancel(connection) else { return nil }
        self.raw = raw
    }

    deinit { PQfreeCancel(raw) }

    /// Sends a request, without a wait for its effect. The connection must not be used any further: a later statement
    /// could be given up in place of the present one.
    static func send(for connection: OpaquePointer) {
        guard let request = PostgresCancelRequest(connection) else { return }
        let isFree = pending.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        guard isFree else { return }
        pool.execute {
            var words = [CChar](repeating: 0, count: 256)
            // A failure means that the server no longer has the connection, or is away.
            _ = PQcancel(request.raw, &words, Int32(words.count))
            pending.withLock { $0 -= 1 }
        }
    }
}
