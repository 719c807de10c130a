import TransferCore
import TransferEventLoop

/// The pool, as far as every part may ask something of it.
///
/// A part is a class in the pool's isolation and owns its state. Beside it stands a protocol that refines this one and
/// names what the part needs besides. Each entry of a part is given the host as an isolated parameter, so that calls both
/// ways are plain calls. Answers from other threads come back by ``LoopActor/onLoop(_:)``.
protocol PoolHost: LoopActor {
    /// The exchange under way; `nil` once it has ended.
    func exchange(_ id: ExchangeID) -> ActiveExchange?
    func timer(_ which: PoolTimer) -> LoopTimer
    /// Lets libcurl do at once what it has put off.
    func runTimeouts()
    /// Takes what has ended. To be called after libcurl was told something.
    func drain()
    /// Ends an exchange whatever its state machine wants.
    func giveUp(_ exchange: ActiveExchange, _ error: TransferError)
}
