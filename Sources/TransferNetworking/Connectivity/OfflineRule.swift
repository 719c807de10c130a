import Foundation
import FoundationNetworking
import TransferCore

/// The rule that distinguishes this machine's lack of a network from a server's failure.
enum OfflineRule {
    /// Whether `url` leads out of this machine; its own addresses need no network.
    static func leadsOut(_ url: String) -> Bool {
        guard let host = Origin(url: url)?.host else { return false }
        return host != "localhost" && !host.hasSuffix(".localhost") && IPAddress(host)?.isLoopback != true
    }

    /// Whether an attempt failed because there is no route to the network. The kernel is asked for failures only.
    static func isOffline(_ error: TransferError, url: String) -> Bool {
        switch error.code {
        case .cannotConnect, .cannotResolveHost: leadsOut(url) && ConnectivityWatch.isOffline
        default: false
        }
    }
}
