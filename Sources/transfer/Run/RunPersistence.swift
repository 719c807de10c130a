import TransferQueue

/// The fate of a run's jobs after the run. Every promise in a message must hold then.
enum RunPersistence: Sendable, Hashable {
    /// The run watches until it is stopped, and retries failed files.
    case watches
    /// The run ends automatically; the next run continues with the rest.
    case isRemembered
    /// The run ends automatically, and its queue with it.
    case isForgotten

    /// Returns the event without promises that this run will not fulfil: an automatic retry.
    func reported(_ event: QueueEvent) -> QueueEvent {
        guard self != .watches, case .failed(var failure) = event.kind, failure.again != nil else { return event }
        failure.again = nil
        var event = event
        event.kind = .failed(failure)
        return event
    }
}
