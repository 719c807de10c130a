import TransferCore
import TransferEngine

/// Commands to whoever carries an attempt: the network's engine, or a `URLProtocol` of the program's.
protocol ExchangeCommands: Sendable {
    func cancel(_ error: TransferError)
    func suspend()
    func resume()
    /// The body is taken again.
    func proceed()
    func decide(_ decision: RedirectDecision)
}

extension ExchangeCommands {
    func cancel() { cancel(TransferError(.cancelled, "cancelled")) }
}

extension ExchangeHandle: ExchangeCommands {}
