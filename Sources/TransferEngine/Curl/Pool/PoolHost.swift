import TransferCore
import TransferEventLoop

/// The part of the pool that every part of it may use.
///
/// A part is a class in the pool's isolation and owns its state. A protocol beside it refines this one and names what
/// else the part needs. Each method of a part takes the host as an isolated parameter, so that calls both ways are
/// plain calls. Answers from other threads return by ``LoopActor/onLoop(_:)``.
protocol PoolHost: LoopActor {
    /// Returns the exchange under way, or `nil` once it has ended.
    func exchange(_ id: ExchangeID) -> ActiveExchange?
    func timer(_ which: PoolTimer) -> LoopTimer
    /// Lets libcurl carry out at once what it has postponed.
    func runTimeouts()
    /// Handles the transfers that have ended. It must be called after each call of libcurl that may end one.
    func drain()
    /// Ends an exchange regardless of the state of its state machine.
    func giveUp(_ exchange: ActiveExchange, _ error: TransferError)
}
