import Dispatch
import FoundationNetworking
import TransferCore
import TransferEngine

extension Request {
    /// Calls `proceed` at once, or, where the session waits for connectivity, as soon as there is a route to the
    /// network.
    ///
    /// - Parameter transfer: The attempt that needs the network.
    func whenConnected(_ transfer: Transfer, _ proceed: @escaping @Sendable () -> Void) {
        guard session.settings.waitsForConnectivity, OfflineRule.leadsOut(transfer.exchange.url),
            ConnectivityWatch.isOffline
        else { return proceed() }
        if let record = read({ $0.lastAttempt }) {
            emit(record) { $0.urlSession($1, taskIsWaitingForConnectivity: $2) }
        }
        let timeout = session.settings.resourceTimeout
        let limit = timeout > 0 ? timeout : 7 * 24 * 3600
        // The attempt is made even after the limit, and fails as it would have without waiting.
        session.connectivity.whenReachable(within: limit, on: session.rootQueue) { _ in proceed() }
    }
}
