public import TransferCore

/// The identity of an exchange within one engine.
public struct ExchangeID: Sendable, Hashable {
    let number: UInt64

    package init(number: UInt64) { self.number = number }
}

/// A command to an exchange under way.
package enum ExchangeCommand: Sendable {
    case cancel(TransferError)
    case suspend
    case resume
    case proceed
    case rateChanged
    case decide(RedirectDecision)
    case interrupt(TransferError, where: @Sendable (ConnectionFacts) -> Bool)
}

/// The carrier of exchanges under way.
package protocol ExchangeCarrier: AnyObject, Sendable {
    /// Carries out a command; without effect once the exchange has ended. Any thread may call it.
    func carryOut(_ command: ExchangeCommand, of id: ExchangeID)
    /// The processor time in seconds of the thread that carries the exchanges.
    var workedTime: Double { get }
}

/// The commands to an exchange under way; without effect once it has ended.
public struct ExchangeHandle: Sendable {
    /// The identity of the exchange.
    public let id: ExchangeID
    private let carrier: (any ExchangeCarrier)?

    /// Creates a handle.
    ///
    /// - Parameter carrier: The carrier of the exchange; `nil` for an exchange that never began.
    package init(id: ExchangeID, carrier: (any ExchangeCarrier)?) {
        self.id = id
        self.carrier = carrier
    }

    /// The processor time in seconds of the thread that carries the exchange, for all its exchanges.
    public var workedTime: Double { carrier?.workedTime ?? 0 }

    /// Ends the exchange with `error`. Its written bytes stay and can be continued.
    public func cancel(_ error: TransferError = TransferError(.cancelled, "cancelled")) {
        carrier?.carryOut(.cancel(error), of: id)
    }

    /// Suspends reading and sending; the connection stays.
    public func suspend() { carrier?.carryOut(.suspend, of: id) }

    /// Notifies the exchange that its sink may be ready again, so that it resumes.
    public func proceed() { carrier?.carryOut(.proceed, of: id) }

    /// Notifies the exchange that a bound on its rate has changed (``RateLimiter/setRate(_:now:)``), so that its pause
    /// ends.
    public func rateChanged() { carrier?.carryOut(.rateChanged, of: id) }

    /// Answers ``ExchangeEvent/redirected(_:)`` once; later answers have no effect.
    public func decide(_ decision: RedirectDecision) {
        carrier?.carryOut(.decide(decision), of: id)
    }

    /// Resumes reading and sending after ``suspend()``.
    public func resume() { carrier?.carryOut(.resume, of: id) }

    /// Ends the exchange with `error` if `isMeant` returns `true` for its connection. Its written bytes stay and can be
    /// continued.
    ///
    /// The closure `isMeant` is called on the exchange's loop.
    public func interrupt(_ error: TransferError, where isMeant: @escaping @Sendable (ConnectionFacts) -> Bool) {
        carrier?.carryOut(.interrupt(error, where: isMeant), of: id)
    }
}
