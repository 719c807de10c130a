/// An actor that is pinned to a loop.
public protocol LoopActor: Actor {
    /// The loop on whose thread the actor runs.
    nonisolated var loop: EventLoop { get }
}

extension LoopActor {
    /// Runs `work` in the actor, like `assumeIsolated`, for callbacks that arrive on the loop's thread.
    ///
    /// The loop itself checks the thread. The runtime's check, which `assumeIsolated` uses, costs more than most
    /// callbacks.
    ///
    /// - Precondition: The function is called on the loop's thread.
    @inlinable
    public nonisolated func onLoop<Result: Sendable>(_ work: (isolated Self) throws -> Result) rethrows -> Result {
        loop.preconditionOnLoop()
        // The cast is the one of `assumeIsolated` (SE-0392): the two types differ only in the compiler's checks.
        return try withoutActuallyEscaping(work) { work in
            try unsafeBitCast(work, to: ((Self) throws -> Result).self)(self)
        }
    }
}
