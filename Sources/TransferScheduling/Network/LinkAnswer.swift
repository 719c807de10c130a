import Glibc
import TransferCore
package import TransferEngine

/// The answer of a link, as the end of an exchange over it shows.
package enum LinkAnswer: Sendable, Hashable {
    /// A host beyond the link answered, with bytes or by refusing the connection.
    case given
    /// No host answered in the available time.
    case none
    case unknown

    package init(_ outcome: ExchangeOutcome) {
        guard case .failure(let error) = outcome.result, outcome.head == nil, outcome.received == 0 else {
            self = .given
            return
        }
        switch (error.code, error.cause) {
        case (.timedOut, _), (_, .curl(Self.timedOut)): self = .none
        case (.cannotConnect, .curl(Self.couldNotConnect)):
            switch outcome.metrics.connectErrno {
            // The kernel of this machine reports that no neighbour answered.
            case EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EHOSTDOWN: self = .none
            case ECONNREFUSED: self = .given
            default: self = .unknown
            }
        case (.connectionLost, _), (.secureConnectionFailed, _), (.certificateRefused, _), (.hostKeyRefused, _),
            (.loginRefused, _), (.tooManyConnections, _):
            self = .given
        default: self = .unknown
        }
    }

    /// The codes of libcurl-errors(3).
    private static let couldNotConnect: Int32 = 7
    private static let timedOut: Int32 = 28
}
