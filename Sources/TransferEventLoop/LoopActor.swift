/// An actor that is pinned to a loop.
public protocol LoopActor: Actor {
    nonisolated var loop: EventLoop { get }
}

extension LoopActor {
    /// Runs `work` in the actor, as `assumeIsolated` does, for callbacks that arrive on its loop's thread.
    ///
    /// The loop is asked whose thread this is. The runtime, which `assumeIsolated` asks, finds it out in a roundabout way
    /// that costs more than most callbacks do.
    ///
    /// - Precondition: It's called on the loop's thread.
    @inlinable
    public nonisolated func onLoop<Result: Sendable>(_ work: (isolated Self) throws -> Result) rethrows -> Result {
        loop.preconditionOnLoop()
        // As `assumeIsolated` itself does it (SE-0392): the two types differ only in what the compiler checks.
        return try withoutActuallyEscaping(work) { work in
            try unsafeBitCast(work, to: ((Self) throws -> Result).self)(self)
        }
    }
}
