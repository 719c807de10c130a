import Dispatch
import FoundationNetworking
import TransferCore
import TransferEngine

extension Request {
    /// Does it now, or when there is a way to the network, where the session waits for that.
    ///
    /// - Parameter transfer: What is to go over it.
    func whenConnected(_ transfer: Transfer, _ proceed: @escaping @Sendable () -> Void) {
        guard session.settings.waitsForConnectivity, OfflineRule.leadsOut(transfer.exchange.url),
            ConnectivityWatch.isOffline
        else { return proceed() }
        if let record = read({ $0.lastAttempt }) {
            emit(record) { $0.urlSession($1, taskIsWaitingForConnectivity: $2) }
        }
        let timeout = session.settings.resourceTimeout
        let limit = timeout > 0 ? timeout : 7 * 24 * 3600
        // Without one in time it's tried all the same, and fails as it would have.
        session.connectivity.whenReachable(within: limit, on: session.rootQueue) { _ in proceed() }
    }
}
