import Foundation
import FoundationNetworking
import TransferCore

/// What is this machine's own lack of a network, and not a server's.
enum OfflineRule {
    /// Whether `url` leads out of this machine: what it has itself needs no network.
    static func leadsOut(_ url: String) -> Bool {
        guard let host = Origin(url: url)?.host else { return false }
        return host != "localhost" && !host.hasSuffix(".localhost") && IPAddress(host)?.isLoopback != true
    }

    /// Whether an attempt failed because there is no way to the network. The kernel is asked, and for failures only.
    static func isOffline(_ error: TransferError, url: String) -> Bool {
        switch error.code {
        case .cannotConnect, .cannotResolveHost: leadsOut(url) && ConnectivityWatch.isOffline
        default: false
        }
    }
}
