import TransferCore
import TransferEngine

/// The commands to the carrier of an attempt: the engine, or a `URLProtocol` of the program.
protocol ExchangeCommands: Sendable {
    func cancel(_ error: TransferError)
    func suspend()
    func resume()
    /// Resumes the delivery of the body, after the gate has opened.
    func proceed()
    func decide(_ decision: RedirectDecision)
}

extension ExchangeCommands {
    func cancel() { cancel(TransferError(.cancelled, "cancelled")) }
}

extension ExchangeHandle: ExchangeCommands {}
