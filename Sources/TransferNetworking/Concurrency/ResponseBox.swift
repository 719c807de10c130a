import Synchronization

/// A response that will come, for any number of those who await it.
final class ResponseBox<Response: Sendable>: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Response, Never>])
        case here(Response)
    }

    private let state = Mutex(State.awaited([]))

    func fill(_ response: Response) {
        let waiting = state.withLock { state -> [CheckedContinuation<Response, Never>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .here(response)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: response) }
    }

    var response: Response {
        get async {
            if let known { return known }
            return await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Response? in
                    switch state {
                    case .here(let response): return response
                    case .awaited(let waiting):
                        state = .awaited(waiting + [continuation])
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    private var known: Response? {
        state.withLock { state in
            if case .here(let response) = state { return response }
            return nil
        }
    }
}
