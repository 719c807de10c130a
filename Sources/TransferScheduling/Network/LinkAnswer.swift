import Glibc
import TransferCore
package import TransferEngine

/// The answer of a link, as the end of an exchange over it shows it.
package enum LinkAnswer: Sendable, Hashable {
    /// Somebody beyond it answered: with bytes, or by refusing the connection.
    case given
    /// Nobody did, in the time there was.
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
            // The neighbours' silence, told by this machine's own kernel.
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

    /// libcurl-errors(3).
    private static let couldNotConnect: Int32 = 7
    private static let timedOut: Int32 = 28
}
