import TransferQueue

/// What becomes of a run's jobs once it's over. All that it tells of later has to hold then.
enum RunPersistence: Sendable, Hashable {
    /// It watches until it's stopped, and comes back to files that failed.
    case watches
    /// It ends by itself; the next run goes on with what is left.
    case isRemembered
    /// It ends by itself, and its queue with it.
    case isForgotten

    /// The event without what this run won't do: to try again by itself.
    func reported(_ event: QueueEvent) -> QueueEvent {
        guard self != .watches, case .failed(var failure) = event.kind, failure.again != nil else { return event }
        failure.again = nil
        var event = event
        event.kind = .failed(failure)
        return event
    }
}
